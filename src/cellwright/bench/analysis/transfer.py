"""Whether what is good on one corpus is good on another (Figure 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellwright.bench.analysis.finding import Finding
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats
from cellwright.bench.errors import BenchError
from cellwright.bench.statistics import correlations, intervals
from cellwright.bench.summary import of_architectures


@dataclass(frozen=True, eq=False)
class Transfer(Finding):
    """The losses of both benchmarks, and what each of them is."""

    losses: tuple[Floats, Floats]
    labels: tuple[str, str]


def transfer(one: Benchmark, other: Benchmark) -> Transfer:
    """The correlation of the best test losses of the graphs that two benchmarks share.

    Where a benchmark lists a graph several times, the mean over the listings counts. Graphs that
    diverged in one of the two are left out, as in the paper. The ends of intervals (95 %) are from
    drawing the graphs anew.
    """
    losses = _by_graph(one), _by_graph(other)
    shared = [graph for graph in losses[0] if graph in losses[1]]
    if len(shared) < 3:
        raise BenchError(
            f"{one.title!r} and {other.title!r} share {len(shared)} graphs that ended well in "
            "both; at least three are needed"
        )
    a, b = (np.array([found[graph] for graph in shared]) for found in losses)
    bounds = intervals(a, b)
    found = {
        name: value
        for kind, middle in correlations(a, b).items()
        for name, value in zip(_ends(kind), (middle, *bounds[kind]), strict=True)
    }
    names = one.corpus or one.title, other.corpus or other.title
    if names[0] == names[1]:  # trained in two ways
        names = one.title, other.title
    if names[0] == names[1]:
        names = f"{names[0]} (first)", f"{names[1]} (second)"
    rows = [
        (graph, one.names[one.by_graph[graph][0]], other.names[other.by_graph[graph][0]], x, y)
        for graph, x, y in zip(shared, a.tolist(), b.tolist(), strict=True)
    ]
    return Transfer(
        "transfer",
        f"Test losses on {names[0]} and {names[1]} (Figure 6)",
        {"shared graphs": float(len(shared)), **found},
        ("graph", "name", "other_name", "test_loss", "other_test_loss"),
        tuple(rows),
        (a, b),
        (f"test {one.metric.loss_name}, {names[0]}", f"test {other.metric.loss_name}, {names[1]}"),
    )


def _ends(kind: str) -> tuple[str, str, str]:
    return kind, f"{kind}, lower end", f"{kind}, upper end"


def _by_graph(benchmark: Benchmark) -> dict[str, float]:
    losses = of_architectures(benchmark).lowest_test
    return {
        graph: float(np.mean(found))
        for graph, numbers in benchmark.by_graph.items()
        if len(found := losses[numbers][np.isfinite(losses[numbers])])
    }
