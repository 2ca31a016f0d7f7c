"""An equivalent cell with less in it: no dead nodes, no identities, no zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cellwright.cell.cell import Cell, Node

if TYPE_CHECKING:
    from collections.abc import Iterable

_ZERO = ""
"""Stands for the constant zero while names are resolved; no node can be called this."""

_KEEPS_ZERO = frozenset({"tanh", "relu", "leaky_relu", "identity", "norm"})
"""Activations with f(0) = 0."""


def simplify(cell: Cell) -> Cell:
    """Fold identities and zeros, then drop what feeds neither a state nor the output.

    The result computes the same outputs and states from the same weights: nodes that
    remain keep their names, so their parameters keep theirs. A linear whose inputs are
    all zero remains as its bias only if it has one. Node names stay.
    """
    value: dict[str, str] = {}
    kept: dict[str, Node] = {}
    for node in cell.nodes:
        inputs = tuple(value.get(name, name) for name in node.inputs)
        folded = _fold(replace(node, inputs=inputs), cell)
        if isinstance(folded, str):
            value[node.name] = folded
        else:
            kept[node.name] = folded
    needed_zeros = {n for node in kept.values() for n in node.inputs if n == _ZERO}
    roles = list(dict.fromkeys((*cell.states, cell.output)))
    nodes = list(kept.values())
    for role in roles:
        source = value.get(role, role)
        if source == _ZERO:
            nodes.append(Node(role, "zero"))
        elif source not in kept:  # a state must be fed by a node, not by an input
            nodes.append(Node(role, "identity", (source,)))
    if needed_zeros:
        zero = _free_name("zero", {*value, *kept})
        nodes = [
            replace(n, inputs=tuple(i or zero for i in n.inputs)) for n in nodes
        ] + [Node(zero, "zero")]
    present = {node.name for node in nodes}
    resolved = {role: role if role in present else value[role] for role in roles}
    states = [resolved[state] for state in cell.states]
    output = resolved[cell.output]
    return Cell(_alive(nodes, [*states, output]), states, output, cell.name, cell.notes)


def _fold(node: Node, cell: Cell) -> Node | str:
    """The node as it must stay, or the name of the value that it equals."""
    zeros = [name == _ZERO for name in node.inputs]
    match node.op:
        case "identity":
            return node.inputs[0]
        case "zero":
            return _ZERO
        case "linear" if any(zeros):
            return _fold_linear(node, zeros)
        case "add" if any(zeros):
            rest = tuple(name for name in node.inputs if name != _ZERO)
            if len(rest) <= 1:
                return rest[0] if rest else _ZERO
            return replace(node, inputs=rest)
        case "mul" if any(zeros):
            return _ZERO
        case "mean" if all(zeros):
            return _ZERO
        case "sub" if zeros == [True, True]:
            return _ZERO
        case "sub" if zeros == [False, True]:
            return node.inputs[0]
        case "blend" if zeros[0]:
            return node.inputs[2]
        case "blend" if zeros == [False, True, True]:
            return _ZERO
        case "blend" if zeros == [False, False, True]:
            return replace(node, op="mul", inputs=node.inputs[:2])
        case op if op in _KEEPS_ZERO and zeros[0]:
            return _ZERO
    return node


def _fold_linear(node: Node, zeros: list[bool]) -> Node | str:
    keep = [i for i, is_zero in enumerate(zeros) if not is_zero]
    if keep:
        keys = tuple(node.keys[i] for i in keep) if node.keys else None
        return replace(node, inputs=tuple(node.inputs[i] for i in keep), keys=keys)
    if not node.bias:
        return _ZERO
    return node  # a constant: its bias


def _alive(nodes: list[Node], roots: Iterable[str]) -> list[Node]:
    by_name = {node.name: node for node in nodes}
    found: set[str] = set()
    open_names = [name for name in roots]
    while open_names:
        name = open_names.pop()
        if name in by_name and name not in found:
            found.add(name)
            open_names.extend(by_name[name].inputs)
    return [node for node in nodes if node.name in found]


def _free_name(stem: str, taken: set[str]) -> str:
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}{number}"
    return name
