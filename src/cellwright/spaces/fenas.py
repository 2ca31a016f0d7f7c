"""The space of FENAS (Pasunuru and Bansal 2020, section 3.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import Any, ClassVar

import numpy as np

from cellwright.cell import Cell, CellError
from cellwright.cell.listings import FenasListing, FenasNode
from cellwright.cell.listings.fenas import FUNCTIONS, Source, lift, lower
from cellwright.cell.listings.published import FENAS_GRU, FENAS_LSTM
from cellwright.spaces.settings import LATER, check_count, check_flag, check_word, check_words
from cellwright.spaces.space import Space, SpaceError, Value, different, pick

Pair = tuple[Source, Source]

MUTATIONS = ("functions", "functions-and-edges")
"""What a mutation may change."""

_REVERSED = "sub-reversed"
"""In the form of choices: j − i, so that the first input never has to be zero."""


@dataclass(frozen=True)
class Fenas(Space):
    """Nodes of one or two inputs and many functions; contains LSTM and GRU.

    The LSTM needs 9 nodes and the memory, the GRU 10 nodes; `Fenas(nodes=10).known()` has both.

    >>> Fenas(nodes=1, memory=False).size()
    73

    Args:
        nodes: how many; 9 in the paper.
        memory: whether there is the third input c(t−1) and a chosen node is c(t).
        functions: what a node may compute; a star means no edge weights.
        mutation: what a mutation changes. `"functions"`, as section 3.2 says: "a simple random
            change in one of the computational node operation", so that all wirings are those of
            the first population; or `"functions-and-edges"`, as in Real et al. 2019, whom it
            follows: in half of the cases a node's input, or the node that is c(t), instead.
    """

    name: ClassVar[str] = "fenas"

    nodes: int = 9
    memory: bool = True
    functions: tuple[str, ...] = FUNCTIONS
    mutation: str = field(default="functions", metadata=LATER)

    def __post_init__(self) -> None:
        check_count(self.title, "nodes", self.nodes)
        check_flag(self.title, "memory", self.memory)
        words = check_words(self.title, "functions", self.functions, FUNCTIONS)
        object.__setattr__(self, "functions", words)
        check_word(self.title, "mutation", self.mutation, MUTATIONS)

    # -- what a node can be ------------------------------------------------------------

    def _sources(self, number: int) -> list[Source]:
        """What node `number` may read, but for zero."""
        return ["x", "h", *(["c"] if self.memory else []), *range(1, number)]

    @cached_property
    def _pairs(self) -> list[tuple[list[Pair], list[Pair]]]:
        """For each node its pairs of inputs: where order does not count, and for `sub`."""
        found: list[tuple[list[Pair], list[Pair]]] = []
        for number in range(1, self.nodes + 1):
            sources = self._sources(number)
            single: list[Pair] = [(source, "zero") for source in sources]
            free = [*combinations_with_replacement(sources, 2), *single]
            ordered = [*product(sources, sources), *single, *((j, i) for i, j in single)]
            found.append((free, ordered))
        return found

    def _inputs(self, number: int, function: str) -> list[Pair]:
        free, ordered = self._pairs[number - 1]
        return ordered if function == "sub" else free

    def size(self) -> int:
        """How many listings there are, where the order of a sum's inputs does not count."""
        nodes = math.prod(
            sum(len(self._inputs(number, function)) for function in self.functions)
            for number in range(1, self.nodes + 1)
        )
        return nodes * (self.nodes if self.memory else 1)

    def sample(self, rng: np.random.Generator) -> Cell:
        """Each listing is as likely as every other, as section 3.2 asks."""
        return lower(self.sample_listing(rng))

    def sample_listing(self, rng: np.random.Generator) -> FenasListing:
        """The listing of a sample."""
        nodes = []
        for number in range(1, self.nodes + 1):
            counts = [len(self._inputs(number, function)) for function in self.functions]
            index = int(rng.integers(sum(counts)))
            for function, count in zip(self.functions, counts, strict=True):
                if index < count:
                    nodes.append(FenasNode(function, *self._inputs(number, function)[index]))
                    break
                index -= count
        c = int(rng.integers(self.nodes)) + 1 if self.memory else None
        return FenasListing(tuple(nodes), c)

    # -- from a cell back to its nodes -------------------------------------------------

    def listing(self, cell: Cell, rng: np.random.Generator | None = None) -> FenasListing:
        """The cell's listing with this space's number of nodes; raises a `CellError` otherwise.

        tanh(i + j) is one node `tanh*(i, j)` or two, `add(i, j)` and `tanh*` of that. Where the
        number of nodes leaves open which of several is two, `rng` decides, or the first are.
        """
        found = lift(cell, shortest=True)
        if (found.c is not None) != self.memory:
            raise CellError("the cell has a c(t)" if found.c else "the cell has no c(t)")
        missing = self.nodes - len(found.nodes)
        divisible = [
            number
            for number, node in enumerate(found.nodes, 1)
            if node.function.endswith("*") and "zero" not in (node.first, node.second)
        ]
        if not 0 <= missing <= len(divisible):
            raise CellError(f"the cell has no listing of {self.nodes} nodes")
        if rng is not None:
            divisible = [divisible[i] for i in rng.permutation(len(divisible))]
        found = _divided(found, set(divisible[:missing]))
        for node in found.nodes:
            if node.function not in self.functions:
                raise CellError(f"{node.function} is not a function of the space")
        return found

    def contains(self, cell: Cell) -> bool:
        try:
            self.listing(cell)
        except CellError:
            return False
        return True

    def mutate(self, cell: Cell, rng: np.random.Generator) -> Cell:
        """The function of exactly one node changes, its inputs stay (section 3.2); or an edge."""
        try:
            listing = self.listing(cell, rng)
        except CellError as error:
            raise SpaceError(f"{cell!r} is not a cell of {self}: {error}") from None
        if self.mutation != "functions" and rng.random() < 0.5:
            return different(cell, lambda: self._other_edge(listing, rng), self)
        return self._other_function(listing, rng)

    def _other_function(self, listing: FenasListing, rng: np.random.Generator) -> Cell:
        place = int(rng.integers(self.nodes))
        nodes = list(listing.nodes)
        others = [name for name in self.functions if name != nodes[place].function]
        if not others:
            raise SpaceError(f"{self} has one function only, so no node's function can change")
        nodes[place] = replace(nodes[place], function=pick(others, rng))
        return lower(FenasListing(tuple(nodes), listing.c))

    def _other_edge(self, listing: FenasListing, rng: np.random.Generator) -> Cell | None:
        """One input of one node becomes another, or another node is c(t)."""
        edge = int(rng.integers(2 * self.nodes + (1 if self.memory else 0)))
        if edge == 2 * self.nodes:
            return lower(replace(listing, c=int(rng.integers(self.nodes)) + 1))
        place, second = divmod(edge, 2)
        node = listing.nodes[place]
        source = pick([*self._sources(place + 1), "zero"], rng)
        inputs = (node.first, source) if second else (source, node.second)
        if inputs == ("zero", "zero"):
            return None
        if inputs[0] == "zero" and node.function != "sub":
            inputs = inputs[::-1]
        nodes = list(listing.nodes)
        nodes[place] = FenasNode(node.function, *inputs)
        return lower(FenasListing(tuple(nodes), listing.c))

    # -- the form of choices, and known cells ------------------------------------------

    def choices(self) -> Mapping[str, tuple[Value, ...]]:
        functions = self.functions
        if "sub" in functions:
            functions = (*functions, _REVERSED)
        found: dict[str, tuple[Value, ...]] = {}
        for number in range(1, self.nodes + 1):
            sources = tuple(self._sources(number))
            found[f"function_{number}"] = functions
            found[f"first_{number}"] = sources
            found[f"second_{number}"] = (*sources, "zero")
        if self.memory:
            found["c"] = tuple(range(1, self.nodes + 1))
        return found

    def decode(self, values: Mapping[str, Any]) -> Cell:
        nodes = []
        for i in range(1, self.nodes + 1):
            function, inputs = (
                values[f"function_{i}"],
                (values[f"first_{i}"], values[f"second_{i}"]),
            )
            if function == _REVERSED:
                function, inputs = "sub", inputs[::-1]
            nodes.append(FenasNode(function, *inputs))
        return lower(FenasListing(tuple(nodes), values["c"] if self.memory else None))

    def known(self) -> dict[str, Cell]:
        """LSTM and GRU, made as long as this space's cells where they are shorter."""
        forms = {"fenas-lstm": FENAS_LSTM, "fenas-gru": FENAS_GRU}
        cells = {name: self._fitted(listing, name) for name, listing in forms.items()}
        return {name: cell for name, cell in cells.items() if cell and self.contains(cell)}

    def _fitted(self, listing: FenasListing, name: str) -> Cell | None:
        """The same computation in this space's form: further nodes pass h on, c is h if unused."""
        nodes = list(listing.nodes)
        if len(nodes) > self.nodes or (listing.c is not None and not self.memory):
            return None
        (end,) = listing.loose_ends
        while len(nodes) < self.nodes:
            nodes.append(FenasNode("identity*", end))
            end = len(nodes)
        c = (listing.c or end) if self.memory else None
        return lower(FenasListing(tuple(nodes), c), name)


def _divided(listing: FenasListing, numbers: set[int]) -> FenasListing:
    """The listing with each of the nodes f*(i, j) of these `numbers` as add(i, j) and f* of it."""
    new: dict[Source, Source] = {source: source for source in ("x", "h", "c", "zero")}
    nodes: list[FenasNode] = []
    for number, node in enumerate(listing.nodes, 1):
        first, second = new[node.first], new[node.second]
        if number in numbers:
            nodes.append(FenasNode("add", first, second))
            first, second = len(nodes), "zero"
        nodes.append(FenasNode(node.function, first, second))
        new[number] = len(nodes)
    c = new[listing.c] if listing.c is not None else None
    assert not isinstance(c, str)
    return FenasListing(tuple(nodes), c)
