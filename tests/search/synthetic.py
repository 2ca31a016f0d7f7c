"""A pool of cells with features that need no package."""

from __future__ import annotations

import numpy as np

from cellwright import Cell
from cellwright.spaces import Pool, Space


def plain_pool(space: Space, cells: int) -> Pool:
    """Different cells with features that need no package: how often each operation occurs."""
    rng = np.random.default_rng(0)
    found: dict[str, Cell] = {}
    while len(found) < cells:
        cell = space.sample(rng)
        found[cell.id] = cell
    ops = ("tanh", "relu", "sigmoid", "identity")
    features = [
        [*(sum(node.op == op for node in cell.nodes) for op in ops), cell.depth]
        for cell in found.values()
    ]
    return Pool(list(found.values()), features)
