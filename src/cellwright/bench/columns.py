"""Columns of texts, and rows of different lengths: what the table is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellwright.bench.errors import BenchError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bytes = NDArray[np.uint8]

_MOST_VALUES = 2**17


@dataclass(frozen=True)
class Texts(Sequence[str]):
    """A column of texts as one array of bytes, of which only what is asked for is decoded.

    >>> column = Texts.of(["gru", "", "Größe"])
    >>> len(column), column[2]
    (3, 'Größe')

    Args:
        data: the texts in UTF-8, one behind the other.
        starts: where each begins, and where the last ends.
    """

    data: Bytes
    starts: Integers

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """The column of some texts. A lone surrogate, which UTF-8 lacks, becomes an escape."""
        parts = [text.encode("utf-8", "backslashreplace") for text in texts]
        return cls(np.frombuffer(b"".join(parts), np.uint8), starts_of(map(len, parts)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> str:  # type: ignore[override]
        raw = self.data[self.starts[number] : self.starts[number + 1]].tobytes()
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise BenchError(f"the benchmark is damaged: text {number} is not UTF-8") from None

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))


def starts_of(lengths: Iterable[int]) -> Integers:
    """Where rows of these lengths begin when they lie one behind the other; then the end."""
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, np.int64), dtype=np.int64)])


def padded(flat: Floats, starts: Integers, width: int) -> Floats:
    """Rows of different lengths as a matrix, NaN behind the end of each, cut at `width`."""
    result = np.full((len(starts) - 1, width), np.nan)
    for rows, block in blocks(flat, starts):
        result[rows, : block.shape[1]] = block[:, :width]
    return result


def blocks(flat: Floats, starts: Integers) -> Iterator[tuple[Integers, Floats]]:
    """Rows that are equally long, together as a matrix: their numbers and the matrix.

    Most runs of a table have the same number of epochs, so that a few array operations do for all
    of them, without one long run making the matrix wide for the others. A matrix has at most about
    a hundred thousand values.
    """
    lengths = np.diff(starts)
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        count = max(1, _MOST_VALUES // max(length, 1))
        for first in range(0, len(rows), count):
            some = rows[first : first + count]
            yield some, flat[starts[some, None] + np.arange(length)]
