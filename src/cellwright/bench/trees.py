"""Boosted trees (XGBoost), with the few settings that benchmarks need."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cellwright.base.optional import require
from cellwright.bench.columns import Floats

_MANY = 10_000
"""With fewer examples, threads wait for each other longer than they work."""

Predict = Callable[[Floats], Floats]


def fit_trees(
    features: Floats,
    target: Floats,
    *,
    classify: bool = False,
    rounds: int = 100,
    depth: int = 6,
    rate: float = 0.3,
    seed: int = 0,
) -> Predict:
    """Learn a target from features; a function that predicts it for others.

    The settings are XGBoost's own defaults, since the paper names none for its analysis. The
    library is called without its wrapper for scikit-learn, which would need that package as well.

    Args:
        features: a row for each example.
        target: a number for each; for `classify` 0 or 1, and probabilities are predicted.
        classify: whether the target is a class.
        rounds: the number of trees.
        depth: of each tree.
        rate: how much of each tree counts.
        seed: for the library, which draws nothing with these settings.
    """
    xgboost = require("xgboost", "a prediction from features")
    threads = 1 if len(features) < _MANY else 0
    settings = {
        "objective": "binary:logistic" if classify else "reg:squarederror",
        "max_depth": depth,
        "eta": rate,
        "seed": seed,
        "verbosity": 0,
        "nthread": threads,
    }
    data = xgboost.DMatrix(features, target, nthread=threads or None)
    trees = xgboost.train(settings, data, num_boost_round=rounds)

    def predict(others: Floats) -> Floats:
        rows = xgboost.DMatrix(others, nthread=threads or None)
        return np.asarray(trees.predict(rows), np.float64)

    return predict
