"""One small change to a cell, whatever space it comes from.

The spaces change cells within their own shapes. Here a cell is just a graph: an operation becomes
another one, an edge begins elsewhere, a value passes through a new activation or gate, a node is
bypassed. What comes out is a valid cell without dead parts; whether it is any good is for a search
to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from cellwright.cell.cell import Cell, Node
from cellwright.cell.errors import CellError
from cellwright.cell.names import parse_input

ACTIVATIONS = ("tanh", "sigmoid", "relu", "leaky_relu", "identity")
"""What an activation may become."""

PAIRS = ("add", "mul", "sub", "mean")
"""What an operation on two values may become."""

Draft = tuple[list[Node], list[str], str]
"""Nodes, states and output, on the way to a cell."""

_TRIES = 50

Item = TypeVar("Item")


def mutated(cell: Cell, rng: np.random.Generator) -> Cell | None:
    """Another cell, one change away; None if none was found in some tries.

    Functions and edges change twice as often as nodes come or go.
    """
    for _ in range(_TRIES):
        change = _CHANGES[int(rng.integers(len(_CHANGES)))]
        draft = change(cell, rng)
        if draft is None:
            continue
        try:
            found = Cell(*draft).simplified()
        except CellError:  # a cycle, or widths that do not fit
            continue
        if found.id != cell.simplified().id and "x" in found.inputs and "h0" in found.inputs:
            return found
    return None


# -- the changes -------------------------------------------------------------------------------


def _other_function(cell: Cell, rng: np.random.Generator) -> Draft | None:
    """An activation, or an operation on two values, becomes another one."""
    alike = {
        node.name: ACTIVATIONS if node.op in ACTIVATIONS else PAIRS
        for node in cell.nodes
        if node.op in ACTIVATIONS or (node.op in PAIRS and len(node.inputs) == 2)
    }
    if not alike:
        return None
    name = _pick(list(alike), rng)
    op = _pick([op for op in alike[name] if op != cell.node(name).op], rng)
    return _with(cell, replace(cell.node(name), op=op))


def _other_edge(cell: Cell, rng: np.random.Generator) -> Draft | None:
    """An edge begins at another value."""
    node = _pick(cell.nodes, rng)
    if not node.inputs:
        return None
    place = int(rng.integers(len(node.inputs)))
    values = [value for value in _values(cell, node) if value not in node.inputs]
    if not values:
        return None
    inputs = list(node.inputs)
    inputs[place] = _pick(values, rng)
    return _with(cell, replace(node, inputs=tuple(inputs), keys=None))


def _through_activation(cell: Cell, rng: np.random.Generator) -> Draft | None:
    """A value passes through a new activation on its way to a node."""
    op = _pick(ACTIVATIONS[:-1], rng)
    return _inserted(cell, rng, lambda name, value: [Node(name, op, (value,))])


def _through_gate(cell: Cell, rng: np.random.Generator) -> Draft | None:
    """A value is multiplied by a new gate over x and the state on its way to a node."""

    def gate(name: str, value: str) -> list[Node]:
        return [
            Node(f"{name}_sum", "linear", ("x", "h0")),
            Node(f"{name}_gate", "sigmoid", (f"{name}_sum",)),
            Node(name, "mul", (f"{name}_gate", value)),
        ]

    return _inserted(cell, rng, gate)


def _bypassed(cell: Cell, rng: np.random.Generator) -> Draft | None:
    """Those that read a node read one of its inputs instead."""
    node = _pick(cell.nodes, rng)
    inside = [name for name in node.inputs if name in cell]
    if not inside:
        return None
    other = _pick(inside, rng)

    def new(name: str) -> str:
        return other if name == node.name else name

    nodes = [each.reading(tuple(map(new, each.inputs))) for each in cell.nodes]
    return nodes, [new(state) for state in cell.states], new(cell.output)


_CHANGES: tuple[Callable[[Cell, np.random.Generator], Draft | None], ...] = (
    _other_function,
    _other_function,
    _other_edge,
    _other_edge,
    _through_activation,
    _through_gate,
    _bypassed,
)


# -- small parts -------------------------------------------------------------------------------


def _inserted(
    cell: Cell, rng: np.random.Generator, make: Callable[[str, str], list[Node]]
) -> Draft | None:
    """New nodes between a value as wide as the hidden state and a node that reads it."""
    edges = [
        (node, place)
        for node in cell.nodes
        for place, value in enumerate(node.inputs)
        if cell.width(value) == "hidden"
    ]
    if not edges:
        return None
    node, place = _pick(edges, rng)
    name = _new_name(cell)
    inputs = list(node.inputs)
    made = make(name, inputs[place])
    inputs[place] = name
    nodes, states, output = _with(cell, replace(node, inputs=tuple(inputs), keys=None))
    return [*nodes, *made], states, output


def _values(cell: Cell, node: Node) -> list[str]:
    """What a node may read without a cycle: earlier nodes, states, and for a linear x."""
    earlier = []
    for other in cell.nodes:
        if other.name == node.name:
            break
        earlier.append(other.name)
    outside = {*cell.inputs, "x", *(f"h{i}" for i in range(len(cell.states)))}
    values = [*earlier, *sorted(outside)]
    if node.op == "linear":
        return values
    wide = cell.width(node.inputs[0]) if parse_input(node.inputs[0]) else cell.width(node.name)
    return [value for value in values if cell.width(value) == wide]


def _new_name(cell: Cell) -> str:
    number = len(cell.nodes)
    while any(node.name.startswith(f"new{number}") for node in cell.nodes):
        number += 1
    return f"new{number}"


def _with(cell: Cell, changed: Node) -> Draft:
    nodes = [changed if node.name == changed.name else node for node in cell.nodes]
    return nodes, list(cell.states), cell.output


def _pick(items: Sequence[Item], rng: np.random.Generator) -> Item:
    return items[int(rng.integers(len(items)))]
