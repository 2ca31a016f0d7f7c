"""Sentences side by side, made when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.data.tagged import Sentences
from cellwright.models.tagger import TaggedBatch
from cellwright.tasks.tagging.features import Known
from cellwright.tasks.tagging.spellings import Spellings


class Batches(Sequence[TaggedBatch]):
    """The sentences of a part in some order, so many at a time.

    Args:
        part: the sentences.
        features: what is known of their words.
        order: the numbers of the sentences.
        size: of a batch.
        spellings: how words are written, if that is wanted.
    """

    def __init__(
        self,
        part: Sentences,
        features: Sequence[Known],
        order: NDArray[np.int64],
        size: int,
        spellings: Spellings | None = None,
    ) -> None:
        self._part, self._features, self._order, self._size = part, features, order, size
        self._spellings = spellings

    def __len__(self) -> int:
        return -(-len(self._order) // self._size)

    @overload
    def __getitem__(self, at: int) -> TaggedBatch: ...

    @overload
    def __getitem__(self, at: slice) -> Batches: ...

    def __getitem__(self, at: int | slice) -> TaggedBatch | Batches:
        if isinstance(at, slice):
            numbers = range(len(self))[at]
            chosen = [self._order[n * self._size : (n + 1) * self._size] for n in numbers]
            order = np.concatenate(chosen) if chosen else self._order[:0]
            return Batches(self._part, self._features, order, self._size, self._spellings)
        start = range(len(self))[at] * self._size
        return self._made(self._order[start : start + self._size])

    def _made(self, numbers: NDArray[np.int64]) -> TaggedBatch:
        part = self._part
        starts, ends = part.offsets[numbers], part.offsets[numbers + 1]
        lengths = ends - starts
        steps, count = int(lengths.max()), len(numbers)
        words = np.zeros((steps, count), np.int64)
        tags = np.zeros((steps, count), np.int64)
        known = {
            each.name: np.zeros((steps, count, each.width), np.float32) for each in self._features
        }
        for column, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            own = part.words[start:end]
            words[: end - start, column] = own
            tags[: end - start, column] = part.tags[start:end]
            for each in self._features:
                known[each.name][: end - start, column] = each.rows(own, start, end)
        return TaggedBatch(
            torch.from_numpy(words),
            torch.from_numpy(lengths.astype(np.int64)),
            torch.from_numpy(tags),
            {name: torch.from_numpy(rows) for name, rows in known.items()},
            None if self._spellings is None else self._spellings.batch(words),
        )
