"""The statistics of a comparison: regret at a time, intervals of means, paired tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cellwright.base.optional import require
from cellwright.bench.columns import Floats
from cellwright.bench.compare.running import Step

LEVEL = 0.95
"""Of all intervals."""


def regrets_at(steps: Sequence[Step], lowest: float, times: Floats) -> Floats:
    """The regret r(t) = L(t) − L* at each of some times (NAS-Bench-NLP, section 5).

    L(t) is the test loss of the best model by validation among the trials that had ended at t.
    NaN where none had.

    Args:
        steps: a search's.
        lowest: L*, the lowest test loss of the table.
        times: in seconds.
    """
    moments = np.array([step.seconds for step in steps])
    values = np.array([math.nan, *(step.test - lowest for step in steps)])
    return values[np.searchsorted(moments, times, side="right")]


def intervals(values: Floats) -> tuple[Floats, Floats, Floats]:
    """The mean over the first axis, and the ends of its 95% interval by Student's t.

    NaN where one of the values is; the interval is NaN for a single value.
    """
    count = len(values)
    mean = values.mean(axis=0)
    if count < 2:
        nothing = np.full_like(mean, np.nan)
        return mean, nothing, nothing
    stats = require("scipy.stats", "an interval of a mean", "metrics")
    error = values.std(axis=0, ddof=1) / math.sqrt(count)
    half = float(stats.t.ppf((1 + LEVEL) / 2, count - 1)) * error
    return mean, mean - half, mean + half


def regret_intervals(values: Floats) -> tuple[Floats, Floats, Floats]:
    """`intervals` of regrets, none of which is below 0.

    Student's interval lies evenly about the mean, and so may reach below 0 where a few seeds have a
    regret and most have nearly none. Their mean cannot be there: that part of the interval is cut
    off, and what is left still holds the mean as often as the whole did. (A bootstrap of the seeds
    would stay above 0 by itself, but with the few seeds that people run it is far too narrow.)
    """
    mean, low, high = intervals(values)
    return mean, np.maximum(low, 0.0), high


@dataclass(frozen=True)
class Pair:
    """Two methods over the same seeds. Differences are those of the first minus the second.

    Args:
        first: a label.
        second: another.
        difference: the mean difference of regrets; below 0 the first is better.
        low: the lower end of its 95% interval.
        high: the upper end.
        wins: how many seeds have a lower regret with the first method.
        ties: how many have the same.
        losses: how many have a higher one.
        p: of the Wilcoxon signed-rank test, two-sided.
        adjusted: that p after Holm's correction for all pairs.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    wins: int
    ties: int
    losses: int
    p: float
    adjusted: float = math.nan


def signed_rank(differences: Floats) -> float:
    """The two-sided p of Wilcoxon's signed-rank test that differences are symmetric about 0.

    Differences of 0 are left out; 1 where nothing else is there. The distribution is exact up to
    50 differences of different sizes, and normal with a correction for ties otherwise.

    >>> signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))  # 2 of the 2^5 signs are as extreme
    0.0625
    """
    known = differences[differences != 0]
    if not len(known):
        return 1.0
    stats = require("scipy.stats", "a signed-rank test", "metrics")
    sizes = np.abs(known)
    exact = len(known) <= 50 and len(np.unique(sizes)) == len(sizes)
    if exact:
        return float(stats.wilcoxon(known, method="exact").pvalue)
    ranks = stats.rankdata(sizes)
    # By hand, since what the function does with ties depends on scipy's version. The sum of the
    # signed ranks has the variance Σ rank².
    total = float((np.sign(known) * ranks).sum())
    return float(2 * stats.norm.sf(abs(total) / math.sqrt(float((ranks**2).sum()))))


def holm(values: Sequence[float]) -> list[float]:
    """p values after Holm's correction: that one of them is that small by chance.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(values, kind="stable")
    adjusted = [0.0] * len(values)
    largest = 0.0
    for place, number in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - place) * values[number]))
        adjusted[number] = largest
    return adjusted


def pairs(regrets: dict[str, Floats]) -> list[Pair]:
    """Every two methods, paired over seeds; the labels' order is kept.

    Args:
        regrets: for each label the regrets of the same seeds in the same order.
    """
    labels = list(regrets)
    found = []
    for place, first in enumerate(labels):
        for second in labels[place + 1 :]:
            gap = regrets[first] - regrets[second]
            mean, low, high = (float(value) for value in intervals(gap))
            wins, losses = int((gap < 0).sum()), int((gap > 0).sum())
            ties = len(gap) - wins - losses
            found.append(Pair(first, second, mean, low, high, wins, ties, losses, signed_rank(gap)))
    adjusted = holm([pair.p for pair in found])
    return [
        Pair(**{**vars(pair), "adjusted": value})
        for pair, value in zip(found, adjusted, strict=True)
    ]
