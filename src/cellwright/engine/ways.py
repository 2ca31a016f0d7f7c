"""In which way a program runs, of several that give the same bits: the one that has been fastest.

How many threads pay depends on what else the machine does, and changes while a program runs: a
thread that has no core at the moment keeps the others waiting. So the calls themselves are timed,
and now and then some go another way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Way(NamedTuple):
    """How calls are shared out to threads."""

    threads: int
    split_columns: bool = False
    """Threads share the columns of each product, and wait for each other after it; else rows."""
    at_once: bool = False
    """Several calls run side by side; else one after the other."""


class Ways:
    """Chooses among ways, the first of which is taken until another one has been faster.

    >>> ways = Ways([Way(2), Way(1)])
    >>> for _ in range(100):
    ...     way = ways.choose()
    ...     ways.learn(way, cost=1.0 if way.threads == 1 else 5.0)
    >>> ways.choose()
    Way(threads=1, split_columns=False, at_once=False)
    """

    _PAUSE, _LONGEST_PAUSE = 12, 400
    """Calls until another way is tried. Each time that it is not faster the pause is doubled."""
    _TRIES = 3
    """Calls that a trial has. Their median counts: the first one pays for memory and caches."""
    _FASTER, _HOPELESS = 0.95, 1.5
    """Part of the best way's cost at which another takes its place, or a trial ends at once."""
    _MEMORY = 0.25
    """Weight of a new cost in the running mean, in which none counts more than double."""

    def __init__(self, ways: Sequence[Way]) -> None:
        self._ways = list(ways)
        self._best = 0
        self._costs = [math.inf] * len(ways)
        self._next = 1 % len(ways)
        self._trial: list[float] = []
        self._pause = self._left = self._PAUSE

    def choose(self) -> Way:
        """The way for the next call."""
        return self._ways[self._best if self._left > 0 else self._next]

    def learn(self, way: Way, cost: float) -> None:
        """Say what a call cost that went this way."""
        number = self._ways.index(way)
        if number == self._best:
            self._remember(cost)
        elif self._left <= 0:
            self._try(number, cost)

    def _remember(self, cost: float) -> None:
        known = self._costs[self._best]
        if math.isinf(known):
            self._costs[self._best] = cost
        else:
            self._costs[self._best] += self._MEMORY * (min(cost, 2 * known) - known)
        if len(self._ways) > 1:
            self._left -= 1
            if self._costs[self._best] > 1.1 * min(self._costs):  # another one was faster once
                self._left = min(self._left, 0)

    def _try(self, number: int, cost: float) -> None:
        self._trial.append(cost)
        best = self._costs[self._best]
        hopeless = len(self._trial) > 1 and min(self._trial) > self._HOPELESS * best
        if len(self._trial) < self._TRIES and not hopeless:
            return
        self._costs[number] = sorted(self._trial)[len(self._trial) // 2]
        self._trial = []
        if self._costs[number] < self._FASTER * best:
            self._best = number
            self._pause = self._PAUSE
        else:
            self._pause = min(2 * self._pause, self._LONGEST_PAUSE)
        self._left = self._pause
        self._next = (number + 1) % len(self._ways)
        if self._next == self._best:
            self._next = (self._next + 1) % len(self._ways)
