"""Crossing reduction: the order of the vertices within each column.

Barycenter and median sweeps from several starts, each polished by swapping neighbours;
the best order wins (Sugiyama, Tagawa and Toda 1981; Gansner et al. 1993). All starts are
fixed, so equal graphs always get equal orders.
"""

from __future__ import annotations

import random
from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

Neighbours = Sequence[Sequence[int]]
Order = list[list[int]]

SMALL = 400
"""Up to this many vertices, dummies included, all starts and swaps are tried."""

MEDIUM = 3000
"""Beyond this many, two starts and a few sweeps must do."""

STRAY = 4
"""What a pair of inputs out of their usual order costs, in steps that edges go up or down."""


@dataclass(frozen=True)
class _Effort:
    starts: int
    sweeps: int
    swaps: bool


def crossings_between(upper: Sequence[int], lower: Sequence[int], out: Neighbours) -> int:
    """How many edges cross between two neighbouring columns."""
    place = {vertex: i for i, vertex in enumerate(lower)}
    seen: list[int] = []
    total = 0
    for vertex in upper:
        ends = sorted(place[target] for target in out[vertex])
        for end in ends:
            total += len(seen) - bisect_right(seen, end)
        for end in ends:
            insort(seen, end)
    return total


def crossings(order: Order, out: Neighbours) -> int:
    """How many edges cross in the whole picture."""
    return sum(crossings_between(a, b, out) for a, b in pairwise(order))


def reduce_crossings(start: Order, into: Neighbours, out: Neighbours) -> Order:
    """The best order found within each column."""
    size = sum(map(len, start))
    if size <= SMALL:
        effort = _Effort(starts=max(8, min(30, 3000 // size)), sweeps=12, swaps=True)
    elif size <= MEDIUM:
        effort = _Effort(starts=3, sweeps=8, swaps=True)
    else:
        effort = _Effort(starts=2, sweeps=8, swaps=False)
    tries = (
        _improve(_start(start, number), into, out, effort, number)
        for number in range(effort.starts)
    )
    best = min(tries, key=lambda order: _score(order, out))
    return _with_inputs_in_order(best, into, out) if size <= SMALL else best


def _score(order: Order, out: Neighbours) -> tuple[int, int]:
    """Crossings first; then how far edges go up and down and how far inputs are out of order."""
    strays = sum(a > b for a, b in combinations(order[0], 2)) if len(order[0]) <= 100 else 0
    return crossings(order, out), _spread(order, out) + STRAY * strays


def _with_inputs_in_order(order: Order, into: Neighbours, out: Neighbours) -> Order:
    """Swap inputs that are out of their usual order, with all that hangs on them, if it is free.

    The sweeps find this only by luck: halfway through such a swap there are more crossings.
    """
    best, best_score = order, _score(order, out)
    for i, j in combinations(range(min(len(order[0]), 12)), 2):
        if best[0][i] < best[0][j]:
            continue
        tried = [list(column) for column in best]
        tried[0][i], tried[0][j] = tried[0][j], tried[0][i]
        for column in range(1, len(tried)):
            tried[column] = _sorted(tried[column], tried[column - 1], into, _mean)
        _swap_neighbours(tried, into, out)
        score = _score(tried, out)
        if score < best_score:
            best, best_score = tried, score
    return best


def _start(order: Order, number: int) -> Order:
    if number == 0:
        return [list(column) for column in order]
    if number == 1:
        return [list(reversed(column)) for column in order]
    shuffled = [list(column) for column in order]
    chance = random.Random(number)
    for column in shuffled:
        chance.shuffle(column)
    return shuffled


def _improve(
    order: Order, into: Neighbours, out: Neighbours, effort: _Effort, number: int
) -> Order:
    best = [list(column) for column in order]
    best_score = _score(best, out)
    for sweep in range(effort.sweeps):
        centre = _median if (sweep // 2 + number) % 2 else _mean
        if sweep % 2 == 0:
            for i in range(1, len(order)):
                order[i] = _sorted(order[i], order[i - 1], into, centre)
        else:
            for i in reversed(range(len(order) - 1)):
                order[i] = _sorted(order[i], order[i + 1], out, centre)
        if effort.swaps:
            _swap_neighbours(order, into, out)
        score = _score(order, out)
        if score < best_score:
            best, best_score = [list(column) for column in order], score
    return best


def _sorted(
    column: list[int],
    fixed: list[int],
    neighbours: Neighbours,
    centre: Callable[[list[int]], float],
) -> list[int]:
    """`column` in the order of its neighbours; vertices without any keep their place."""
    place = {vertex: i for i, vertex in enumerate(fixed)}
    value = {v: centre(sorted(place[n] for n in neighbours[v])) for v in column if neighbours[v]}
    ordered = iter(sorted(value, key=value.__getitem__))
    return [next(ordered) if vertex in value else vertex for vertex in column]


def _mean(places: list[int]) -> float:
    return sum(places) / len(places)


def _median(places: list[int]) -> float:
    half = len(places) // 2
    return float(places[half]) if len(places) % 2 else (places[half - 1] + places[half]) / 2


def _swap_neighbours(order: Order, into: Neighbours, out: Neighbours) -> None:
    """Swap neighbours as long as that removes crossings."""
    place = {vertex: i for column in order for i, vertex in enumerate(column)}
    for _ in range(8):
        changed = False
        for column in order:
            for i in range(len(column) - 1):
                a, b = column[i], column[i + 1]
                gain = 0
                for side in (into, out):
                    of_a = [place[n] for n in side[a]]
                    of_b = [place[n] for n in side[b]]
                    gain += sum((p > q) - (p < q) for p in of_a for q in of_b)
                if gain > 0:
                    column[i], column[i + 1] = b, a
                    place[a], place[b] = i + 1, i
                    changed = True
        if not changed:
            return


def _spread(order: Order, out: Neighbours) -> int:
    """How far edges go up and down, in places within the columns."""
    place = {vertex: 2 * i - len(column) for column in order for i, vertex in enumerate(column)}
    return sum(abs(place[v] - place[t]) for column in order for v in column for t in out[v])
