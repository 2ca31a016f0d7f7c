"""What tasks have in common whose data are sentences: parts of it, and what is known of words."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from typing_extensions import Self

from cellwright.base.errors import UserError
from cellwright.tasks.task import PARTS
from cellwright.tasks.words.features import InOrder, Known
from cellwright.tasks.words.known_words import KnownWords
from cellwright.tasks.words.parts import check_limits
from cellwright.tasks.words.pooling import Memories, remembered


class Items(InOrder, Protocol):
    """A part of data: items, each of one sentence or of several."""

    def __len__(self) -> int:
        """How many items."""

    def some(self, first: int, end: int) -> Self:
        """The items from one on to before another; words stay where they are."""


class Parts(Protocol):
    """Data of three parts."""

    @property
    def fingerprint(self) -> str:
        """A hash of all of it."""

    def describe(self) -> str:
        """What is in it, for people."""


OwnItems = TypeVar("OwnItems", bound=Items)
OwnData = TypeVar("OwnData", bound=Parts)


class WordsTask(Generic[OwnData, OwnItems]):
    """A task whose data are sentences.

    Args:
        data: a dataclass with the parts train, valid and test.
        words: what words become.
    """

    items: ClassVar[str]
    """What is counted."""

    def __init__(self, data: OwnData, words: KnownWords) -> None:
        self.data, self.words = data, words

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the data."""
        return self.data.fingerprint

    def describe(self) -> str:
        """The counts of the data."""
        return self.data.describe()

    def limited(self, most: Mapping[str, int]) -> Self:
        """The data with no more items in its parts than are wanted."""
        check_limits(most, self.items)
        return self._with(
            {part: getattr(self.data, part).some(0, many) for part, many in most.items()}
        )

    def halves(self) -> tuple[Self, Self]:
        """The first and the second half of the training part."""
        train = self.part("train")
        middle = len(train) // 2
        if not middle:
            raise UserError(f"train has too few {self.items} for two halves")
        first, second = train.some(0, middle), train.some(middle, len(train))
        return self._with({"train": first}), self._with({"train": second})

    def part(self, name: str) -> OwnItems:
        """A part, which has something.

        Raises:
            UserError: it is empty.
        """
        items = self._items(name)
        if not len(items):
            raise UserError(f"{name} has no {self.items}")
        return items

    def _items(self, name: str) -> OwnItems:
        items: OwnItems = getattr(self.data, name)
        return items

    def known(self, name: str) -> list[Known]:
        """What is known of the words of a part, before it was limited."""
        parts = (getattr(self.data, each) for each in PARTS)
        return self.words.features(name, self.part(name), parts)

    @cached_property
    def training_memories(self) -> Memories:
        """What words were in the training part; nothing where it is not at hand."""
        train = self._items("train")
        return remembered(train, self.known("train")) if len(train) else {}

    def _with(self, changes: Mapping[str, Any]) -> Self:
        for name in changes:
            self.known(name)  # of the whole part, so that places in it are the same for all
        other = copy.copy(self)
        other.data = dataclasses.replace(self.data, **changes)  # type: ignore[type-var]
        for name in ("fingerprint", "training_memories"):
            other.__dict__.pop(name, None)
        return other
