"""Which nodes of a supernet the core computes together: mixed activations, whole edges."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from cellwright.cell import Cell

MIXED_ACTIVATIONS = ("tanh", "sigmoid", "relu", "leaky_relu", "identity")
"""What a `mix_activations` may weigh, in the order of the core's bits."""

MOST_TARGETS = 16
"""How many mixes of one value's activations the core takes in one step."""


class Highway(NamedTuple):
    """The parts of `blend(sigmoid(c), Σ θ_k·o_k(z), θ·s)`, an edge as DARTS' code has it."""

    gate: str
    mixed: str
    carried: str


def mixed_activations(cell: Cell) -> dict[str, list[str]]:
    """Mixes of activations of one value, with those activations, which only such mixes read.

    The value itself, and zeros, may be among a mix's inputs.
    """
    uses = uses_of(cell)
    found: dict[str, list[str]] = {}
    for node in cell.nodes:
        if node.op != "mix":
            continue
        inputs = [name for name in node.inputs if op_of(cell, name) != "zero"]
        activations = [name for name in inputs if op_of(cell, name) in MIXED_ACTIVATIONS]
        sources = {cell.node(name).inputs[0] for name in activations}
        sources |= {name for name in inputs if name not in activations}
        if activations and len(sources) == 1:
            found[node.name] = activations
    while True:
        mixed = Counter(name for names in found.values() for name in names)
        others = [mix for mix, names in found.items() if any(uses[n] > mixed[n] for n in names)]
        if not others:
            return found
        for mix in others:
            del found[mix]


def highways(cell: Cell, mixed: dict[str, list[str]], sums: set[str]) -> dict[str, Highway]:
    """Blends that are such an edge; nothing else reads its parts, or the sums under them.

    Args:
        cell: the cell.
        mixed: what `mixed_activations` found in it.
        sums: the nodes that become sums of products.
    """
    uses = uses_of(cell)
    readers: dict[str, set[str]] = {name: {""} for name in (*cell.states, cell.output)}
    for node in cell.nodes:
        for name in node.inputs:
            readers.setdefault(name, set()).add(node.name)
    found: dict[str, Highway] = {}
    for node in cell.nodes:
        if node.op != "blend" or any(uses[name] != 1 for name in node.inputs):
            continue
        edge = Highway(*node.inputs)
        if op_of(cell, edge.gate) != "sigmoid" or edge.mixed not in mixed:
            continue
        activations = mixed[edge.mixed]
        under = cell.node(edge.gate).inputs[0]
        value = cell.node(activations[0]).inputs[0]
        if (
            {under, value} <= sums
            and uses[under] == 1
            and readers[value] <= {*activations, edge.mixed}
            and all(readers[name] == {edge.mixed} for name in activations)
            and edge.carried not in mixed
            and len(carried_values(cell, edge.carried)) == 1
        ):
            found[node.name] = edge
    return found


def carried_values(cell: Cell, name: str) -> set[str]:
    """What a mix weighs but zeros; nothing if it is no mix."""
    if op_of(cell, name) != "mix":
        return set()
    return {i for i in cell.node(name).inputs if op_of(cell, i) != "zero"}


def op_of(cell: Cell, name: str) -> str | None:
    """The operation of a node, None for an input of the cell."""
    return cell.node(name).op if name in cell else None


def uses_of(cell: Cell) -> Counter[str]:
    """How often each value is read, by nodes, as a state or as the output."""
    read = [name for node in cell.nodes for name in node.inputs]
    return Counter([*read, *cell.states, cell.output])
