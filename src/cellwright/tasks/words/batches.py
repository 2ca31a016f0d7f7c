"""Items of a part, each of some sentences, side by side; made when they are asked for."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from cellwright.models.words import WordBatch
from cellwright.tasks.words.features import NOT_POOLED, InOrder, Known
from cellwright.tasks.words.pooling import Memories, Sentence, Walk, sentences_of
from cellwright.tasks.words.side_by_side import Layout
from cellwright.tasks.words.spellings import Spellings

Numbers = NDArray[np.int64]
Part = TypeVar("Part", bound=InOrder)
Made = TypeVar("Made")


@dataclass
class WordBatches(Sequence[Made], ABC, Generic[Part, Made]):
    """The items of a part in some order, so many at a time.

    Args:
        part: their sentences.
        features: what is known of the words.
        order: the numbers of the items.
        size: of a batch.
        spellings: how words are written, if that is wanted.
        before: gives what words were before the first batch, for features that are pooled.
        per_item: the sentences of an item, which follow each other. In a batch the first sentences
            of all items stand before the second ones.
    """

    part: Part
    features: Sequence[Known]
    order: Numbers
    size: int
    spellings: Spellings | None = None
    before: Callable[[], Memories] = dict
    per_item: int = 1
    _numbers: range = field(init=False, repr=False)
    _walk: Walk = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._walk = Walk(self.features, self.before)
        self._numbers = range(-(-len(self.order) // self.size))

    @abstractmethod
    def made(self, items: Numbers, layout: Layout, read: WordBatch) -> Made:
        """A batch.

        Args:
            items: their numbers.
            layout: where their words stand.
            read: the words.
        """

    def by_length(self) -> Self:
        """The same items, longest first, so that those of a batch end at about the same step.

        It is for measuring: what is counted on an item does not depend on the others, but where
        features are pooled. There the order stays.
        """
        if any(each.pooling != NOT_POOLED for each in self.features) or not self._numbers:
            return self
        order = np.concatenate([self._items(number) for number in self._numbers])
        order = order[np.argsort(-self.lengths(order), kind="stable")]
        other = copy.copy(self)
        other.order = order
        other.__post_init__()
        return other

    def lengths(self, items: Numbers) -> Numbers:
        """The words of each item."""
        return item_lengths(self.part, self.per_item)[items]

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> Made: ...

    @overload
    def __getitem__(self, at: slice) -> Self: ...

    def __getitem__(self, at: int | slice) -> Made | Self:
        if isinstance(at, slice):
            some = copy.copy(self)
            some._numbers = self._numbers[at]
            return some
        number = self._numbers[at]
        memories = self._walk.to(number, self._sentences)
        layout = Layout(self._sentences(number))
        read = layout.batch(self.part.words, self.features, memories, self.spellings)
        return self.made(self._items(number), layout, read)

    def _sentences(self, number: int) -> list[Sentence]:
        items, each = self._items(number), np.arange(self.per_item)
        return sentences_of(self.part, (self.per_item * items + each[:, None]).reshape(-1).tolist())

    def _items(self, number: int) -> Numbers:
        return self.order[number * self.size : (number + 1) * self.size]


def item_lengths(part: InOrder, per_item: int) -> Numbers:
    """The words of each item of a part."""
    offsets = np.asarray(part.offsets)[::per_item]
    return offsets[1:] - offsets[:-1]
