"""How different the architectures are: graph edit distances of random pairs (Figure 7)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellwright.base.optional import require
from cellwright.bench.analysis.finding import Finding
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats
from cellwright.bench.errors import BenchError
from cellwright.cell import Cell

Watch = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Distances(Finding):
    """The bounds of the distances, and the seconds that each had."""

    bounds: Floats
    seconds: float


def distances(
    benchmark: Benchmark,
    *,
    pairs: int = 1000,
    seconds: float = 0.1,
    seed: int = 0,
    watch: Watch | None = None,
) -> Distances:
    """Upper bounds of the graph edit distance between random pairs of architectures.

    As in the paper, networkx improves its approximation of each distance until the time is over.
    What is found in that time depends on the machine; a distance that is proven to be the smallest
    does not, and the table tells which those are.

    Args:
        benchmark: the table.
        pairs: how many; fewer where there are not so many.
        seconds: for each pair.
        seed: decides which pairs.
        watch: called with how many pairs are done, and how many there are.
    """
    if len(benchmark) < 2:
        raise BenchError(f"{benchmark.title!r} has fewer than two architectures to compare")
    if pairs < 1 or not seconds > 0:
        raise BenchError("distances need at least one pair, and more than 0 seconds for each")
    chosen = _pairs(len(benchmark), pairs, np.random.default_rng(seed))
    graphs: dict[int, Any] = {}
    rows = []
    for done, (i, j) in enumerate(chosen, 1):
        for number in (i, j):
            if number not in graphs:
                graphs[number] = graph_of(benchmark.cell(number))
        bound, exact = edit_distance(graphs[i], graphs[j], seconds)
        rows.append((benchmark.names[i], benchmark.names[j], bound, exact))
        if watch is not None:
            watch(done, len(chosen))
    bounds = np.array([row[2] for row in rows])
    numbers = {
        "pairs": float(len(rows)),
        "proven": float(sum(row[3] for row in rows)),
        "mean": float(bounds.mean()),
        "median": float(np.median(bounds)),
        "smallest": float(bounds.min()),
        "largest": float(bounds.max()),
    }
    title = "Graph edit distances of random pairs (Figure 7)"
    names = ("first", "second", "distance", "proven")
    return Distances("distances", title, numbers, names, tuple(rows), bounds, seconds)


def _pairs(count: int, wanted: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Different pairs of different numbers, drawn at random."""
    if wanted >= count * (count - 1) // 2:
        return [(i, j) for i in range(count) for j in range(i + 1, count)]
    found: dict[tuple[int, int], None] = {}
    while len(found) < wanted:
        i, j = sorted(rng.integers(count, size=2).tolist())
        if i != j:
            found[i, j] = None
    return list(found)


def graph_of(cell: Cell) -> Any:
    """The cell as an attributed graph of networkx.

    Nodes say their operation, the inputs x, h0, … which one they are; edges say which argument
    they are where that matters, as the paper's Figure 2 tells apart the edges into a blend.
    """
    networkx = require("networkx", "a graph edit distance")
    graph = networkx.DiGraph()
    for name in cell.inputs:
        graph.add_node(name, op=name)
    for node in cell.nodes:
        graph.add_node(node.name, op=node.op)
        for place, source in enumerate(node.inputs):
            role = place if not node.spec.commutative else 0
            if graph.has_edge(source, node.name):
                graph.edges[source, node.name]["roles"] += (role,)
            else:
                graph.add_edge(source, node.name, roles=(role,))
    return graph


def edit_distance(one: Any, other: Any, seconds: float) -> tuple[float, bool]:
    """An upper bound of the edit distance of two graphs, and whether it is the distance itself.

    The first approximation is always waited for, however short the time.
    """
    networkx = require("networkx", "a graph edit distance")
    matching = {
        "node_match": lambda a, b: a["op"] == b["op"],
        "edge_match": lambda a, b: a["roles"] == b["roles"],
    }
    start = time.perf_counter()
    found = networkx.graph_edit_distance(one, other, timeout=seconds, **matching)
    if found is None:
        first = next(networkx.optimize_graph_edit_distance(one, other, **matching))
        return float(first), False
    return float(found), time.perf_counter() - start < seconds
