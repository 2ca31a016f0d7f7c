"""What the families share: building a cell's nodes, and recognising them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cellwright.base.errors import did_you_mean, shown
from cellwright.cell.cell import Cell, Node
from cellwright.cell.errors import CellError

ACTIVATIONS = ("tanh", "relu", "sigmoid", "identity")
"""The activations that ENAS, DARTS, ESS and FENAS choose from."""

MOST_NODES = 500
"""The most nodes of a listing; the papers' have 6 to 12."""


def check_word(word: object, known: Sequence[str], where: str) -> None:
    """Raise unless `word` is one of the `known` operations."""
    if not isinstance(word, str) or word not in known:
        hint = did_you_mean(word, known) if isinstance(word, str) else ""
        raise CellError(
            f"{where}: unknown operation {shown(word)}{hint or '; known are ' + ', '.join(known)}"
        )


def check_number(number: object, least: int, most: int, where: str) -> None:
    """Raise unless `number` is an integer from `least` to `most`."""
    if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
        allowed = f"from {least} to {most}" if most > least else f"{least}"
        raise CellError(
            f"{where}: {shown(number)} is not the number of an earlier node ({allowed})"
        )


class Builder:
    """Collects the nodes of a cell that is being lowered."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def add(self, name: str, op: str, *inputs: str) -> str:
        """Add a node and return its name."""
        self.nodes.append(Node(name, op, inputs))
        return name

    def linear(
        self,
        name: str,
        *inputs: str,
        bias: bool = False,
        keys: tuple[str, ...] | None = None,
        width: str = "hidden",
    ) -> str:
        """Add a linear and return its name."""
        self.nodes.append(Node(name, "linear", inputs, bias=bias, keys=keys, width=width))
        return name

    def mean(self, name: str, values: Sequence[str]) -> str:
        """The mean of `values`, or the value itself where there is only one."""
        return values[0] if len(values) == 1 else self.add(name, "mean", *values)


@dataclass(frozen=True)
class Activated:
    """What `act(linear(over))` was recognised as."""

    op: str
    over: tuple[str, ...]
    linear: str


@dataclass(frozen=True)
class Highway:
    """What `blend(sigmoid(linear(over)), op(linear(over)), carry)` was recognised as."""

    op: str
    over: tuple[str, ...]
    carry: str


class Structure:
    """A cell's graph while a family recognises it: who reads whom, what is accounted for."""

    def __init__(self, cell: Cell, family: str) -> None:
        self.cell = cell
        self.family = family
        self.readers: dict[str, list[Node]] = {}
        for node in cell.nodes:
            for name in dict.fromkeys(node.inputs):
                self.readers.setdefault(name, []).append(node)
        uses = Counter(key for node in cell.nodes for key in node.keys or ())
        self.tied = {key for key, count in uses.items() if count > 1}
        self.claimed: set[str] = set()

    def misfit(self, name: str, why: str) -> CellError:
        """The error that says which node does not fit the family."""
        return CellError(f"node {name!r} does not fit {self.family}: {why}")

    def op(self, name: str) -> str | None:
        """The operation of the node called `name`, or None for an input."""
        return self.cell.node(name).op if name in self.cell else None

    def claim(self, names: Iterable[str]) -> None:
        """Account for nodes."""
        self.claimed.update(names)

    def only_reader(self, name: str, reader: str) -> None:
        """Raise unless `reader` alone reads the node `name`."""
        for other in self.readers.get(name, ()):
            if other.name != reader:
                raise self.misfit(other.name, f"it reads {name!r}, which is inside {reader!r}")
        if name in (*self.cell.states, self.cell.output):
            raise self.misfit(name, f"it is a state or the output, but stands inside {reader!r}")

    def plain_linear(
        self, name: str, owner: str, *, bias: bool, width: str = "hidden", tied: bool = False
    ) -> Node:
        """The linear called `name`, with its attributes checked."""
        if self.op(name) != "linear":
            raise self.misfit(owner, f"{name!r} should be a linear")
        node = self.cell.node(name)
        if node.bias != bias:
            raise self.misfit(name, "it must have a bias" if bias else "it must have no bias")
        if node.width != width:
            raise self.misfit(name, f"its width must be {width!r}")
        if not tied and any(key in self.tied for key in node.keys or ()):
            raise self.misfit(name, "it shares a weight with another linear")
        return node

    def activated(
        self, name: str, *, bias: bool, width: str = "hidden", tied: bool = False
    ) -> Activated:
        """`act(linear(…))` at the node called `name`; claims both nodes."""
        node = self.cell.node(name)
        if node.op not in ACTIVATIONS:
            raise self.misfit(name, f"{node.op} should be one of {', '.join(ACTIVATIONS)}")
        linear = self.plain_linear(node.inputs[0], name, bias=bias, width=width, tied=tied)
        self.claim((name, linear.name))
        return Activated(node.op, linear.inputs, linear.name)

    def highway(self, node: Node, *, shared: bool = False) -> Highway:
        """The highway node that ends in the blend `node`; claims its parts.

        With `shared`, several blends may read the same gate and linears.
        """
        gate, new, carry = node.inputs
        if self.op(gate) != "sigmoid":
            raise self.misfit(node.name, "the first input of its blend should be a sigmoid")
        if self.op(new) not in ACTIVATIONS:
            raise self.misfit(
                node.name,
                f"the second input of its blend should be one of {', '.join(ACTIVATIONS)}",
            )
        first = self.activated(gate, bias=False, tied=shared)
        second = self.activated(new, bias=False, tied=shared)
        if sorted(first.over) != sorted(second.over):
            raise self.misfit(node.name, "its gate and its candidate read different values")
        if first.linear == second.linear:
            raise self.misfit(node.name, "its gate and its candidate need a linear each")
        if not shared:
            for part, reader in (
                (gate, node.name), (new, node.name), (first.linear, gate), (second.linear, new)
            ):  # fmt: skip
                self.only_reader(part, reader)
        self.claim((node.name,))
        return Highway(second.op, first.over, carry)

    def averaged(self) -> tuple[str, ...]:
        """The values whose mean is the output and only state, or the one value that is it."""
        cell = self.cell
        if len(cell.states) != 1:
            raise self.misfit(cell.states[1], "it is a second state; there is only one")
        if cell.output != cell.states[0]:
            raise self.misfit(cell.output, "it is the output, which must be the state")
        if self.op(cell.output) != "mean":
            return (cell.output,)
        self.claim((cell.output,))
        values = cell.node(cell.output).inputs
        if len(set(values)) < len(values):
            raise self.misfit(cell.output, "it counts a value twice")
        if readers := self.readers.get(cell.output):
            raise self.misfit(readers[0].name, f"it reads {cell.output!r}, the mean at the end")
        return values

    def all_claimed(self) -> None:
        """Raise for the first node that is no part of what was recognised."""
        for node in self.cell.nodes:
            if node.name not in self.claimed:
                raise self.misfit(node.name, f"{node.op} has no place in it here")

    def same(self, lowered: Cell) -> None:
        """Raise unless the recognised listing lowers to the same graph: the last word."""
        if lowered.id != self.cell.id:
            raise self.misfit(
                self.cell.output,
                "what leads to it shares values or weights in a way that the family does not",
            )
