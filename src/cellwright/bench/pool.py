"""A benchmark's cells as a search space, so that methods choose among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats
from cellwright.bench.errors import BenchError
from cellwright.spaces import Pool

if TYPE_CHECKING:
    from cellwright.search.blackbox.features import Graph2Vec


def pool_of(benchmark: Benchmark, features: Floats | None = None, distance: str = "cosine") -> Pool:
    """The distinct graphs of a table that were trained, as a space.

    Of several listings of a graph the first that was trained stands for all.

    Args:
        benchmark: the table.
        features: a row for each architecture; architectures without any are left out.
        distance: what nearest means, `"cosine"` as in the release, or `"euclidean"`.
    """
    numbers = trained(benchmark, features)
    cells = [benchmark.cell(number) for number in numbers]
    return Pool(cells, None if features is None else features[numbers], distance)


def embedding(benchmark: Benchmark, dimensions: int = 10, *, seed: int = 0) -> Graph2Vec:
    """graph2vec of all cells of a table: its `features` have a row for each architecture.

    It also embeds cells that the table does not have, into the same space.

    Args:
        benchmark: the table.
        dimensions: of a vector; 10 and 50 in the paper.
        seed: decides everything.
    """
    from cellwright.search.blackbox.features import Graph2Vec

    cells = [benchmark.cell(number) for number in range(len(benchmark))]
    return Graph2Vec(cells, dimensions, seed=seed)


def trained(benchmark: Benchmark, features: Floats | None = None) -> list[int]:
    """The first trained listing of each graph; only those with features, where these are given."""
    usable = np.diff(benchmark.first_run) > 0
    if features is not None:
        if features.ndim != 2 or len(features) != len(benchmark):
            raise BenchError(f"features need {len(benchmark)} rows, not the shape {features.shape}")
        usable &= np.isfinite(features).all(axis=1)
    found = [
        next(iter(good))
        for numbers in benchmark.by_graph.values()
        if (good := [number for number in numbers if usable[number]])
    ]
    if not found:
        what = "trained architectures" + ("" if features is None else " with features")
        raise BenchError(f"{benchmark.title!r} has no {what}")
    return sorted(found)
