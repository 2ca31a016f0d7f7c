"""The words of a corpus and their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Other = TypeVar("_Other")

EOS = "<eos>"
"""Ends every line."""

UNK = "<unk>"
"""Stands for a word that the training part does not have."""


class Vocabulary:
    """The distinct words of a training part, numbered as they first occur in it.

    `<eos>` and `<unk>` are words like others; an `<unk>` that the training part lacks has the
    last number and the count 0.

    >>> vocabulary = Vocabulary(["a", "<eos>", "b", "<unk>"], [3, 2, 1, 0])
    >>> len(vocabulary), vocabulary["b"], vocabulary.token(0), "c" in vocabulary
    (4, 2, 'a', False)
    >>> vocabulary.encode(["b", "c"]).tolist()
    [2, 3]
    """

    def __init__(self, tokens: Sequence[str], counts: Sequence[int] | NDArray[np.int64]) -> None:
        self.tokens: tuple[str, ...] = tuple(tokens)
        self.counts: NDArray[np.int64] = np.array(counts, dtype=np.int64)
        self.counts.flags.writeable = False

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {token: id for id, token in enumerate(self.tokens)}

    @property
    def eos(self) -> int:
        """The number of `<eos>`."""
        return self._ids[EOS]

    @property
    def unk(self) -> int:
        """The number of `<unk>`."""
        return self._ids[UNK]

    def __len__(self) -> int:
        return len(self.tokens)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __getitem__(self, token: str) -> int:
        """The number of a word; a `KeyError` if there is no such word."""
        return self._ids[token]

    def get(self, token: str, other: _Other) -> int | _Other:
        """The number of a word; `other` if there is no such word."""
        return self._ids.get(token, other)

    def token(self, id: int) -> str:
        """The word with this number."""
        return self.tokens[id]

    def encode(self, tokens: Iterable[str]) -> NDArray[np.int32]:
        """The numbers of words, with `<unk>`'s for those that are not there."""
        ids, unk = self._ids, self.unk
        return np.array([ids.get(token, unk) for token in tokens], dtype=np.int32)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The words with these numbers."""
        return [self.tokens[id] for id in ids]

    def log_shares(self) -> NDArray[np.float32]:
        """The logarithm of each word's share of the training part, as if each were there once more.

        >>> [round(float(np.exp(x)), 3) for x in Vocabulary(["a", "<unk>"], [8, 0]).log_shares()]
        [0.9, 0.1]
        """
        counts = self.counts + 1
        shares: NDArray[np.float64] = counts / counts.sum()
        return np.log(shares).astype(np.float32)

    def __repr__(self) -> str:
        return f"<Vocabulary, {len(self):,} types>"


def to_text(tokens: Iterable[str], counts: Iterable[int]) -> bytes:
    """One word a line, in the order of their numbers, with a tab and its count."""
    lines = (f"{token}\t{count}\n" for token, count in zip(tokens, counts, strict=True))
    return "".join(lines).encode("utf-8")


def from_text(text: bytes) -> Vocabulary:
    """The inverse of `to_text`.

    Raises:
        ValueError: it is something else.
    """
    fields = text.decode("utf-8").split()  # a word has no white space in it, so this is safe
    words = fields[0::2]
    if len(fields) % 2 or len(set(words)) < len(words) or not {EOS, UNK} <= set(words):
        raise ValueError("it is no vocabulary: a word a line, each once, with a tab and its count")
    return Vocabulary(words, np.array(fields[1::2], dtype=np.int64))


def from_rows(text: bytes) -> Vocabulary:
    """The inverse of `to_text` for words that may have white space in them, but no tab or newline.

    Raises:
        ValueError: it is something else.
    """
    rows = [row.rpartition("\t") for row in text.decode("utf-8").removesuffix("\n").split("\n")]
    return Vocabulary([row[0] for row in rows], np.array([row[2] for row in rows], np.int64))
