"""The spaces of DARTS (Liu et al. 2019) and of I-DARTS: what their derived cells look like."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np

from cellwright.cell import Cell, CellError
from cellwright.cell.listings import DartsListing
from cellwright.cell.listings._graph import ACTIVATIONS
from cellwright.cell.listings.darts import EDGES, OPERATIONS, Edge, lift, lower
from cellwright.spaces.settings import check_count, check_word, check_words
from cellwright.spaces.space import ProductSpace, Space, Value, different, pick, require
from cellwright.spaces.trees import coloured_forests


@dataclass(frozen=True)
class Darts(ProductSpace):
    """Each node has one edge from an earlier node; h(t) is the mean of all nodes but node 0.

    >>> Darts().size() == 4**8 * 40320, Darts(nodes=3, operations=["tanh", "relu"]).distinct_size()
    (True, 26)

    Args:
        nodes: how many follow node 0.
        operations: what an edge may do. `none` belongs to the search, not to a derived cell,
            but may be given.
        edges: `"highway"` as DARTS' own code has them, or `"plain"` as the papers write them.
    """

    name: ClassVar[str] = "darts"

    nodes: int = 8
    operations: tuple[str, ...] = ACTIVATIONS
    edges: str = "highway"

    def __post_init__(self) -> None:
        check_count(self.title, "nodes", self.nodes)
        words = check_words(self.title, "operations", self.operations, OPERATIONS)
        object.__setattr__(self, "operations", words)
        check_word(self.title, "edges", self.edges, EDGES)

    @cached_property
    def _choices(self) -> dict[str, tuple[Value, ...]]:
        return intra_choices(self.nodes, self.operations)

    def choices(self) -> Mapping[str, tuple[Value, ...]]:
        return self._choices

    def decode(self, values: Mapping[str, Any]) -> Cell:
        return lower(intra_listing(values, self.nodes, self.edges))

    def _encode(self, cell: Cell) -> dict[str, Value]:
        return intra_values(lift(cell), self.nodes, self.edges)

    def distinct_size(self) -> int:
        return coloured_forests(self.nodes, len(self.operations))


def intra_choices(nodes: int, operations: tuple[str, ...]) -> dict[str, tuple[Value, ...]]:
    """The choices of a cell with one edge into each node."""
    found: dict[str, tuple[Value, ...]] = {}
    for number in range(1, nodes + 1):
        found[f"from_{number}"] = tuple(range(number))
        found[f"op_{number}"] = operations
    return found


def intra_listing(values: Mapping[str, Any], nodes: int, edges: str) -> DartsListing:
    """The listing of one value for each choice."""
    chosen = [(values[f"op_{i}"], values[f"from_{i}"]) for i in range(1, nodes + 1)]
    return DartsListing.of(chosen, edges=edges)


def intra_values(listing: DartsListing, nodes: int, edges: str) -> dict[str, Value]:
    """The value of each choice in a listing that has one edge into each of `nodes` nodes."""
    check_shape(listing, nodes, edges, 1)
    values: dict[str, Value] = {}
    for number, ((op, source),) in enumerate(listing.nodes, 1):
        values |= {f"from_{number}": source, f"op_{number}": op}
    return values


def check_shape(listing: DartsListing, nodes: int, edges: str, edges_per_node: int) -> None:
    """Raise a `CellError` unless a listing has the shape of a space's cells."""
    if len(listing.nodes) != nodes:
        raise CellError(f"the cell has {len(listing.nodes)} nodes, the space's have {nodes}")
    if listing.edges != edges:
        raise CellError(f"the cell's edges are {listing.edges!r}, the space's are {edges!r}")
    if sorted(listing.concat) != list(range(1, nodes + 1)):
        raise CellError("the cell's output is not the mean of all nodes but node 0")
    for number, found in enumerate(listing.nodes, 1):
        if len(found) != edges_per_node:
            raise CellError(f"node {number} has {len(found)} edges, not {edges_per_node}")


@dataclass(frozen=True)
class IDarts(Space):
    """Each node has the same number of edges, any of them from any earlier node.

    I-DARTS compares all edges into a node in one softmax and keeps the best n (section 2.2), so
    two of them may join the same two nodes with different operations.

    >>> IDarts(nodes=2, operations=["tanh", "relu"], edges_per_node=2).size()
    6

    Args:
        nodes: how many follow node 0.
        operations: what an edge may do.
        edges: `"plain"` as the paper writes them (Eq. 1), or `"highway"` as DARTS' code has them.
        edges_per_node: n. At most as many as there are operations, so that node 1, which has
            one predecessor, can have as many as the others.
    """

    name: ClassVar[str] = "i-darts"

    nodes: int = 8
    operations: tuple[str, ...] = ACTIVATIONS
    edges: str = "plain"
    edges_per_node: int = 2

    def __post_init__(self) -> None:
        check_count(self.title, "nodes", self.nodes)
        words = check_words(self.title, "operations", self.operations, OPERATIONS)
        object.__setattr__(self, "operations", words)
        check_word(self.title, "edges", self.edges, EDGES)
        check_count(self.title, "edges_per_node", self.edges_per_node, 1, len(words))

    def _edges_into(self, number: int) -> list[Edge]:
        return list(product(self.operations, range(number)))

    def sample(self, rng: np.random.Generator) -> Cell:
        """Each listing is as likely as every other: the edges of a node are drawn as a set."""
        nodes = []
        for number in range(1, self.nodes + 1):
            edges = self._edges_into(number)
            chosen = rng.choice(len(edges), self.edges_per_node, replace=False)
            nodes.append([edges[i] for i in sorted(chosen)])
        return lower(DartsListing.of(nodes, edges=self.edges))

    def mutate(self, cell: Cell, rng: np.random.Generator) -> Cell:
        """One edge's operation or one edge's source changes (Real et al. 2019, section 3.2)."""
        require(self, cell)
        nodes = [list(edges) for edges in lift(cell).nodes]

        def change() -> Cell | None:
            number = int(rng.integers(self.nodes))
            place = int(rng.integers(self.edges_per_node))
            part = int(rng.integers(2))
            old = nodes[number][place]
            others = [
                edge
                for edge in self._edges_into(number + 1)
                if edge[1 - part] == old[1 - part] and edge not in nodes[number]
            ]
            if not others:
                return None
            new = [*nodes]
            new[number] = [*nodes[number]]
            new[number][place] = pick(others, rng)
            return lower(DartsListing.of(new, edges=self.edges))

        return different(cell, change, self)

    def contains(self, cell: Cell) -> bool:
        try:
            listing = lift(cell)
            check_shape(listing, self.nodes, self.edges, self.edges_per_node)
        except CellError:
            return False
        return all(op in self.operations for edges in listing.nodes for op, _ in edges)

    def size(self) -> int:
        return math.prod(
            math.comb(number * len(self.operations), self.edges_per_node)
            for number in range(1, self.nodes + 1)
        )
