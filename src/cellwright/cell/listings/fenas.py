"""FENAS cells (Pasunuru & Bansal 2020, section 3.1).

Nodes are numbered from 1 and read one or two of x, h, (c), `zero` and earlier nodes. Their
functions, with i and j the inputs' values:

- `add`, `sub`, `mul`: i + j, i − j, i ⊙ j
- `tanh`, `relu`, `identity`, `sigmoid`: f(W_i·i + W_j·j + b)
- the same with a star, no edge weights: `tanh*` is f(i + j)
- `tanh-skip`, `relu-skip`, `sigmoid-skip`: c·f(W_i·i + W_j·j + b) + (1 − c)·(i + j) with
  c = sigmoid(W'_i·i + W'_j·j + b')

`zero` leaves a node with one input: its edge then has no weight and its term falls away;
`add`, `sub` and `mul` read a real zero.

h(t) is the mean of the loose ends, the nodes that no other node reads. In the 3-input form a
chosen node is c(t). Being c(t) is not being read: a c(t) that no node reads is a loose end,
too. In the LSTM c(t) is read by the tanh before h(t), so its only loose end is h(t).
"""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.base.errors import shown
from cellwright.cell.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.cell.listings._graph import (
    ACTIVATIONS,
    MOST_NODES,
    Builder,
    check_number,
    check_word,
)

ATOMIC = ("add", "sub", "mul")
SKIPS = ("tanh-skip", "relu-skip", "sigmoid-skip")
FUNCTIONS = (*ATOMIC, *ACTIVATIONS, *(f"{name}*" for name in ACTIVATIONS), *SKIPS)
"""Every node function."""

Source = str | int
"""What a node reads: "x", "h", "c", "zero", or the number of an earlier node."""

STATES: dict[Source, str] = {"x": "x", "h": "h0", "c": "h1"}
"""FENAS' names of a cell's inputs."""


@dataclass(frozen=True)
class FenasNode:
    """One node: its function and its two inputs; `zero` as the second means one input."""

    function: str
    first: Source
    second: Source = "zero"


@dataclass(frozen=True)
class FenasListing:
    """A FENAS cell: its nodes, and for the 3-input form the number of the node that is c(t)."""

    nodes: tuple[FenasNode, ...]
    c: int | None = None

    def __post_init__(self) -> None:
        if not self.nodes:
            raise CellError("a FENAS cell needs at least one node")
        if len(self.nodes) > MOST_NODES:
            raise CellError(f"a FENAS cell may have at most {MOST_NODES} nodes")
        for number, node in enumerate(self.nodes, 1):
            where = f"FENAS node {number}"
            check_word(node.function, FUNCTIONS, where)
            for source in (node.first, node.second):
                self._check_source(source, number, where)
            if node.first == node.second == "zero":
                raise CellError(f"{where}: both its inputs are zero")
        if self.c is not None:
            check_number(self.c, 1, len(self.nodes), "c(t)")

    def _check_source(self, source: Source, number: int, where: str) -> None:
        if isinstance(source, str):
            if source == "c" and self.c is None:
                raise CellError(f"{where} reads c, but no node is c(t)")
            if source not in ("x", "h", "c", "zero"):
                raise CellError(
                    f"{where}: unknown input {shown(source)}; inputs are x, h, c, zero and the "
                    "numbers of earlier nodes"
                )
        elif number == 1:
            raise CellError(f"{where}: there is no node before it, so it reads x, h, c or zero")
        else:
            check_number(source, 1, number - 1, where)

    @property
    def loose_ends(self) -> tuple[int, ...]:
        """The nodes that no other node reads."""
        used = {source for node in self.nodes for source in (node.first, node.second)}
        return tuple(i for i in range(1, len(self.nodes) + 1) if i not in used)


def lower(listing: FenasListing, name: str = "") -> Cell:
    """The listing as a cell."""
    build = Builder()
    values: dict[Source, str] = dict(STATES)
    reads_zero = any(
        node.function in ATOMIC and "zero" in (node.first, node.second) for node in listing.nodes
    )
    if reads_zero:
        values["zero"] = build.add("zero", "zero")
    for number, node in enumerate(listing.nodes, 1):
        values[number] = _lower_node(build, f"n_{number}", node, values)
    h = build.mean("h", [values[i] for i in listing.loose_ends])
    states = [h] if listing.c is None else [h, values[listing.c]]
    return Cell(build.nodes, states, name=name)


def _lower_node(build: Builder, name: str, node: FenasNode, values: dict[Source, str]) -> str:
    if node.function in ATOMIC:
        return build.add(name, node.function, values[node.first], values[node.second])
    inputs = [values[source] for source in (node.first, node.second) if source != "zero"]
    if node.function.endswith("*"):
        return build.add(name, node.function[:-1], _total(build, name, inputs))
    if node.function not in SKIPS:
        return build.add(name, node.function, build.linear(f"{name}_w", *inputs, bias=True))
    gate = build.add(f"{name}_gate", "sigmoid", build.linear(f"{name}_c", *inputs, bias=True))
    op = node.function.removesuffix("-skip")
    new = build.add(f"{name}_new", op, build.linear(f"{name}_w", *inputs, bias=True))
    return build.add(name, "blend", gate, new, _total(build, name, inputs))


def _total(build: Builder, name: str, inputs: list[str]) -> str:
    return inputs[0] if len(inputs) == 1 else build.add(f"{name}_sum", "add", *inputs)


def lift(cell: Cell, *, shortest: bool = False) -> FenasListing:
    """The listing of a cell that has a FENAS cell's structure.

    tanh(add(i, j)) is one node `tanh*(i, j)`, or two, `add(i, j)` and `tanh*` of it. With
    `shortest` it becomes one where it can.
    """
    from cellwright.cell.listings.fenas_lift import recognise

    return recognise(cell, shortest)
