"""Items that come one after the other, as they are run together: some at a time, in batches of like
lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

TOGETHER = 64
"""Items of a batch."""

WINDOW, WINDOW_WORDS = 32 * TOGETHER, 2**17
"""Items that are waited for, so that those of a batch are of like lengths, and the words after
which no more are."""

MOST_WORDS = 4_000
"""Words, with padding, of a batch."""

MOST_CHARACTERS = 1_000
"""Of a longer word only so many are looked at."""

Item = TypeVar("Item")


def windows(
    items: Iterable[Item], length: Callable[[Item], int], most: int = WINDOW
) -> Iterator[list[Item]]:
    """Some items at a time, so that neither they nor their words are too many."""
    some: list[Item] = []
    words = 0
    for item in items:
        some.append(item)
        words += length(item)
        if len(some) >= most or words >= WINDOW_WORDS:
            yield some
            some, words = [], 0
    if some:
        yield some


def batched(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The numbers of items that are run together, the longest first.

    >>> list(batched([1, 3, 2]))
    [[1, 2, 0]]
    """
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    at = 0
    while at < len(order):
        fitting = max(1, min(TOGETHER, MOST_WORDS // max(1, lengths[order[at]])))
        yield order[at : at + fitting]
        at += fitting


def looked_at(words: Iterable[str]) -> list[str]:
    """Words as far as they are looked at."""
    return [word[:MOST_CHARACTERS] for word in words]
