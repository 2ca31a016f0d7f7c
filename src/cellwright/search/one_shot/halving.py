"""Successive halving: all are tried for a short time, the better part for longer, and so on.

Jamieson and Talwalkar 2016; each rung is `eta` times as long as the one before it, and the best
1/eta of those that were on that one are on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

Tried = TypeVar("Tried")


class Rung(NamedTuple):
    """So many are trained for so many epochs in all, those of earlier rungs included."""

    epochs: int
    cells: int


def rungs(cells: int, epochs: int, eta: int) -> list[Rung]:
    """The rungs, the shortest first.

    On the last one there are two cells at least, since one has nothing to be compared with; so the
    fewer cells, the longer is the first rung.

    >>> rungs(8, 4, 2)
    [Rung(epochs=1, cells=8), Rung(epochs=2, cells=4), Rung(epochs=4, cells=2)]
    >>> rungs(4, 500, 3)
    [Rung(epochs=500, cells=4)]
    """
    times = 0
    while cells // eta ** (times + 1) >= 2 and epochs // eta ** (times + 1) >= 1:
        times += 1
    return [Rung(epochs // eta ** (times - up), cells // eta**up) for up in range(times + 1)]


def halve(
    tried: Sequence[Tried],
    plan: Sequence[Rung],
    train: Callable[[Sequence[Tried], int], Sequence[float]],
) -> list[tuple[int, float]]:
    """Train all as the rungs say; for each, the last rung that it was on and its loss there.

    Args:
        tried: what is chosen among.
        plan: the rungs.
        train: trains some up to an epoch, and gives their losses; those that are not finite are
            the worst.
    """
    reached = [(0, math.inf)] * len(tried)
    places = list(range(len(tried)))
    for rung in plan:
        places = places[: rung.cells]
        on_it = sorted(places)
        losses = train([tried[place] for place in on_it], rung.epochs)
        for place, loss in zip(on_it, losses, strict=True):
            reached[place] = (rung.epochs, loss)
        places.sort(key=lambda place: (_finite(reached[place][1]), place))
    return reached


def _finite(loss: float) -> float:
    return loss if math.isfinite(loss) else math.inf
