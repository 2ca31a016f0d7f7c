"""Any word of a file of vectors, found as in a list of words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cellwright.embeddings import EmbeddingError
from cellwright.embeddings import all_vectors as module
from cellwright.embeddings.all_vectors import AllVectors
from cellwright.embeddings.vectors import word_vectors

ROWS = "the 1 2\nOslo 3 4\n19## 5 6\n0000 7 8\nthe 9 9\nbad 1 x\nworse nan 1\n"
WORDS = ["The", "oslo", "Oslo", "1996", "7777", "1999", "none", "", "\ud800", "the", "12"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "vectors.txt"
    path.write_text(ROWS)
    return path


def test_words_are_found_as_in_a_list(file: Path) -> None:
    vectors = AllVectors(file)
    found = vectors.of(WORDS)
    assert np.array_equal(found, word_vectors(file, WORDS).matrix)
    assert found[0].tolist() == [1, 2]  # of two rows the first
    assert (len(vectors), vectors.size, vectors.of([]).shape) == (6, 2, (0, 2))


def test_it_is_read_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    AllVectors(file)
    monkeypatch.setattr(module, "open_vectors", None)
    assert AllVectors(file).of(["Oslo"]).tolist() == [[3, 4]]


def test_bad_numbers_are_told_to_whoever_needs_them(file: Path) -> None:
    vectors = AllVectors(file)
    for word in ("bad", "worse"):
        with pytest.raises(EmbeddingError, match=f"what it has for '{word}' are no numbers"):
            vectors.of(["the", word])
