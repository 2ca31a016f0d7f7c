"""A submission has the form that GLUE takes: names, headers, label words, counts."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.data.errors import DataError
from cellwright.data.labelled import LABELLED
from cellwright.runs.glue_submission import FILES, GlueSubmission, zipped
from tiny_sentences import films, train_on

DATA = os.environ.get("CELLWRIGHT_DATA")
REAL = Path(DATA or "", "glue")
NAMES = ["AX", "CoLA", "MNLI-m", "MNLI-mm", "MRPC", "QNLI", "QQP", "RTE", "SST-2", "STS-B", "WNLI"]
COUNTS = {
    "AX": 1_104, "CoLA": 1_063, "MNLI-m": 9_796, "MNLI-mm": 9_847, "MRPC": 1_725, "QNLI": 5_463,
    "QQP": 390_965, "RTE": 3_000, "SST-2": 1_821, "STS-B": 1_379, "WNLI": 146,
}  # fmt: skip


def tables(path: Path) -> dict[str, list[list[str]]]:
    """The rows of each table."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        found = {}
        for name in archive.namelist():
            text = archive.read(name).decode()
            assert text.endswith("\n")
            found[name] = [line.split("\t") for line in text.split("\n")[:-1]]
        return found


def check_form(found: dict[str, list[list[str]]]) -> None:
    for name, (header, *rows) in found.items():
        called = name.removesuffix(".tsv")
        known = LABELLED[FILES[called]]
        assert header == ["index", "prediction"]
        assert [row[0] for row in rows] == [str(n) for n in range(COUNTS[called])]
        if known.labels:
            assert {row[1] for row in rows} <= {*known.labels}
        else:
            assert all(0 <= float(row[1]) <= 5 for row in rows)
            assert all(row[1] == f"{float(row[1]):.3f}" for row in rows)


