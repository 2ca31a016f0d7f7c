"""Sentences side by side, made when they are asked for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import overload

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.data.tagged import Sentences
from cellwright.models.tagger import TaggedBatch
from cellwright.tasks.words.features import NOT_POOLED, Known
from cellwright.tasks.words.pooling import Memories, Sentence, Walk, sentences_of
from cellwright.tasks.words.side_by_side import Layout
from cellwright.tasks.words.spellings import Spellings


class Batches(Sequence[TaggedBatch]):
    """The sentences of a part in some order, so many at a time.

    Args:
        part: the sentences.
        features: what is known of their words.
        order: the numbers of the sentences.
        size: of a batch.
        spellings: how words are written, if that is wanted.
        before: gives what words were before the first batch, for features that are pooled.
    """

    def __init__(
        self,
        part: Sentences,
        features: Sequence[Known],
        order: NDArray[np.int64],
        size: int,
        spellings: Spellings | None = None,
        before: Callable[[], Memories] = dict,
    ) -> None:
        self._part, self._features, self._order, self._size = part, features, order, size
        self._spellings, self._walk = spellings, Walk(features, before)
        self._numbers = range(-(-len(order) // size))

    def by_length(self) -> Batches:
        """The same sentences, longest first, so that those of a batch end at about the same step.

        It is for measuring: what is counted on a sentence does not depend on the others, but where
        features are pooled. There the order stays.
        """
        if any(each.pooling != NOT_POOLED for each in self._features) or not self._numbers:
            return self
        order = np.concatenate([self._in_batch(number) for number in self._numbers])
        lengths = self._part.offsets[order + 1] - self._part.offsets[order]
        order = order[np.argsort(-lengths, kind="stable")]
        return Batches(self._part, self._features, order, self._size, self._spellings)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> TaggedBatch: ...

    @overload
    def __getitem__(self, at: slice) -> Batches: ...

    def __getitem__(self, at: int | slice) -> TaggedBatch | Batches:
        if isinstance(at, slice):
            some = copy.copy(self)
            some._numbers = self._numbers[at]
            return some
        number = self._numbers[at]
        return self._made(self._sentences(number), self._walk.to(number, self._sentences))

    def _sentences(self, number: int) -> list[Sentence]:
        return sentences_of(self._part, self._in_batch(number).tolist())

    def _in_batch(self, number: int) -> NDArray[np.int64]:
        return self._order[number * self._size : (number + 1) * self._size]

    def _made(self, sentences: Sequence[Sentence], memories: Memories) -> TaggedBatch:
        layout = Layout(sentences)
        read = layout.batch(self._part.words, self._features, memories, self._spellings)
        tags = torch.from_numpy(layout.padded(self._part.tags[layout.at]))
        return TaggedBatch(read.words, read.lengths, read.features, read.characters, tags=tags)
