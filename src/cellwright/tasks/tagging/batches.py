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
from cellwright.tasks.tagging.features import NOT_POOLED, Known
from cellwright.tasks.tagging.pooling import (
    Memories,
    Sentence,
    Walk,
    full_width,
    pooled,
    sentences_of,
)
from cellwright.tasks.tagging.spellings import Spellings


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
        starts = np.array([one.start for one in sentences], np.int64)
        lengths = np.array([one.end - one.start for one in sentences], np.int64)
        shape = int(lengths.max()), len(sentences)
        # All words of the sentences, one sentence after the other: where they are, and go to.
        column = np.repeat(np.arange(len(sentences)), lengths)
        step = np.arange(len(column)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = np.repeat(starts, lengths) + step
        words, tags = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        words[step, column] = self._part.words[at]
        tags[step, column] = self._part.tags[at]
        known = {}
        for each in self._features:
            rows = np.zeros((*shape, full_width(each)), np.float32)
            for number, one in enumerate(sentences):
                rows[: one.end - one.start, number] = pooled(memories, each, one)
            known[each.name] = rows
        return TaggedBatch(
            torch.from_numpy(words),
            torch.from_numpy(lengths),
            torch.from_numpy(tags),
            {name: torch.from_numpy(rows) for name, rows in known.items()},
            None if self._spellings is None else self._spellings.batch(words),
        )
