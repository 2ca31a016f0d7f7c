"""Examples side by side."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from cellwright.data.labelled import Examples, Target
from cellwright.models.sentences.batch import SentenceBatch
from cellwright.models.words import WordBatch
from cellwright.tasks.words.batches import Numbers, WordBatches
from cellwright.tasks.words.side_by_side import Layout


@dataclass
class Batches(WordBatches[Examples, SentenceBatch]):
    """The examples of a part in some order, so many at a time.

    Args:
        target: what their targets are.
    """

    target: Target = field(kw_only=True)

    def made(self, items: Numbers, layout: Layout, read: WordBatch) -> SentenceBatch:
        """A batch with its targets."""
        targets = scaled(self.target, np.asarray(self.part.targets)[items])
        return SentenceBatch(read, self.per_item, torch.from_numpy(targets))


def scaled(target: Target, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores from 0 to 1, as models learn them; numbers of labels as they are."""
    if target.labels:
        return values
    unit = (values.astype(np.float64) - target.lowest) / (target.highest - target.lowest)
    return unit.astype(np.float32)


def from_unit(target: Target, values: NDArray[np.float32]) -> NDArray[np.float64]:
    """What models say of scores, as the data has them: inside of their range."""
    span = target.highest - target.lowest
    return np.asarray(target.lowest + span * np.clip(values.astype(np.float64), 0, 1))


def bucketed(lengths: Numbers, size: int, buckets: int, rng: np.random.Generator) -> Numbers:
    """An order of items in which those of a batch are of like lengths.

    Items are shuffled, sorted by length among those of so many batches, and the batches shuffled.
    Of the last batch, which may be smaller, the items are those that were drawn last.

    >>> order = bucketed(np.arange(10), 2, 5, np.random.default_rng(0))
    >>> sorted(order.tolist()) == list(range(10)), int(abs(order[0] - order[1]))
    (True, 1)
    """
    order = rng.permutation(len(lengths))
    whole = len(order) // size * size
    batches = []
    for start in range(0, whole, size * buckets):
        pool = order[start : min(start + size * buckets, whole)]
        pool = pool[np.argsort(-lengths[pool], kind="stable")]
        batches.append(pool.reshape(-1, size))
    if not batches:
        return order
    together = np.concatenate(batches)
    return np.append(together[rng.permutation(len(together))].reshape(-1), order[whole:])
