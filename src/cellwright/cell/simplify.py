"""An equivalent cell with less in it: no dead nodes, no identities, no zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cellwright.cell.cell import Cell, Node
from cellwright.cell.errors import CellError
from cellwright.cell.ops import NORMS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

_ZEROS = {"hidden": "0 hidden", "input": "0 input"}
"""Stand for the constant zero of each width while names are resolved; no node is called so."""

_KEEPS_ZERO = frozenset({"tanh", "relu", "leaky_relu", "identity", *NORMS})
"""Activations with f(0) = 0."""


def simplify(cell: Cell) -> Cell:
    """Fold identities and zeros, then drop what feeds neither a state nor the output.

    The result computes the same outputs and states from the same weights: nodes that
    remain keep their names, so their parameters keep theirs. An identity remains where an
    input becomes a state, a zero where something needs one: a state, a mean that counts it,
    the left of a sub, a blend, a sigmoid, an exp, either side of a max or a div, a mix, a linear
    that is only its bias. So does a zero that makes a value as wide as the state, where a shared
    weight reads it.
    """
    try:
        return _simplified(cell, keep_widths=False)
    except CellError:  # a weight would be shared by values of two widths
        return _simplified(cell, keep_widths=True)


def _simplified(cell: Cell, *, keep_widths: bool) -> Cell:
    value: dict[str, str] = {}  # for each folded node, the value that it equals
    kept: dict[str, Node] = {}
    for node in cell.nodes:
        inputs = tuple(value.get(name, name) for name in node.inputs)
        folded = _fold(node.reading(inputs), cell)
        if keep_widths and _width(folded, cell) != cell.width(node.name):
            folded = node.reading(inputs)
        if isinstance(folded, str):
            value[node.name] = folded
        else:
            kept[node.name] = folded
    roles = list(dict.fromkeys((*cell.states, cell.output)))
    nodes = list(kept.values())
    for role in roles:
        source = value.get(role, role)
        if source in _ZEROS.values():
            nodes.append(Node(role, "zero"))
        elif source not in kept:  # a state must be fed by a node, not by an input
            nodes.append(Node(role, "identity", (source,)))
    present = {node.name for node in nodes}
    resolved = {role: role if role in present else value[role] for role in roles}
    states = [resolved[state] for state in cell.states]
    output = resolved[cell.output]
    roots = [*states, output]
    nodes = _alive(_with_zeros(nodes, roots, cell), roots)
    return Cell(nodes, states, output, cell.name, cell.notes)


def _width(folded: Node | str, cell: Cell) -> str:
    """How wide a value is, where what it reads is as wide as in the cell."""
    zeros = {name: width for width, name in _ZEROS.items()}
    if isinstance(folded, str):
        return zeros.get(folded) or cell.width(folded)
    if folded.spec.kind is Kind.LINEAR or not folded.inputs:
        return folded.width
    read = {_width(name, cell) for name in folded.inputs}
    return "input" if read == {"input"} else "hidden"


def _fold(node: Node, cell: Cell) -> Node | str:
    """The node as it must stay, or the name of the value that it equals."""
    zeros = [name in _ZEROS.values() for name in node.inputs]
    zero = _ZEROS[cell.width(node.name)]
    match node.op:
        case "identity":
            return node.inputs[0]
        case "zero":
            return zero
        case "linear" if any(zeros):
            return _fold_linear(node, zeros, cell)
        case "add" if any(zeros):
            rest = tuple(
                name for name, is_zero in zip(node.inputs, zeros, strict=True) if not is_zero
            )
            if len(rest) <= 1:
                return rest[0] if rest else zero
            return replace(node, inputs=rest)
        case "mul" if any(zeros):
            return zero
        case "mean" | "max" if all(zeros):
            return zero
        case "sub" if zeros == [True, True]:
            return zero
        case "sub" if zeros == [False, True]:
            return node.inputs[0]
        case "blend" if zeros[0]:
            return node.inputs[2]
        case "blend" if zeros == [False, True, True]:
            return zero
        case "blend" if zeros == [False, False, True]:
            return replace(node, op="mul", inputs=node.inputs[:2])
        case op if op in _KEEPS_ZERO and zeros[0]:
            return zero
    return node


def _fold_linear(node: Node, zeros: list[bool], cell: Cell) -> Node | str:
    keep = [i for i, is_zero in enumerate(zeros) if not is_zero]
    if not keep:
        if not node.bias and (node.width == "hidden" or _reads_x(cell)):
            return _ZEROS[node.width]
        keep = [0]  # a constant: its bias; or, without x, all that is as wide as x
    keys = tuple(node.keys[i] for i in keep) if node.keys else None
    return replace(node, inputs=tuple(node.inputs[i] for i in keep), keys=keys)


def _reads_x(cell: Cell) -> bool:
    return any(name.startswith("x") for name in cell.inputs)


def _with_zeros(nodes: list[Node], roots: list[str], cell: Cell) -> list[Node]:
    """The nodes with real zeros where a folded zero is still read.

    A zero is as wide as what it reads, so one that is as wide as x reads an x, or where the
    cell has none, a linear of that width; rather one that is needed anyway.
    """
    alive = _alive(nodes, roots)
    needed = {node.name for node in alive} | {name for node in alive for name in node.inputs}
    wide = [name for name in cell.inputs if name.startswith("x")]
    wide = wide or [n.name for n in nodes if n.spec.kind is Kind.LINEAR and n.width == "input"]
    wide.sort(key=lambda name: name not in needed)
    taken = {node.name for node in nodes}
    names = {
        _ZEROS["hidden"]: _free_name("zero", taken),
        _ZEROS["input"]: _free_name("zero_x", taken),
    }
    zeros = [Node(names[_ZEROS["hidden"]], "zero")]
    if wide:
        zeros.append(Node(names[_ZEROS["input"]], "zero", (wide[0],)))
    return zeros + [
        node.reading(tuple(names.get(name, name) for name in node.inputs)) for node in nodes
    ]


def _alive(nodes: list[Node], roots: Iterable[str]) -> list[Node]:
    by_name = {node.name: node for node in nodes}
    found: set[str] = set()
    open_names = list(roots)
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
