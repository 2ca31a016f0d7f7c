"""All vectors of a file, for words that nobody knows beforehand.

`vectors.word_vectors` reads a file once for a list of words. Whoever meets new words all the time
needs any row at any moment: here the whole file is kept in the cache folder as numbers, made once,
with an index of its words, and both are mapped into memory. GloVe's 400,000 words of 100 numbers
take 166 MB on the disk, and those that are looked up no more memory than they need.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import reason, shown
from cellwright.base.progress import Progress
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.kept_arrays import file_key, kept, key_of
from cellwright.embeddings.vector_files import open_vectors
from cellwright.embeddings.vector_names import find_vectors
from cellwright.embeddings.vectors import RULES

Hashes = NDArray[np.uint64]


class AllVectors:
    """The vector of any word, looked up as `word_vectors` does.

    Words are told apart by hashes of 64 bits: that a word which is not in a file of a million words
    is taken for one of them happens once in 10¹³ times.

    Args:
        name: a name of `KNOWN_VECTORS`, or a file.
        progress: called while the file is read for the first time.

    Raises:
        EmbeddingError: the file is not there or damaged, or cannot be kept.
    """

    def __init__(self, name: str | os.PathLike[str], progress: Progress | None = None) -> None:
        path = self.path = find_vectors(name)
        try:
            key = key_of(["all vectors 1", file_key(path)])
        except OSError as error:
            raise EmbeddingError(f"{path}: {reason(error)}") from None
        arrays = kept("all-vectors", key, lambda folder: _make(path, folder, progress), progress)
        self._hashes: Hashes = arrays["hashes"]
        self._rows: NDArray[np.int64] = arrays["rows"]
        self._vectors: NDArray[np.float32] = arrays["vectors"]
        self.size = int(self._vectors.shape[1])

    def __len__(self) -> int:
        """How many different words the file has."""
        return len(self._hashes)

    def of(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of words, (words, size): zeros for a word that has none.

        Raises:
            EmbeddingError: what the file has for a word are no numbers.
        """
        found = np.zeros((len(words), self.size), np.float32)
        left = np.arange(len(words))
        for rule in RULES.values():
            wanted = np.array(
                [_hash(_bytes(rule(words[place]))) for place in left.tolist()], np.uint64
            )
            at = np.minimum(np.searchsorted(self._hashes, wanted), len(self._hashes) - 1)
            here = self._hashes[at] == wanted
            found[left[here]] = self._vectors[self._rows[at[here]]]
            left = left[~here]
            if not len(left):
                break
        wrong = ~np.isfinite(found).all(1)
        if wrong.any():
            word = words[int(np.flatnonzero(wrong)[0])]
            raise EmbeddingError(f"{self.path}: what it has for {shown(word)} are no numbers")
        return found


def _make(path: Path, folder: Path, progress: Progress | None) -> None:
    """The hashes of all words in their order, the row of each, and the rows as the file has them;
    of two rows with the same word the first one is meant."""
    with open_vectors(path, progress) as file:
        hashes = np.array([_hash(row.word) for row in file.rows], np.uint64)
    distinct, rows = np.unique(hashes, return_index=True)
    with open_vectors(path, progress) as file:
        vectors = np.lib.format.open_memmap(
            folder / "vectors.npy", mode="w+", dtype=np.float32, shape=(len(hashes), file.size)
        )
        for number, row in enumerate(file.rows):
            try:
                vectors[number] = file.values(row)
            except EmbeddingError:  # only whoever needs this word is told
                vectors[number] = np.nan
        vectors.flush()
    np.save(folder / "hashes.npy", distinct, allow_pickle=False)
    np.save(folder / "rows.npy", rows.astype(np.int64), allow_pickle=False)


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


def _hash(word: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little")
