"""`cellwright encoders`: what is printed, and what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tiny_models import tiny_run
from tiny_suite import tiny_suite

SHORT = ("--suite", "s.toml", "--no-baselines", "--executor", "in-process")


@pytest.fixture
def model(folder: Path) -> str:
    """A language model, and a suite in the working directory."""
    tiny_suite(folder)
    tiny_run(folder / "lm").rename("words")
    return "words"


def test_both_tables_are_printed(run, model: str):
    done = run("encoders", model, *SHORT, "--tasks", "pairs", "--set", "training.epochs=1")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    first = lines.index("over all models")
    assert lines[first + 1].split() == ["measure", "mean", "std", "min", "median", "max"]
    assert lines[first + 2].startswith("pairs accuracy")
    second = lines.index("each model")
    assert lines[second + 2].split()[:3] == ["words", "gru", "text"]
    assert "report: encoders/index.html" in lines
    document = json.loads(Path("encoders/results.json").read_text())
    assert [one["label"] for one in document["encoders"]] == ["words"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere",), "nowhere"),
        (("words", "--tasks", "whom"), "no task 'whom'; did you mean 'who'?"),
        (("words", "--suite", "glu"), "unknown suite 'glu'"),
        (("words", "--set", "model.kind=blm"), "is no recipe for frozen encoders"),
        (("words", "--set", "model.width=3"), "model.width"),
        (("words", "-o", "s.toml"), "s.toml is a file"),
        (("words", "--suite", "glue", "--tasks", "mrpc"), "mrpc is not on this machine"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(run, model: str, monkeypatch, arguments, words: str):
    monkeypatch.setenv("CELLWRIGHT_DATA", "none")
    monkeypatch.setenv("CELLWRIGHT_CACHE", "cache")
    done = run("encoders", *SHORT, *arguments)
    assert done.code != 0
    assert words in " ".join(done.err.split())
    assert not Path("encoders").exists()
