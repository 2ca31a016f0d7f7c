"""The space of all cells up to a size: those of the other spaces, of the zoo, and their changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from cellwright.cell import Cell
from cellwright.cell.measure import multiply_adds
from cellwright.cell.mutation import mutated
from cellwright.spaces.darts import IDarts
from cellwright.spaces.enas import Enas
from cellwright.spaces.ess import Ess
from cellwright.spaces.fenas import Fenas
from cellwright.spaces.nas_bench_nlp import NasBenchNlp
from cellwright.spaces.settings import check_count, check_words
from cellwright.spaces.space import Space, SpaceError, different, pick, require

_DRAWS = 200

SOURCES: dict[str, Space] = {
    "enas": Enas(nodes=6),
    "i-darts": IDarts(nodes=5, edges="highway", edges_per_node=1),
    "fenas": Fenas(),
    "nas-bench-nlp": NasBenchNlp(),
    "ess": Ess(nodes=5, m=2, edges="highway"),
}
"""What a new cell may be drawn from."""


@dataclass(frozen=True)
class AnyCell(Space):
    """Every finished cell of at most so many matrices and nodes.

    A new cell is drawn from one of the other spaces; a change (`cell.mutation`) knows no shapes:
    functions, edges, new activations and gates, nodes that go.

    >>> "lstm" in AnyCell().known(), "enas" in AnyCell().known()
    (True, False)

    Args:
        matrices: the most matrix products of a cell in a step; an LSTM has 8, `darts-v1` 18.
        nodes: the most operations.
        sources: the spaces that new cells are drawn from, each as often.
    """

    name: ClassVar[str] = "any"

    matrices: int = 20
    nodes: int = 80
    sources: tuple[str, ...] = tuple(SOURCES)

    def __post_init__(self) -> None:
        check_count(self.title, "matrices", self.matrices, 1, 1000)
        check_count(self.title, "nodes", self.nodes, 2, 1000)
        words = check_words(self.title, "sources", self.sources, tuple(SOURCES))
        object.__setattr__(self, "sources", words)

    @cached_property
    def _spaces(self) -> list[Space]:
        return [SOURCES[name] for name in self.sources]

    def sample(self, rng: np.random.Generator) -> Cell:
        for _ in range(_DRAWS):
            cell = pick(self._spaces, rng).sample(rng).simplified()
            if self.contains(cell):
                return cell
        raise SpaceError(
            f"{self.title}: {_DRAWS} cells of {', '.join(self.sources)} were all larger than "
            f"{self.matrices} matrices and {self.nodes} nodes; let it have more"
        )

    def mutate(self, cell: Cell, rng: np.random.Generator) -> Cell:
        require(self, cell)

        def draw() -> Cell | None:
            child = mutated(cell, rng)
            return child if child is not None and self.contains(child) else None

        return different(cell, draw, self)

    def contains(self, cell: Cell) -> bool:
        small = len(cell.nodes) <= self.nodes and multiply_adds(cell, 1, 1) <= self.matrices
        return small and not cell.is_supernet and not cell.needs_equal_widths
