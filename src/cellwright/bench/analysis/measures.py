"""Parameters, training time and test results of the architectures (Figure 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellwright.bench.analysis.finding import Finding
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats
from cellwright.bench.errors import BenchError
from cellwright.bench.statistics import correlations, positions
from cellwright.bench.summary import of_architectures
from cellwright.cell.zoo import zoo
from cellwright.tasks.metric import Metric

BASELINES = {"RNN": "nbnlp-rnn", "LSTM": "nbnlp-lstm", "GRU": "nbnlp-gru"}
"""The three architectures that the paper adds by hand and marks in its figures."""


@dataclass(frozen=True, eq=False)
class Measures(Finding):
    """Three numbers of each architecture, and which of them are baselines.

    Args:
        metric: of the table.
        values: the best value of the metric on the test data.
        seconds: the wall time.
        parameters: how many there are.
        marked: the places of the baselines, by name.
    """

    metric: Metric
    values: Floats
    seconds: Floats
    parameters: Floats
    marked: Mapping[str, int]


def measures(benchmark: Benchmark) -> Measures:
    """How parameters, wall time and the best test result go together, and its distribution.

    As in the paper: architectures that diverged are left out, and an architecture's result is the
    best on the test set of all epochs. Of several runs the mean of the losses is taken.
    """
    figures, metric = of_architectures(benchmark), benchmark.metric
    every = np.array([metric.value(loss) for loss in figures.lowest_test.tolist()], np.float64)
    kept = np.flatnonzero(np.isfinite(every))
    if not len(kept):
        raise BenchError(f"{benchmark.title!r} has no run that ended well with a test loss")
    loss, values = figures.lowest_test[kept], every[kept]
    seconds, parameters = figures.seconds[kept], figures.parameters[kept].astype(np.float64)
    marked = _baselines(benchmark, kept)
    ranks = positions(loss) + 1
    pairs = {
        f"parameters, {metric.name}": (parameters, values),
        f"time, {metric.name}": (seconds, values),
        "parameters, time": (parameters, seconds),
    }
    numbers = {
        "architectures": float(len(kept)),
        **{
            f"{kind} of {name}": value
            for name, pair in pairs.items()
            for kind, value in correlations(*pair).items()
            if kind != "kendall"
        },
        **{f"rank of {name}": float(ranks[place]) for name, place in marked.items()},
    }
    names = ("name", "graph", "parameters", "seconds", "test_loss", "test_value", "rank")
    rows = zip(
        [benchmark.names[n] for n in kept], [benchmark.graphs[n] for n in kept],
        figures.parameters[kept].tolist(), seconds.tolist(), loss.tolist(), values.tolist(),
        ranks.tolist(), strict=True,
    )  # fmt: skip
    title = f"Parameters, time and test {metric.name} (Figure 4)"
    return Measures(
        "measures", title, numbers, names, tuple(rows), metric, values, seconds, parameters, marked
    )


def _baselines(benchmark: Benchmark, kept: Any) -> dict[str, int]:
    """Where the three baselines stand among the architectures that are kept."""
    places = {int(number): place for place, number in enumerate(kept)}
    found = {}
    for name, own in BASELINES.items():
        for number in benchmark.by_graph.get(zoo[own].id, []):
            if number in places:
                found[name] = places[number]
                break
    return found
