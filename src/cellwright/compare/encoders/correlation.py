"""Whether two rows of numbers go together, and whether chance would do as well."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellwright.tasks.correlation import ranks, spearman

_MOST_EXACT = 7
"""Numbers of which all orders are tried; of more, so many that are drawn."""

_DRAWN = 20_000


class Correlation(NamedTuple):
    """Spearman's correlation of so many pairs.

    `chance` is the share of all orders of the one side in which it is as far from 0, or further.
    """

    rho: float
    pairs: int
    chance: float


def correlation(a: Sequence[float], b: Sequence[float]) -> Correlation:
    """How two rows of numbers go together; NaN where one does not vary.

    >>> correlation([1.0, 2.0, 3.0], [9.0, 5.0, 1.0])
    Correlation(rho=-1.0, pairs=3, chance=0.3333333333333333)
    """
    rho = spearman(a, b)
    one, other = (_centred(each) for each in (a, b))
    found = abs(_orders(other) @ one) >= abs(other @ one) * (1 - 1e-12)
    return Correlation(rho, len(one), float(np.mean(found)))


def _centred(values: Sequence[float]) -> NDArray[np.float64]:
    ranked = ranks(np.asarray(values, np.float64))
    centred: NDArray[np.float64] = ranked - ranked.mean()
    return centred


def _orders(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(values) <= _MOST_EXACT:
        return np.array(list(itertools.permutations(values.tolist())))
    rows = np.tile(values, (_DRAWN, 1))
    return np.random.default_rng(0).permuted(rows, axis=1)
