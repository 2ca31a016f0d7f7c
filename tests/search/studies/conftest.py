"""Studies that take a moment: a small text, narrow children."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright.search.studies.recipes import StudyRecipe, load_study_recipe
from cellwright.trials.store import open_store
from runs.support import SETTINGS, write_corpus

CHILD = [
    setting if setting.startswith("task.") else f"child.{setting}"
    for setting in SETTINGS
    if "epochs" not in setting
]


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A packaged recipe on a tiny text; the working directory is empty."""
    monkeypatch.chdir(tmp_path)
    corpus = write_corpus(tmp_path / "text")

    def recipe(name: str, *settings: str) -> StudyRecipe:
        text = [f"text.{part}=none" for part in ("train", "valid", "test")]
        return load_study_recipe(name, [f"task.data={corpus}", *CHILD, *text, *settings])

    return recipe


@pytest.fixture
def store(tmp_path: Path):
    with open_store(tmp_path / "studies.db") as store:
        yield store
