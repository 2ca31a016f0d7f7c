"""The space of NAS-Bench-NLP (Klyuchnikov et al. 2020, section 3), with its generator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from cellwright.base.errors import shown
from cellwright.cell import Cell, CellError, Node
from cellwright.cell.listings.nas_bench_nlp import lift
from cellwright.spaces.settings import SettingError, check_count
from cellwright.spaces.space import Space, different, pick, require

ACTIVATIONS = ("tanh", "sigmoid", "leaky_relu")
COMBINATIONS = {"blend": 3, "mul": 2, "add": 2}
"""The operations besides linear and activations, and how many values the generator gives them."""

_OPERATIONS = ("linear", "blend", "mul", "add")
_LIKELY = (1 / 2, 1 / 6, 1 / 6, 1 / 6)
_LINEAR_INPUTS = (2, 3)
_LINEAR_LIKELY = (4 / 5, 1 / 5)


@dataclass(frozen=True)
class NasBenchNlp(Space):
    """Attributed graphs of linear, blend, product, sum and activations.

    The space is what section 3 states: at most 24 nodes, at most 3 states, at most 3 inputs of a
    linear; x enters linears only; x and all states are read, and all nodes lead to a new state.
    RNN, LSTM and GRU are in it. The generator draws from a part of it; see `sample`.

    Args:
        states: how many states a cell may have; `sample` draws the number from these.
        nodes: how many nodes the generator makes besides one for each state, before it removes
            those that lead nowhere; the release has 7, 14 and 21.
        most_nodes: how many nodes a cell may have.
    """

    name: ClassVar[str] = "nas-bench-nlp"

    states: tuple[int, ...] = (1, 2, 3)
    nodes: int = 7
    most_nodes: int = 24

    def __post_init__(self) -> None:
        if isinstance(self.states, str) or not isinstance(self.states, Iterable):
            raise SettingError(
                f"{self.title}: states must be a list of numbers, not {shown(self.states)}"
            )
        states = tuple(check_count(self.title, "states", count, 1, 3) for count in self.states)
        if not states or len(set(states)) < len(states):
            raise SettingError(f"{self.title}: states must be some of 1, 2 and 3, each once")
        object.__setattr__(self, "states", states)
        check_count(self.title, "nodes", self.nodes, 1, 100)
        check_count(self.title, "most_nodes", self.most_nodes, 2, 24)

    # -- the generator -----------------------------------------------------------------

    def sample(self, rng: np.random.Generator) -> Cell:
        """A cell as the paper's generator draws it ("Generation procedure").

        Nodes are added until there are enough: a linear in half of the cases, which reads two
        or three of x, the states and the activations so far and is followed by an activation;
        else a blend, product or sum of what there is but x. New states are drawn among all
        nodes, and what does not lead to them is removed. A cell that does not read x and every
        state is thrown away, and so is one with a state that reads a previous one directly,
        which would grow without bound.
        """
        states = pick(self.states, rng)
        while True:
            nodes = self._redundant(states, rng)
            names = [node.name for node in nodes]
            chosen = [names[i] for i in rng.choice(len(names), states, replace=False)]
            nodes = _leading_to(nodes, chosen)
            if self._allowed(nodes, states) and not _direct(nodes, chosen):
                return Cell(nodes, chosen)

    def _redundant(self, states: int, rng: np.random.Generator) -> list[Node]:
        nodes: list[Node] = []
        while len(nodes) < states + self.nodes:
            op = str(rng.choice(_OPERATIONS, p=_LIKELY))
            nodes += self._new_nodes(op, nodes, states, len(nodes), rng)
        return nodes

    def _new_nodes(
        self, op: str, nodes: list[Node], states: int, number: int, rng: np.random.Generator
    ) -> list[Node]:
        """A node of the operation, with an activation after a linear; none if too few to read."""
        values = _readable(op, nodes, states)
        count = COMBINATIONS.get(op) or int(rng.choice(_LINEAR_INPUTS, p=_LINEAR_LIKELY))
        if op == "linear":
            count = min(count, len(values))
        if count > len(values):
            return []
        inputs = tuple(values[i] for i in rng.choice(len(values), count, replace=False))
        made = [Node(f"node_{number}", op, inputs)]
        if op == "linear":
            made.append(Node(f"node_{number + 1}", pick(ACTIVATIONS, rng), (made[0].name,)))
        return made

    # -- membership --------------------------------------------------------------------

    def contains(self, cell: Cell) -> bool:
        try:
            lift(cell)
        except CellError:
            return False
        if len(cell.states) not in self.states or not self._allowed(cell.nodes, len(cell.states)):
            return False
        return len(_leading_to(cell.nodes, cell.states)) == len(cell.nodes)

    def _allowed(self, nodes: Iterable[Node], states: int) -> bool:
        nodes = list(nodes)
        read = {name for node in nodes for name in node.inputs}
        return (
            len(nodes) <= self.most_nodes
            and read >= {"x", *(f"h{i}" for i in range(states))}
            and all(len(node.inputs) <= 3 for node in nodes)
            and all(node.op == "linear" for node in nodes if "x" in node.inputs)
        )

    # -- mutation ----------------------------------------------------------------------

    def mutate(self, cell: Cell, rng: np.random.Generator) -> Cell:
        """One operation changes, one connection, or one connection runs through a new node.

        The first two are those of Real et al. 2019. A cell here keeps no nodes that lead
        nowhere, so changed connections alone would only ever make cells smaller: the third
        lets them grow.
        """
        require(self, cell)
        direct = _direct(cell.nodes, cell.states)

        def change() -> Cell | None:
            kind = pick((self._other_operation, self._other_source, self._new_source), rng)
            nodes = kind(cell, rng)
            if nodes is None:
                return None
            nodes = _leading_to(nodes, cell.states)
            if not self._allowed(nodes, len(cell.states)):
                return None
            if not _direct(nodes, cell.states) <= direct:
                return None
            return Cell(nodes, cell.states)

        return different(cell, change, self)

    def _other_operation(self, cell: Cell, rng: np.random.Generator) -> list[Node] | None:
        """Another activation, or another of blend, product and sum."""
        changeable = [node for node in cell.nodes if node.op != "linear"]
        if not changeable:
            return None
        node = pick(changeable, rng)
        family = ACTIVATIONS if node.op in ACTIVATIONS else tuple(COMBINATIONS)
        op = pick([name for name in family if name != node.op], rng)
        inputs = list(node.inputs)
        if op == "blend" and len(inputs) == 2:
            others = self._sources(cell, replace(node, op=op))
            if not others:
                return None
            inputs.insert(int(rng.integers(3)), pick(others, rng))
        elif node.op == "blend":
            del inputs[int(rng.integers(3))]
        return _replaced(cell, replace(node, op=op, inputs=tuple(inputs)))

    def _other_source(self, cell: Cell, rng: np.random.Generator) -> list[Node] | None:
        """One input of a node, but not of an activation, becomes another value."""
        node, place = self._connection(cell, rng)
        others = self._sources(cell, node)
        return _replaced(cell, _rewired(node, place, pick(others, rng))) if others else None

    def _new_source(self, cell: Cell, rng: np.random.Generator) -> list[Node] | None:
        """One input of a node becomes a new node, made as the generator makes one."""
        node, place = self._connection(cell, rng)
        after = _reading(cell, node.name)
        before = [other for other in cell.nodes if other.name not in after]
        op = "linear" if node.op == "linear" else str(rng.choice(_OPERATIONS, p=_LIKELY))
        number = 0
        while f"node_{number}" in cell or f"node_{number + 1}" in cell:
            number += 1
        made = self._new_nodes(op, before, len(cell.states), number, rng)
        if not made:
            return None
        return [*_replaced(cell, _rewired(node, place, made[-1].name)), *made]

    def _connection(self, cell: Cell, rng: np.random.Generator) -> tuple[Node, int]:
        """A node and the place of one of its inputs; any but an activation's."""
        connections = [
            (node, place)
            for node in cell.nodes
            if node.op not in ACTIVATIONS
            for place in range(len(node.inputs))
        ]
        return pick(connections, rng)

    def _sources(self, cell: Cell, node: Node) -> list[str]:
        """What a node could read instead of one of its inputs, without a cycle."""
        after = _reading(cell, node.name)
        before = [other for other in cell.nodes if other.name not in after]
        values = _readable(node.op, before, len(cell.states))
        return [value for value in values if value not in node.inputs]


