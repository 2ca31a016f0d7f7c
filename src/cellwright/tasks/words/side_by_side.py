"""Sentences of a part side by side, with all that is known of their words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.models.words import WordBatch
from cellwright.tasks.words.features import Known
from cellwright.tasks.words.pooling import Memories, Sentence, full_width, pooled
from cellwright.tasks.words.spellings import Spellings

Numbers = NDArray[np.int64]


class Layout:
    """Where the words of some sentences stand in a batch.

    Args:
        sentences: of a part.

    Attributes:
        lengths: of the sentences.
        shape: steps and sentences.
        at: where each word is in the part, one sentence after the other.
    """

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = sentences
        starts = np.array([one.start for one in sentences], np.int64)
        self.lengths = np.array([one.end - one.start for one in sentences], np.int64)
        self.shape = int(self.lengths.max()), len(sentences)
        self._column = np.repeat(np.arange(len(sentences)), self.lengths)
        ends = np.cumsum(self.lengths)
        self._step = np.arange(len(self._column)) - np.repeat(ends - self.lengths, self.lengths)
        self.at = np.repeat(starts, self.lengths) + self._step

    def padded(self, values: NDArray[np.int32]) -> Numbers:
        """What each word of the batch has, in its place; 0 behind a sentence's end."""
        found = np.zeros(self.shape, np.int64)
        found[self._step, self._column] = values
        return found

    def batch(
        self,
        words: NDArray[np.int32],
        features: Sequence[Known],
        memories: Memories,
        spellings: Spellings | None,
    ) -> WordBatch:
        """The batch.

        Args:
            words: the numbers of all words of the part.
            features: what is known of the part's words.
            memories: what words were so far, for features that are pooled.
            spellings: how words are written, if that is wanted.
        """
        numbers = self.padded(words[self.at])
        known = {}
        for each in features:
            rows = np.zeros((*self.shape, full_width(each)), np.float32)
            for number, one in enumerate(self.sentences):
                rows[: one.end - one.start, number] = pooled(memories, each, one)
            known[each.name] = torch.from_numpy(rows)
        return WordBatch(
            torch.from_numpy(numbers),
            torch.from_numpy(self.lengths),
            known,
            None if spellings is None else spellings.batch(numbers),
        )
