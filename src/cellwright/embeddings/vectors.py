"""Pretrained vectors for a list of words, found as Flair finds them.

A word is looked up as it is, then in lower case, then in lower case with every digit as `#`, then
with every digit as `0`. A word that is not found so has the vector of zeros. The papers leave this
to Flair's code.

The file is read once, row by row, and only rows that one of the words can take are kept: a file of
5 GB needs the memory of the words. The result is kept in the cache folder, and mapped from there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import reason, shown
from cellwright.base.progress import Progress
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.kept_arrays import file_key, kept, key_of
from cellwright.embeddings.vector_files import open_vectors
from cellwright.embeddings.vector_names import find_vectors

RULES: dict[str, Callable[[str], str]] = {
    "as it is": lambda word: word,
    "lower case": lambda word: word.lower(),
    "digits as #": lambda word: re.sub(r"\d", "#", word.lower()),
    "digits as 0": lambda word: re.sub(r"\d", "0", word.lower()),
}
"""How words are looked up, in this order."""

NOT_FOUND = len(RULES)
"""What stands in `WordVectors.rules` for a word that has no vector."""


@dataclass(frozen=True)
class WordVectors:
    """The vectors of a list of words.

    Attributes:
        file: where they are from.
        words: the words.
        matrix: (words, size), float32, mapped from a file and so read only; zeros for a word that
            has none.
        rules: for each word the number of the rule of `RULES` that found it, or `NOT_FOUND`.
    """

    file: Path
    words: tuple[str, ...]
    matrix: NDArray[np.float32]
    rules: NDArray[np.int8]

    @property
    def size(self) -> int:
        """Numbers of each word."""
        return int(self.matrix.shape[1])

    @property
    def found(self) -> dict[str, int]:
        """How many words each rule has found, and how many none has."""
        counts = np.bincount(self.rules, minlength=NOT_FOUND + 1).tolist()
        return dict(zip((*RULES, "not found"), counts, strict=True))


def word_vectors(
    name: str | os.PathLike[str], words: Sequence[str], progress: Progress | None = None
) -> WordVectors:
    """The vectors of some words.

    Args:
        name: a name of `KNOWN_VECTORS`, or a file in one of the usual forms (`vector_files`).
        words: the words, in the order that the matrix shall have. They may repeat.
        progress: called while the file is read.

    Raises:
        EmbeddingError: the file is not there or damaged, or the vectors cannot be kept.
    """
    path = find_vectors(name)
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise EmbeddingError(f"words have to be a list of strings, not {shown(words)}")
    try:
        key = key_of(["word vectors 1", file_key(path), *words])
    except OSError as error:
        raise EmbeddingError(f"{path}: {reason(error)}") from None
    arrays = kept("vectors", key, lambda folder: _make(path, words, folder, progress), progress)
    return WordVectors(path, tuple(words), arrays["vectors"], arrays["rules"])


def _make(path: Path, words: Sequence[str], folder: Path, progress: Progress | None) -> None:
    wanted = {_key(rule(word)) for word in words for rule in RULES.values()}
    vectors: dict[bytes, NDArray[np.float32]] = {}
    with open_vectors(path, progress) as file:
        size = file.size
        for row in file.rows:
            if row.word in wanted and row.word not in vectors:
                vectors[row.word] = file.values(row)
    matrix = np.zeros((len(words), size), np.float32)
    rules = np.full(len(words), NOT_FOUND, np.int8)
    for place, word in enumerate(words):
        for number, rule in enumerate(RULES.values()):
            vector = vectors.get(_key(rule(word)))
            if vector is not None:
                matrix[place], rules[place] = vector, number
                break
    np.save(folder / "vectors.npy", matrix, allow_pickle=False)
    np.save(folder / "rules.npy", rules, allow_pickle=False)


def _key(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")
