"""Words as numbers of characters: those of a vocabulary, made once, or any others; of a batch, the
distinct ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.characters import MOST_CHARACTERS, UNKNOWN, CharacterBatch

FIRST_NUMBER = UNKNOWN + 1
"""The number of the first character."""

Numbers = NDArray[np.int64]


class Spellings:
    """How words are written.

    Args:
        words: the vocabulary.
        characters: with their counts in training; one that training does not have is unknown.
    """

    def __init__(self, words: Vocabulary, characters: Vocabulary) -> None:
        self._known = {
            character: number
            for number, character in enumerate(characters.tokens, FIRST_NUMBER)
            if characters.counts[number - FIRST_NUMBER]
        }
        self._lengths, self._starts, self._numbers = self._spelled(words.tokens)

    def batch(self, words: Numbers) -> CharacterBatch:
        """The distinct ones of a batch's words, and which of them each is."""
        distinct, rows = np.unique(words, return_inverse=True)
        lengths, starts = self._lengths[distinct], self._starts[distinct]
        return _padded(lengths, starts, self._numbers, rows.reshape(-1))

    def of(self, words: Sequence[str]) -> CharacterBatch:
        """The same for words that need not be in the vocabulary."""
        distinct: dict[str, int] = {}
        rows = [distinct.setdefault(word, len(distinct)) for word in words]
        return _padded(*self._spelled(list(distinct)), np.array(rows, np.int64))

    def _spelled(self, words: Sequence[str]) -> tuple[Numbers, Numbers, Numbers]:
        """How long words are, where each begins among all numbers, and these."""
        find = self._known.get
        spelled = [
            [find(c, UNKNOWN) for c in word[:MOST_CHARACTERS]] or [UNKNOWN] for word in words
        ]
        lengths = np.array([len(row) for row in spelled], np.int64)
        numbers = np.array([number for row in spelled for number in row], np.int64)
        return lengths, np.cumsum(lengths) - lengths, numbers


def _padded(lengths: Numbers, starts: Numbers, numbers: Numbers, rows: Numbers) -> CharacterBatch:
    padded = np.zeros((len(lengths), int(lengths.max())), np.int64)
    inside = np.arange(padded.shape[1]) < lengths[:, None]
    places = starts[:, None] + np.arange(padded.shape[1])
    padded[inside] = numbers[places[inside]]
    return CharacterBatch(
        torch.from_numpy(padded), torch.from_numpy(lengths), torch.from_numpy(rows)
    )
