"""Recipes of one kind given to the command for another are refused, and nothing is begun."""

from __future__ import annotations

from pathlib import Path

import pytest

FILES = {
    "training": '[model]\nkind = "one-layer"\n[training]\nepochs = 2\n',
    "search": '[model]\nkind = "one-layer"\n[search]\nkind = "darts"\n',
    "tuning": 'trials = 3\n[method]\nkind = "tpe"\n[tune.model]\nhidden = [3]\n',
    "study": 'trials = 3\n[space]\nkind = "enas"\n[method]\nkind = "random"\n',
}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = 1\nb = ?", "mine.toml is not TOML: Invalid value (at line 2, column 5)"),
        ('extends = "gone.toml"', "mine.toml: extends: there is no recipe"),
        ('extends = "laptop"', "mine.toml: extends: 'laptop' is a recipe for a training"),
        ("extends = 5", "mine.toml: extends should name a recipe, not 5"),
        ('extends = "mine.toml"', "mine.toml extends itself"),
        (None, "there is no recipe"),
    ],
)
def test_what_is_wrong_with_a_file_comes_before_its_kind(run, folder: Path, text, says: str):
    if text is not None:
        (folder / "mine.toml").write_text(text)
    outcome = run("search", "mine.toml", "--trials", "3")
    assert outcome.code == 1
    assert says in outcome.err


@pytest.mark.parametrize(
    ("command", "wanted", "says"),
    [
        ("search", "laptop", "'laptop' is a recipe for a training"),
        ("search", "training.toml", "is a recipe for a training (cellwright train CELL"),
        ("search", "longer.toml", "longer.toml is a recipe for a training (cellwright train CELL"),
        ("search", "tune-laptop", "'tune-laptop' is a recipe for tuning (cellwright tune tune-la"),
        ("search", "tuning.toml", "is a recipe for tuning (cellwright tune tuning.toml), not for"),
        ("tune", "laptop", "'laptop' is a recipe for a training (cellwright train CELL --recipe"),
        ("tune", "study.toml", "is a recipe for a study (cellwright search study.toml), not for"),
        ("train", "ess-ptb", "'ess-ptb' is a recipe for a one-shot search (cellwright search ess"),
        ("train", "fenas-ptb", "did you mean 'fenas-ptb-training'?"),
        ("train", "search.toml", "is a recipe for a one-shot search (cellwright search search.t"),
        ("train", "study.toml", "is a recipe for a study (cellwright search study.toml), not for"),
        ("compare", "ess-ptb", "'ess-ptb' is a recipe for a one-shot search"),
        ("bench build", "study.toml", "is a recipe for a study"),
    ],
)
def test_recipes_of_another_kind(run, folder: Path, command: str, wanted: str, says: str):
    for name, text in FILES.items():
        (folder / f"{name}.toml").write_text(text)
    (folder / "longer.toml").write_text('extends = "training.toml"\n')
    before = sorted(folder.iterdir())
    arguments = {
        "search": ["search", wanted],
        "tune": ["tune", wanted],
        "train": ["train", "gru", "--recipe", wanted],
        "compare": ["compare", "gru", "--recipe", wanted, "-o", "compared"],
        "bench build": ["bench", "build", "--recipe", wanted, "-o", "mine.bench"],
    }[command]
    outcome = run(*arguments)
    assert outcome.code != 0
    assert "is a recipe for " in outcome.err
    assert says in outcome.err
    assert outcome.err.strip().count("\n") == 0
    assert sorted(folder.iterdir()) == before
