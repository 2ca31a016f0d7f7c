"""What features tell about architectures before they are trained (Figure 8)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cellwright.bench.analysis.finding import Finding
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats, Integers
from cellwright.bench.errors import BenchError
from cellwright.bench.statistics import determination, roc_area
from cellwright.bench.summary import of_architectures
from cellwright.bench.trees import fit_trees
from cellwright.tasks.metric import Metric

MOST_LOSS = 6.0
"""The paper predicts all architectures, and then only those whose loss is at most this."""


@dataclass(frozen=True, eq=False)
class Prediction(Finding):
    """What was predicted in the first split, of all architectures and of the better ones.

    Args:
        loss_name: what is predicted.
        splits: by what it is of: the true losses, the predicted ones, and R².
    """

    loss_name: str
    splits: Mapping[str, tuple[Floats, Floats, float]]


def prediction(
    benchmark: Benchmark, features: Floats, *, splits: int = 10, seed: int = 0
) -> Prediction:
    """Which architectures diverge, and the final test loss of the others, from features.

    XGBoost on one half, tested on the other, as in the paper. It splits once; here several random
    splits are made, and their mean and standard deviation reported. All listings of a graph are in
    the same half, since their features are alike.

    Args:
        benchmark: the table.
        features: a row for each architecture. Rows with NaN are left out.
        splits: how many random halves.
        seed: decides the splits.
    """
    if features.shape[:1] != (len(benchmark),):
        raise BenchError(f"features need {len(benchmark)} rows, not {features.shape}")
    figures = of_architectures(benchmark)
    usable = np.isfinite(features).all(axis=1) & (figures.runs > 0)
    flawed = figures.ok < figures.runs
    loss = figures.final_test
    good = usable & ~flawed & np.isfinite(loss)
    if good.sum() < 4:
        raise BenchError(
            f"{benchmark.title!r} has {int(good.sum())} trained architectures with features; "
            "prediction needs at least 4"
        )
    groups = np.unique(np.array(benchmark.graphs), return_inverse=True)[1]
    rngs = [np.random.default_rng([seed, number]) for number in range(splits)]
    areas = [_classify(features, flawed, groups, usable, rng) for rng in rngs]
    most, better = _better_ones(benchmark.metric, loss[good])
    low = good & (loss <= most)
    halves = [_regress(features, loss, groups, good, rng) for rng in rngs]
    low_halves = [_regress(features, loss, groups, low, rng) for rng in rngs]
    fits = [determination(loss[tested], found) for tested, found in halves]
    low_fits = [determination(loss[tested], found) for tested, found in low_halves]
    numbers = {
        "architectures": float(usable.sum()),
        "flawed": float((flawed & usable).sum()),
        **_spread("ROC AUC", areas),
        **_spread("R2", fits),
        **_spread(f"R2 {better}", low_fits),
    }
    tested, found = halves[0]
    rows = [
        (benchmark.names[number], benchmark.graphs[number], float(loss[number]), float(value))
        for number, value in zip(tested, found, strict=True)
    ]
    title = "Divergence and final test loss from features (Figure 8)"
    names = ("name", "graph", "true", "predicted")
    first = {
        which: (loss[tested], found, fit)
        for which, (tested, found), fit in (
            ("all", halves[0], fits[0]),
            (better, low_halves[0], low_fits[0]),
        )
    }
    of = benchmark.metric.loss_name
    return Prediction("prediction", title, numbers, names, tuple(rows), of, first)


def _better_ones(metric: Metric, losses: Floats) -> tuple[float, str]:
    """Up to which loss an architecture counts as one of the better ones, and how to say so."""
    if metric.axis_grows:
        return MOST_LOSS, f"up to {MOST_LOSS:g}"
    return float(np.median(losses)), "of the better half"


def _halves(
    groups: Integers, usable: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """The usable architectures in two halves, with every group in one of them."""
    present = np.unique(groups[usable])
    first = rng.permutation(present)[: (len(present) + 1) // 2]
    chosen = np.isin(groups, first)
    return np.flatnonzero(usable & chosen), np.flatnonzero(usable & ~chosen)


def _classify(
    features: Floats,
    flawed: NDArray[np.bool_],
    groups: Integers,
    usable: NDArray[np.bool_],
    rng: np.random.Generator,
) -> float:
    learned, tested = _halves(groups, usable, rng)
    if not 0 < flawed[learned].sum() < len(learned):
        return math.nan
    predict = fit_trees(features[learned], flawed[learned].astype(np.float64), classify=True)
    return roc_area(flawed[tested].astype(np.int64), predict(features[tested]))


def _regress(
    features: Floats,
    loss: Floats,
    groups: Integers,
    usable: NDArray[np.bool_],
    rng: np.random.Generator,
) -> tuple[Integers, Floats]:
    """The tested half and its predicted losses."""
    learned, tested = _halves(groups, usable, rng)
    if not len(learned) or not len(tested):
        return np.empty(0, np.int64), np.empty(0)
    return tested, fit_trees(features[learned], loss[learned])(features[tested])


def _spread(name: str, values: list[float]) -> dict[str, float]:
    known = np.array([value for value in values if math.isfinite(value)])
    if not len(known):
        return {name: math.nan}
    deviation = float(known.std(ddof=1)) if len(known) > 1 else math.nan
    return {name: float(known.mean()), f"{name}, deviation over splits": deviation}
