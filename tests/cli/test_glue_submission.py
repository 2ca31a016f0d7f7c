"""`cellwright glue-submission`: what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiny_sentences import train_on


@pytest.fixture
def wnli(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run on files of WNLI's form, in the working directory."""
    place = folder / "data" / "glue" / "WNLI"
    place.mkdir(parents=True)
    columns = "index\tsentence1\tsentence2"
    for name, many in (("train.tsv", 20), ("dev.tsv", 4)):
        rows = (f"{n}\ta {n}\tb\t{n % 2}\n" for n in range(many))
        (place / name).write_text(f"{columns}\tlabel\n" + "".join(rows))
    rows = (f"{n}\ta\tb {n}\n" for n in range(146))
    (place / "test.tsv").write_text(f"{columns}\n" + "".join(rows))
    monkeypatch.setenv("CELLWRIGHT_DATA", str(folder / "data"))
    train_on("wnli", folder / "runs", "wnli")
    return place


def test_what_is_printed(run, wnli: Path) -> None:
    done = run("glue-submission", "wnli")
    assert done.code == 0, done.err
    assert done.out.splitlines()[1].split() == ["WNLI.tsv", "146", "runs/wnli"]
    assert done.out.splitlines()[-1] == "submission.zip"
    lines = done.err.splitlines()
    assert lines[0] == "a whole submission has eleven files; this one is without:"
    assert lines[1:3] == [
        "  AX.tsv: no run has learned mnli",
        "  CoLA.tsv: no run has learned cola",
    ]
    assert len(lines) == 11
    assert Path("submission.zip").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument"),
        (["wnli", "wnli"], "runs/wnli and runs/wnli have both learned wnli; give one"),
        (["nobody"], "there is no run nobody"),
        (["wnli", "-o", "no/such.zip"], "there is no folder no"),
    ],
)
def test_errors_are_a_line(run, wnli: Path, arguments: list[str], message: str) -> None:
    done = run("glue-submission", *arguments)
    assert done.code != 0
    assert done.out == ""
    assert message in done.err.splitlines()[0]


def test_a_test_file_with_other_columns(run, wnli: Path) -> None:
    (wnli / "test.tsv").write_text("index\tfirst\tsecond\n0\ta\tb\n")
    done = run("glue-submission", "wnli")
    assert "test.tsv: line 1 names no column with a sentence" in done.err
    assert not Path("submission.zip").exists()