def _readable(op: str, nodes: list[Node], states: int) -> list[str]:
    """What the generator lets a node of this operation read."""
    previous = [f"h{i}" for i in range(states)]
    if op == "linear":
        return ["x", *previous, *(node.name for node in nodes if node.op in ACTIVATIONS)]
    return [*previous, *(node.name for node in nodes)]


def _leading_to(nodes: Iterable[Node], states: Iterable[str]) -> list[Node]:
    """The nodes from which a path leads to a new state."""
    nodes = list(nodes)
    by_name = {node.name: node for node in nodes}
    found: set[str] = set()
    open_names = list(states)
    while open_names:
        name = open_names.pop()
        if name in by_name and name not in found:
            found.add(name)
            open_names.extend(by_name[name].inputs)
    return [node for node in nodes if node.name in found]


def _direct(nodes: Iterable[Node], states: Iterable[str]) -> set[tuple[str, str]]:
    """Which new state reads which previous state with nothing between."""
    by_name = {node.name: node for node in nodes}
    previous = {f"h{i}" for i, _ in enumerate(states)}
    return {(state, name) for state in states for name in by_name[state].inputs if name in previous}


def _reading(cell: Cell, name: str) -> set[str]:
    """The node and all that read it, directly or not."""
    found = {name}
    for node in cell.nodes:  # in topological order
        if found.intersection(node.inputs):
            found.add(node.name)
    return found


def _rewired(node: Node, place: int, source: str) -> Node:
    return node.reading((*node.inputs[:place], source, *node.inputs[place + 1 :]))


def _replaced(cell: Cell, new: Node) -> list[Node]:
    return [new if node.name == new.name else node for node in cell.nodes]
