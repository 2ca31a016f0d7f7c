"""A surrogate: what an architecture's training would record, learned from those in the table.

Boosted trees (XGBoost) predict from features of the graph, and from the beginning of the learning
curve where that is known. A curve is predicted as a whole: the curves of the table are summed up
in a few principal components, and the trees predict how much of each there is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellwright.base.optional import require
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats, Integers
from cellwright.bench.errors import BenchError
from cellwright.bench.runs import Run
from cellwright.bench.statistics import determination, roc_area
from cellwright.bench.trees import Predict, fit_trees

_LOSSES = ("train", "valid", "test")
_FEWEST = 10
_LIKELY = 0.5
_fit_trees = partial(fit_trees, rounds=100, depth=3, rate=0.1)
"""Shallow and slow: on the release's logs better at every prefix than XGBoost's defaults."""


class Examples(NamedTuple):
    """The runs that a surrogate can learn from, one row for each.

    Args:
        inputs: features, and the first validation losses.
        curves: the three losses of every epoch side by side; NaN for runs that did not end well.
        pace: the logarithm of the seconds for an epoch.
        diverged: whether the run did.
        length: its epochs.
        group: the graph's number; equal graphs must not be learned from and tested on.
    """

    inputs: Floats
    curves: Floats
    pace: Floats
    diverged: NDArray[np.bool_]
    length: Integers
    group: Integers

    def at(self, rows: Integers | NDArray[np.bool_]) -> Examples:
        """Some of the rows."""
        return Examples(
            self.inputs[rows],
            self.curves[rows],
            self.pace[rows],
            self.diverged[rows],
            self.length[rows],
            self.group[rows],
        )

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which runs have finite losses in all epochs."""
        return np.asarray(np.isfinite(self.curves).all(axis=1))


@dataclass(frozen=True)
class Surrogate:
    """Predicts runs. Made by `fit_surrogate`.

    Args:
        prefix: how many epochs of the validation curve it is told.
        epochs: how many it predicts.
        width: how many features it is told.
        ceiling: the highest final validation loss of the table.
        mean: the mean of the table's curves, less the last loss that the surrogate is told.
        components: the principal components of the curves.
        amounts: predicts the amount of each component.
        pace: predicts the logarithm of the seconds for an epoch.
        diverges: predicts how likely the run diverges; None where none of the table did.
        diverged_epochs: after how many epochs the table's diverged runs ended, in the median.
    """

    prefix: int
    epochs: int
    width: int
    ceiling: float
    mean: Floats
    components: Floats
    amounts: tuple[Predict, ...]
    pace: Predict
    diverges: Predict | None
    diverged_epochs: int

    def predict(self, features: Floats, beginning: Sequence[float] = ()) -> Run:
        """The run of an architecture that the table does not have.

        Args:
            features: of its graph.
            beginning: the validation losses of its first epochs, `prefix` of them.
        """
        given = np.asarray(beginning, np.float64)
        if np.shape(features) != (self.width,) or given.shape != (self.prefix,):
            raise BenchError(
                f"the surrogate needs {self.width} features and {self.prefix} losses, "
                f"not {np.shape(features)} and {given.shape}"
            )
        row = np.concatenate([features, given])[None]
        if not np.isfinite(row).all():
            return self._diverged(row, max(self.prefix, 1))
        if self.likely_to_diverge(row)[0] > _LIKELY:
            return self._diverged(row, max(self.diverged_epochs, self.prefix, 1))
        losses = self.curves(row)[0].reshape(len(_LOSSES), self.epochs)
        train, valid, test = losses
        valid[: self.prefix] = given
        return Run(valid, test, train, self._seconds(row, self.epochs), message="predicted")

    def curves(self, rows: Floats) -> Floats:
        """The predicted losses of every epoch, train, valid and test side by side."""
        amounts = np.stack([predict(rows) for predict in self.amounts], axis=1)
        known = _known(rows, self.prefix, self.ceiling)
        return np.asarray(known + self.mean + amounts @ self.components)

    def likely_to_diverge(self, rows: Floats) -> Floats:
        """How likely each run diverges."""
        return np.zeros(len(rows)) if self.diverges is None else self.diverges(rows)

    def _seconds(self, row: Floats, epochs: int) -> Floats:
        return np.full(epochs, math.exp(float(self.pace(row[:, : self.width])[0])))

    def _diverged(self, row: Floats, epochs: int) -> Run:
        losses = np.full((len(_LOSSES), epochs), np.nan)
        seconds = self._seconds(row, epochs)
        train, valid, test = losses
        return Run(valid, test, train, seconds, status="diverged", message="predicted")


def examples(benchmark: Benchmark, features: Floats, prefix: int = 0) -> Examples:
    """The runs that have features and at least `prefix` epochs.

    Args:
        benchmark: the table.
        features: a row for each architecture; rows with NaN are left out.
        prefix: how many validation losses are among the inputs.
    """
    if features.ndim != 2 or len(features) != len(benchmark):
        raise BenchError(f"features need {len(benchmark)} rows, not the shape {features.shape}")
    length = np.diff(benchmark.first_epoch)
    epochs = benchmark.most_epochs
    if not 0 <= prefix < max(epochs, 1):
        raise BenchError(f"the beginning of a curve has 0 to {epochs - 1} epochs, not {prefix}")
    valid = benchmark.curves("valid")
    inputs = np.concatenate([features[benchmark.architecture_of], valid[:, :prefix]], axis=1)
    curves = np.concatenate([benchmark.curves(name) for name in _LOSSES], axis=1)
    curves[~benchmark.has_status("ok")] = np.nan
    seconds = benchmark.curves("seconds")
    with np.errstate(divide="ignore", invalid="ignore"):
        pace = np.log(np.nansum(seconds, axis=1) / length)
    group = np.unique(np.array(benchmark.graphs), return_inverse=True)[1]
    found = Examples(
        inputs,
        curves,
        pace,
        benchmark.has_status("diverged"),
        length,
        group[benchmark.architecture_of],
    )
    return found.at(np.isfinite(inputs).all(axis=1) & np.isfinite(pace))


