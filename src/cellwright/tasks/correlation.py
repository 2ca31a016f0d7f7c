"""Pearson's and Spearman's correlation, in float64; NaN where one side does not vary."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]


def pearson(a: ArrayLike, b: ArrayLike) -> float:
    """Pearson's correlation; NaN where one side does not vary, or has something not finite.

    >>> round(pearson(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0])), 4)
    0.3273
    """
    one, other = (_centred(np.asarray(side, np.float64)) for side in (a, b))
    product = math.sqrt(_product(one, one) * _product(other, other))
    return float(np.clip(_product(one, other) / product, -1, 1)) if product > 0 else math.nan


def spearman(a: ArrayLike, b: ArrayLike) -> float:
    """Spearman's correlation, that of ranks; equal values share the mean of their ranks.

    >>> round(spearman(np.array([1.0, 2.0, 2.0, 9.0]), np.array([1.0, 3.0, 2.0, 4.0])), 4)
    0.9487
    """
    one, other = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if np.isnan(one).any() or np.isnan(other).any():
        return math.nan
    return pearson(ranks(one), ranks(other))


def ranks(values: Numbers) -> Numbers:
    """The place of each value from 1 on, equal ones sharing the mean of their places.

    >>> ranks(np.array([5.0, 1.0, 5.0, 3.0])).tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    means: Numbers = np.cumsum(counts) - (counts - 1) / 2
    return means[which.reshape(-1)]


def _product(one: Numbers, other: Numbers) -> float:
    """In one order; that of BLAS depends on its threads."""
    return float((one * other).sum())


def _centred(values: Numbers) -> Numbers:
    """Values around their mean, the largest of which is 1, so that no square is too large or too
    small for a number; zeros or NaN where none vary or some are not finite."""
    if not len(values) or not np.isfinite(values).all():
        return np.full_like(values, math.nan)
    if (values == values[0]).all():  # their mean may be rounded to something else
        return np.zeros_like(values)
    scaled = values / np.abs(values).max()
    centred = scaled - scaled.mean()
    found: Numbers = centred / np.abs(centred).max()
    return found
