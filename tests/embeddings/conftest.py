"""What several tests of embeddings need."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of its own for each test."""
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def flair_dictionary(monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[str]], object]:
    """Makes objects like Flair's, of a class with the name of Flair's."""
    module = types.ModuleType("flair.data")
    kind = type("Dictionary", (), {"__module__": "flair.data"})
    module.Dictionary = kind  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "flair", types.ModuleType("flair"))
    monkeypatch.setitem(sys.modules, "flair.data", module)

    def make(characters: Sequence[str]) -> object:
        made = kind()
        made.idx2item = [character.encode() for character in characters]
        made.item2idx = {item: number for number, item in enumerate(made.idx2item)}
        made.multi_label = False
        return made

    return make