def fit_surrogate(
    benchmark: Benchmark, features: Floats, *, prefix: int = 0, components: int = 4
) -> Surrogate:
    """Learn a surrogate from a table.

    Args:
        benchmark: the table.
        features: a row for each architecture, such as graph2vec's; rows with NaN are left out.
        prefix: how many epochs of the validation curve it will be told.
        components: how many principal components sum up the curves.
    """
    return _fit(examples(benchmark, features, prefix), features.shape[1], prefix, components)


def _fit(found: Examples, width: int, prefix: int, components: int) -> Surrogate:
    complete = found.at(found.complete)
    if len(complete.inputs) < _FEWEST:
        raise BenchError(
            f"a surrogate needs at least {_FEWEST} complete runs with features, "
            f"not {len(complete.inputs)}"
        )
    epochs = found.curves.shape[1] // len(_LOSSES)
    ceiling = float(complete.curves[:, 2 * epochs - 1].max())
    changes = complete.curves - _known(complete.inputs, prefix, ceiling)
    mean = changes.mean(axis=0)
    _, _, directions = np.linalg.svd(changes - mean, full_matrices=False)
    directions = directions[: max(components, 1)]
    amounts = (changes - mean) @ directions.T
    ended = found.length[found.diverged]
    return Surrogate(
        prefix=prefix,
        epochs=epochs,
        width=width,
        ceiling=ceiling,
        mean=mean,
        components=directions,
        amounts=tuple(_fit_trees(complete.inputs, column) for column in amounts.T),
        pace=_fit_trees(found.inputs[:, :width], found.pace),
        diverges=(
            _fit_trees(found.inputs, found.diverged.astype(np.float64), classify=True)
            if len(ended)
            else None
        ),
        diverged_epochs=int(np.median(ended)) if len(ended) else 0,
    )


def _known(inputs: Floats, prefix: int, ceiling: float) -> Floats:
    """The last loss that is known of each run, from which the rest of its curve is predicted.

    Trees average what they have seen; predicting the change keeps what is known exactly. A loss
    that is worse than every final one counts as the worst: some begin far above all others, and
    end among them.
    """
    return np.minimum(inputs[:, -1:], ceiling) if prefix else np.zeros((len(inputs), 1))


class SurrogateError(NamedTuple):
    """How wrong a surrogate is about graphs that it has not seen.

    Args:
        runs: how many complete runs were predicted.
        r2: R² of the final validation loss.
        error: the mean absolute error of the final validation loss.
        test_error: the mean absolute error of the final test loss.
        spearman: the rank correlation of predicted and true final validation losses.
        pace_error: the mean absolute error of the time for an epoch, relative to the time.
        roc_auc: how well it knows which runs diverge; NaN where none or all do.
    """

    runs: int
    r2: float
    error: float
    test_error: float
    spearman: float
    pace_error: float
    roc_auc: float


def cross_validate(
    benchmark: Benchmark,
    features: Floats,
    *,
    prefix: int = 0,
    components: int = 4,
    folds: int = 5,
    seed: int = 0,
) -> SurrogateError:
    """The error of a surrogate on runs of graphs that it did not learn from.

    Args:
        benchmark: the table.
        features: as for `fit_surrogate`.
        prefix: as for `fit_surrogate`.
        components: as for `fit_surrogate`.
        folds: the graphs are dealt into so many parts; each is predicted from the others.
        seed: decides the deal.
    """
    found = examples(benchmark, features, prefix)
    graphs = np.unique(found.group)
    if not 2 <= folds <= len(graphs):
        raise BenchError(f"{len(graphs)} graphs with features cannot make {folds} folds")
    dealt = np.random.default_rng(seed).permutation(len(graphs)) % folds
    fold = dealt[np.searchsorted(graphs, found.group)]
    curves = np.full_like(found.curves, np.nan)
    pace, likely = np.empty(len(fold)), np.empty(len(fold))
    for number in range(folds):
        surrogate = _fit(found.at(fold != number), features.shape[1], prefix, components)
        rows = np.flatnonzero(fold == number)
        curves[rows] = surrogate.curves(found.inputs[rows])
        pace[rows] = surrogate.pace(found.inputs[rows, : features.shape[1]])
        likely[rows] = surrogate.likely_to_diverge(found.inputs[rows])
    complete = found.complete
    epochs = found.curves.shape[1] // len(_LOSSES)
    true, predicted = found.curves[complete], curves[complete]
    valid, test = 2 * epochs - 1, 3 * epochs - 1
    stats = require("scipy.stats", "a rank correlation", "metrics")
    return SurrogateError(
        runs=int(complete.sum()),
        r2=determination(true[:, valid], predicted[:, valid]),
        error=float(np.abs(true[:, valid] - predicted[:, valid]).mean()),
        test_error=float(np.abs(true[:, test] - predicted[:, test]).mean()),
        spearman=float(stats.spearmanr(true[:, valid], predicted[:, valid]).statistic),
        pace_error=float(np.abs(np.expm1(pace - found.pace)).mean()),
        roc_auc=roc_area(found.diverged.astype(np.int64), likely),
    )
