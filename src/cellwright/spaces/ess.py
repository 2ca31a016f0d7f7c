"""The space of ESS (Li et al. 2020): a DARTS cell inside, gates over the last steps around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from cellwright.cell import Cell, CellError
from cellwright.cell.listings import EssListing
from cellwright.cell.listings._graph import ACTIVATIONS
from cellwright.cell.listings.darts import EDGES, OPERATIONS
from cellwright.cell.listings.ess import GATE_OPERATIONS, lift, lower
from cellwright.cell.names import MAX_HISTORY
from cellwright.spaces.darts import intra_choices, intra_listing, intra_values
from cellwright.spaces.settings import check_count, check_word, check_words
from cellwright.spaces.space import ProductSpace, Value
from cellwright.spaces.trees import coloured_forests


@dataclass(frozen=True)
class Ess(ProductSpace):
    """A DARTS cell over ĥ and x̂, which gates over the last m steps make of h(t−1) and x(t).

    >>> Ess(nodes=2, m=1).size() == (4 * 8) * 5**2
    True

    Args:
        nodes: how many follow node 0 inside the cell: 8 on Penn Treebank, 12 on WikiText-103.
        m: how many steps back the gates look: 3 on Penn Treebank, 5 on WikiText-103.
        operations: what an edge inside the cell may do.
        gate_operations: what a gate node may do; `drop` unlinks it.
        edges: `"plain"` as the paper writes them (Eq. 4), or `"highway"`.
    """

    name: ClassVar[str] = "ess"

    nodes: int = 8
    m: int = 3
    operations: tuple[str, ...] = ACTIVATIONS
    gate_operations: tuple[str, ...] = GATE_OPERATIONS
    edges: str = "plain"

    def __post_init__(self) -> None:
        check_count(self.title, "nodes", self.nodes)
        check_count(self.title, "m", self.m, 1, MAX_HISTORY)
        words = check_words(self.title, "operations", self.operations, OPERATIONS)
        object.__setattr__(self, "operations", words)
        gate = check_words(self.title, "gate_operations", self.gate_operations, GATE_OPERATIONS)
        object.__setattr__(self, "gate_operations", gate)
        check_word(self.title, "edges", self.edges, EDGES)

    @cached_property
    def _choices(self) -> dict[str, tuple[Value, ...]]:
        gates = {f"{gate}_{i}": self.gate_operations for gate in "fg" for i in self._steps}
        return {**intra_choices(self.nodes, self.operations), **gates}

    @property
    def _steps(self) -> range:
        return range(1, self.m + 1)

    def choices(self) -> Mapping[str, tuple[Value, ...]]:
        return self._choices

    def decode(self, values: Mapping[str, Any]) -> Cell:
        intra = intra_listing(values, self.nodes, self.edges)
        f_gate, g_gate = (tuple(values[f"{gate}_{i}"] for i in self._steps) for gate in "fg")
        return lower(EssListing(intra, f_gate, g_gate))

    def _encode(self, cell: Cell) -> dict[str, Value]:
        listing = lift(cell)
        if listing.f_gate is None or listing.g_gate is None or listing.m != self.m:
            raise CellError(f"the cell's two gates do not both look back {self.m} steps")
        if listing.f_alpha is not None or listing.g_alpha is not None:
            raise CellError("the cell has an operation on the other side of a gate")
        values = intra_values(listing.intra, self.nodes, self.edges)
        for gate, operations in (("f", listing.f_gate), ("g", listing.g_gate)):
            values |= {f"{gate}_{i}": op for i, op in enumerate(operations, 1)}
        return values

    def distinct_size(self) -> int:
        inside = coloured_forests(self.nodes, len(self.operations))
        return int(inside * len(self.gate_operations) ** (2 * self.m))
