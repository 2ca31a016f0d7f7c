"""The space of ENAS (Pham et al. 2018), as ENAS-pairs uses it (section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from cellwright.cell import Cell
from cellwright.cell.listings import EnasListing
from cellwright.cell.listings.enas import OPERATIONS, lift, lower
from cellwright.spaces.settings import check_count, check_flag, check_words
from cellwright.spaces.space import ProductSpace, Value
from cellwright.spaces.trees import coloured_trees


@dataclass(frozen=True)
class Enas(ProductSpace):
    """Highway nodes, each over one earlier node; h(t) is the mean of the loose ends.

    >>> Enas(nodes=6).size(), Enas(nodes=6).distinct_size()
    (491520, 50512)

    Args:
        nodes: how many, node 0 over x and h included. 12 for language models, 6 in ENAS-pairs.
        operations: what a node may do.
        keys: whether the cells name their weights, so that all of them can share one bank.
    """

    name: ClassVar[str] = "enas"

    nodes: int = 12
    operations: tuple[str, ...] = OPERATIONS
    keys: bool = False

    def __post_init__(self) -> None:
        check_count(self.title, "nodes", self.nodes)
        words = check_words(self.title, "operations", self.operations, OPERATIONS)
        object.__setattr__(self, "operations", words)
        check_flag(self.title, "keys", self.keys)

    @cached_property
    def _choices(self) -> dict[str, tuple[Value, ...]]:
        found: dict[str, tuple[Value, ...]] = {"op_0": self.operations}
        for number in range(1, self.nodes):
            found[f"from_{number}"] = tuple(range(number))
            found[f"op_{number}"] = self.operations
        return found

    def choices(self) -> Mapping[str, tuple[Value, ...]]:
        return self._choices

    def decode(self, values: Mapping[str, Any]) -> Cell:
        later = tuple((values[f"from_{i}"], values[f"op_{i}"]) for i in range(1, self.nodes))
        return lower(EnasListing(values["op_0"], later), keys=self.keys)

    def _encode(self, cell: Cell) -> dict[str, Value]:
        listing = lift(cell)
        values: dict[str, Value] = {"op_0": listing.first}
        for number, (source, op) in enumerate(listing.later, 1):
            values |= {f"from_{number}": source, f"op_{number}": op}
        return values

    def distinct_size(self) -> int:
        return coloured_trees(self.nodes, len(self.operations))
