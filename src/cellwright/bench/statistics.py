"""The few statistics that the analyses share."""

from __future__ import annotations

import math

import numpy as np

from cellwright.base.optional import require
from cellwright.bench.columns import Floats, Integers


def correlations(a: Floats, b: Floats) -> dict[str, float]:
    """Pearson's, Spearman's and Kendall's correlation; NaN where one side does not vary."""
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return dict.fromkeys(("pearson", "spearman", "kendall"), math.nan)
    stats = require("scipy.stats", "a rank correlation", "metrics")
    return {
        "pearson": float(stats.pearsonr(a, b).statistic),
        "spearman": float(stats.spearmanr(a, b).statistic),
        "kendall": float(stats.kendalltau(a, b).statistic),
    }


def intervals(
    a: Floats, b: Floats, *, samples: int = 1000, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """The 95 % interval of each of the correlations, by the bootstrap: pairs are drawn anew, with
    repetition, and the interval leaves out the lowest and the highest fortieth."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(a), size=(samples, len(a)))
    found = [correlations(a[rows], b[rows]) for rows in drawn]
    ends = {
        name: np.nanquantile([one[name] for one in found], (0.025, 0.975)).tolist()
        for name in found[0]
    }
    return {name: (low, high) for name, (low, high) in ends.items()}


def positions(values: Floats) -> Integers:
    """The place of each value among all, from 0 for the lowest; equal ones in their order."""
    places = np.empty(len(values), np.int64)
    places[np.argsort(values, kind="stable")] = np.arange(len(values))
    return places


def determination(true: Floats, predicted: Floats) -> float:
    """R²: how much of the variance a prediction explains; below 0 if it is worse than the mean."""
    total = float(((true - true.mean()) ** 2).sum()) if len(true) else 0.0
    return 1 - float(((true - predicted) ** 2).sum()) / total if total > 0 else math.nan


def roc_area(positive: Integers, scores: Floats) -> float:
    """The area under the ROC curve: how likely a positive scores above a negative.

    NaN where there are only positives or only negatives. Equal scores count half.
    """
    chosen = np.asarray(positive, bool)
    ones, zeros = int(chosen.sum()), int((~chosen).sum())
    if not ones or not zeros:
        return math.nan
    stats = require("scipy.stats", "a ROC curve", "metrics")
    ranks = stats.rankdata(scores)
    return float((ranks[chosen].sum() - ones * (ones + 1) / 2) / (ones * zeros))
