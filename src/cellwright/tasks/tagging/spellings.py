"""The words of a vocabulary as numbers of characters, made once; of a batch, the distinct ones."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.characters import MOST_CHARACTERS, UNKNOWN, CharacterBatch

FIRST_NUMBER = UNKNOWN + 1
"""The number of the first character."""


class Spellings:
    """How words are written.

    Args:
        words: the vocabulary.
        characters: with their counts in training; one that training does not have is unknown.
    """

    def __init__(self, words: Vocabulary, characters: Vocabulary) -> None:
        numbers = {
            character: number
            for number, character in enumerate(characters.tokens, FIRST_NUMBER)
            if characters.counts[number - FIRST_NUMBER]
        }
        spelled = [
            [numbers.get(c, UNKNOWN) for c in word[:MOST_CHARACTERS]] or [UNKNOWN]
            for word in words.tokens
        ]
        self._lengths = np.array([len(row) for row in spelled], np.int64)
        self._starts = np.append(0, np.cumsum(self._lengths))
        self._numbers = np.concatenate([np.array(row, np.int64) for row in spelled])

    def batch(self, words: NDArray[np.int64]) -> CharacterBatch:
        """The distinct ones of a batch's words, and which of them each is."""
        distinct, rows = np.unique(words, return_inverse=True)
        lengths = self._lengths[distinct]
        padded = np.zeros((len(distinct), int(lengths.max())), np.int64)
        inside = np.arange(padded.shape[1]) < lengths[:, None]
        places = self._starts[distinct][:, None] + np.arange(padded.shape[1])
        padded[inside] = self._numbers[places[inside]]
        return CharacterBatch(
            torch.from_numpy(padded), torch.from_numpy(lengths), torch.from_numpy(rows.reshape(-1))
        )