def put(folder: Path, name: str, header: str, row: str, many: int) -> None:
    """A table, with ` | ` for tabs; rows have words and labels by turns."""
    folder.mkdir(parents=True, exist_ok=True)
    three = ("neutral", "entailment", "contradiction")
    rows = (row.format(n=n, word=f"w{n % 7}", two=n % 2, three=three[n % 3]) for n in range(many))
    text = "\n".join([header, *rows] if header else rows)
    (folder / name).write_text(text.replace(" | ", "\t"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Files of the official forms, with as many rows as the test files have, and runs on them."""
    root: Path = tmp_path_factory.mktemp("glue")
    glue, pair = root / "data" / "glue", "sentence1 | sentence2"
    for part in ("train", "dev"):
        put(glue / "CoLA", f"{part}.tsv", "", "gj04 | {two} | * | a {word}", 30)
        put(glue / "STS-B", f"{part}.tsv", f"{pair} | score", "{word} | b | {two}.{n}", 30)
    for name in ("train.tsv", "dev_matched.tsv"):
        put(glue / "MNLI", name, f"n | {pair} | gold_label", "1 | {word} | b | {three}", 30)
    put(glue / "CoLA", "test.tsv", "index | sentence", "{n} | a {word}", COUNTS["CoLA"])
    for folder, name, called in (
        ("STS-B", "test.tsv", "STS-B"),
        ("MNLI", "test_matched.tsv", "MNLI-m"),
        ("diagnostic", "diagnostic.tsv", "AX"),
    ):
        put(glue / folder, name, f"index | {pair}", "{n} | a | {word}", COUNTS[called])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CELLWRIGHT_DATA", str(root / "data"))
        for name in ("cola", "sts-b", "mnli"):
            train_on(name, root / "runs", name)
        train_on("cola", root / "runs", "cola-2")
        yield root


def submit(made: Path, out: Path, *runs: str) -> GlueSubmission:
    return cw.glue_submission(runs, out, folder=made / "runs", progress=False)


def test_the_official_names() -> None:
    assert sorted(FILES) == NAMES
    assert {called: LABELLED[name].rows[LABELLED[name].hidden[called]]
            for called, name in FILES.items()} == COUNTS  # fmt: skip


def test_what_is_in_it_and_what_is_not(made: Path, tmp_path: Path) -> None:
    found = submit(made, tmp_path / "s.zip", "sts-b", "mnli", "cola")
    assert found.rows == {"AX": 1_104, "CoLA": 1_063, "MNLI-m": 9_796, "STS-B": 1_379}
    assert found.runs["AX"] == found.runs["MNLI-m"] == made / "runs" / "mnli"
    assert sorted({**found.rows, **found.missing}) == NAMES
    assert found.missing["MNLI-mm"] == "the test file test_mismatched.tsv is not here"
    assert found.missing["QQP"] == "no run has learned qqp"
    inside = tables(tmp_path / "s.zip")
    assert list(inside) == ["AX.tsv", "CoLA.tsv", "MNLI-m.tsv", "STS-B.tsv"]
    check_form(inside)
    said = cw.predict("mnli", [("a", f"w{n}") for n in range(7)], runs=made / "runs")
    assert [row[1] for row in inside["AX.tsv"][1:8]] == [one.label for one in said]


def test_the_bytes_are_those_of_the_predictions(made: Path, tmp_path: Path) -> None:
    first = submit(made, tmp_path / "a.zip", "cola", "sts-b")
    second = submit(made, tmp_path / "b.zip", "sts-b", "cola")
    assert first.path.read_bytes() == second.path.read_bytes()
    assert zipped({"a.tsv": "x"}) == zipped({"a.tsv": "x"}) != zipped({"a.tsv": "y"})
    with zipfile.ZipFile(first.path) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_what_is_refused(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "s.zip"
    with pytest.raises(UserError, match=r"cola and .*cola-2 have both learned cola; give one"):
        submit(made, out, "cola", "sts-b", "cola-2")
    train_on(films(tmp_path / "films"), tmp_path / "runs", "films")
    with pytest.raises(UserError, match=r"has learned .*films \(sentences\); a submission to GLUE"):
        submit(made, out, "cola", str(tmp_path / "runs" / "films"))
    with pytest.raises(UserError, match="there is no run nobody"):
        submit(made, out, "nobody")
    short = tmp_path / "data" / "glue" / "CoLA"
    put(short, "test.tsv", "index | sentence", "{n} | a {word}", 1_000)
    monkeypatch.setenv("CELLWRIGHT_DATA", str(tmp_path / "data"))
    with pytest.raises(DataError, match=r"has 1,000 rows, and GLUE's file for CoLA 1,063"):
        submit(made, out, "cola")
    monkeypatch.setenv("CELLWRIGHT_DATA", str(tmp_path / "none"))
    with pytest.raises(UserError, match="there is no test file for cola, sts-b on this machine"):
        submit(made, out, "cola", "sts-b")
    assert not out.exists()


@pytest.mark.skipif(not REAL.is_dir(), reason="needs glue in CELLWRIGHT_DATA")
def test_the_form_is_that_of_a_real_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLWRIGHT_DATA", str(DATA))
    names = ("cola", "sts-b", "mrpc", "rte", "wnli", "qnli", "mnli")
    for name in names:
        train_on(name, tmp_path / "runs", name, batch=256, longest=8, most_words=500,
                 parts="dev-alone")  # fmt: skip
    found = cw.glue_submission(names, tmp_path / "s.zip", folder=tmp_path / "runs", progress=False)
    assert [*found.missing] == ["MNLI-m", "MNLI-mm", "QQP", "SST-2"]
    inside = tables(tmp_path / "s.zip")
    check_form(inside)
    for name, (header, *rows) in inside.items():
        sample = [
            line.split("\t")
            for line in (REAL / "submission-sample" / name).read_text().splitlines()
        ]
        assert header == sample[0]
        if name != "QNLI.tsv":  # whose sample is for the first version
            assert [row[0] for row in rows] == [row[0] for row in sample[1:]]
        if name != "STS-B.tsv":
            labels = LABELLED[FILES[name.removesuffix(".tsv")]].labels
            assert {row[1] for row in sample[1:]} <= {*labels}
        else:
            assert {len(row[1]) for row in rows} == {len(row[1]) for row in sample[1:]}
