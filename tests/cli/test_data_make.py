"""`data make` says what it did, on any terminal, and what it made can be trained on."""

from __future__ import annotations

import json
import re
import shlex
import signal
from pathlib import Path

import pytest

from cli.conftest import SHORT
from cli.terminal import Terminal


@pytest.fixture
def texts(folder: Path) -> Path:
    path = folder / "texts"
    path.mkdir()
    for number in range(25):
        lines = [f"The {word}, and number {number}." for word in ("cat", "dog", "bird") * 4]
        (path / f"{number}.txt").write_text("\n".join(lines) + "\n")
    (path / "copy.txt").write_text((path / "1.txt").read_text())
    (path / "picture.txt").write_bytes(b"\0\1\2")
    (path / "page.html").write_text("<p>")
    return path


def test_the_report(run, texts: Path):
    outcome = run("data", "make", "texts", "-o", "out", "--lower", "--numbers")
    assert outcome.code == 0
    assert re.search(r"^out: made in ", outcome.out)
    assert re.search(r"^train +\d+ +[\d,]+ +0\.0%$", outcome.out, re.MULTILINE)
    assert "25 files, split by file" in outcome.out
    assert "1 binary, 1 other ending, 1 same as another" in outcome.out
    assert "11, with <unk> and <eos>, of train's 9 words" in outcome.out
    assert re.search(r"^frequent +,  \.  N  and  number  the", outcome.out, re.MULTILINE)
    assert "note: there is little text in valid, test" in outcome.out


def test_numbers_for_programs(run, texts: Path):
    told = json.loads(run("data", "make", "texts", "-o", "out", "--json").out)
    kept = json.loads(Path("out/corpus.json").read_text("utf-8"))
    assert {key: told[key] for key in kept} == kept
    assert (told["where"], told["split"], told["files"]["read"]) == ("out", "files", 25)
    assert [part["files"] for part in told["parts"].values()] == [19, 3, 3]
    assert told["seconds"] >= 0


@pytest.mark.parametrize("width", [40, 80])
def test_it_fits_a_terminal(run, texts: Path, width: int):
    out = run("data", "make", "texts", "-o", "out", width=width).out
    shown = [line for line in out.splitlines() if not line.startswith("next")]
    assert max(map(len, shown)) <= width
    assert "…" not in out


def test_the_next_command_trains_on_it(run, texts: Path):
    import torch

    made = json.loads(run("data", "make", "texts", "--out=my texts", "--json").out)
    [train] = [line for line in made["next"] if " train " in line]
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # so little work is slower on more
    outcome = run(*shlex.split(train)[1:], *SHORT, "--set", "training.epochs=1")
    torch.set_num_threads(before)
    assert outcome.code == 0, outcome.err
    assert "finished" in outcome.out


@pytest.mark.parametrize("name", ["ptb", "-o"])
def test_the_next_command_means_the_folder(run, texts: Path, name: str):
    made = json.loads(run("data", "make", "texts", f"--out={name}", "--json").out)
    assert made["next"][0].endswith(f"--data ./{name}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing", "-o", "out"], "nothing: no such file or folder"),
        (["texts", "-o", "texts"], "texts is the text itself"),
        (["texts", "-o", "."], ". has the text in it"),
        (["texts", "-o", "out", "--tokens", "letters"], "tokens is 'letters'"),
        (["texts", "-o", "out", "--valid", "0.9", "--test", "0.2"], "nothing is left for train"),
        (["texts", "-o", "out", "--vocabulary", "0"], "a vocabulary of 0"),
        (["texts", "-o", "out", "--files", "*.doc"], "no text in it"),
    ],
)
def test_errors_are_a_line(run, texts: Path, arguments: list[str], message: str):
    outcome = run("data", "make", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    [line] = outcome.err.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert not Path("out").exists()


def test_a_stop_leaves_nothing_and_says_so(folder: Path):
    (folder / "large.txt").write_text("some words of a text that takes a moment\n" * 400_000)
    with Terminal("data", "make", "large.txt", "-o", "out", columns=60) as terminal:
        terminal.read_until(r"cutting")
        terminal.send(signal.SIGTERM)
        terminal.read_until(r"interrupted; nothing was written")
        assert terminal.exit_code() == 143
    assert [path.name for path in folder.iterdir()] == ["large.txt"]
