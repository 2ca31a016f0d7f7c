"""NAS-Bench-NLP recipes (Klyuchnikov et al. 2020, section 3).

A recipe is a mapping of node names to `{"op": …, "input": […]}` over the inputs `x` and
`h_prev_0`, `h_prev_1`, …; the nodes `h_new_0`, `h_new_1`, … are the new states. The nodes may
stand in any order, and a new state may be read by other nodes. Here the recipe itself, the
release's plain data, is the listing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cellwright.base.errors import did_you_mean, shown
from cellwright.cell.cell import Cell, Node
from cellwright.cell.errors import CellError
from cellwright.cell.listings._graph import Structure
from cellwright.cell.names import MAX_STATES, is_node_name, parse_input

OPERATIONS = {
    "linear": "linear",
    "blend": "blend",
    "elementwise_prod": "mul",
    "elementwise_sum": "add",
    "activation_tanh": "tanh",
    "activation_sigm": "sigmoid",
    "activation_leaky_relu": "leaky_relu",
}
"""The release's operations, and what they are called here."""

RENAMED = "recipe_names"
"""The note that remembers recipe names which cannot be the name of a node."""

_PREVIOUS = re.compile(r"h_prev_(0|[1-9]\d{0,3})", re.ASCII)
_NEW = re.compile(r"h_new_(0|[1-9]\d{0,3})", re.ASCII)

Recipe = Mapping[str, Mapping[str, Any]]


def lower(recipe: Recipe, name: str = "", notes: Mapping[str, Any] | None = None) -> Cell:
    """The recipe as a cell."""
    if not isinstance(recipe, Mapping) or not recipe:
        raise CellError("a recipe is an object of nodes, {name: {'op': …, 'input': […]}}")
    states = _count_states(recipe)
    names = _node_names(recipe)
    nodes = [_lower_node(own, entry, names, states) for own, entry in recipe.items()]
    remembered = {new: old for old, new in names.items() if new != old}
    all_notes = {**(notes or {}), **({RENAMED: remembered} if remembered else {})}
    return Cell(nodes, [f"h_new_{i}" for i in range(states)], name=name, notes=all_notes)


def _count_states(recipe: Recipe) -> int:
    found = {int(m.group(1)) for own in recipe if (m := _NEW.fullmatch(own))}
    if not found:
        raise CellError("the recipe has no node 'h_new_0': it makes no new state")
    count = len(found)
    if count > MAX_STATES:
        raise CellError(f"a recipe may have at most {MAX_STATES} states, this one has {count}")
    missing = next((i for i in range(count) if i not in found), None)
    if missing is not None:
        raise CellError(f"the recipe has 'h_new_{max(found)}', but no 'h_new_{missing}'")
    return count


def _node_names(recipe: Recipe) -> dict[str, str]:
    """For each name in the recipe a name that a node may have."""
    taken = {own for own in recipe if is_node_name(own)}
    names = {}
    for own in recipe:
        if own == "x" or _PREVIOUS.fullmatch(own):
            raise CellError(f"node {shown(own)}: that is the name of an input")
        names[own] = own if is_node_name(own) else _free("n_" + own, taken)
        taken.add(names[own])
    return names


def _free(wish: str, taken: set[str]) -> str:
    """A name for a node that is like `wish` and not taken."""
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", wish[:50])
    name, number = stem, 1
    while name in taken or not is_node_name(name):
        number += 1
        name = f"{stem}_{number}"
    return name


def _lower_node(own: str, entry: Any, names: dict[str, str], states: int) -> Node:
    where = f"node {shown(own)}"
    if not isinstance(entry, Mapping):
        raise CellError(f"{where}: a recipe's node is an object with 'op' and 'input'")
    for key in ("op", "input"):
        if key not in entry:
            raise CellError(f"{where} has no {key!r}")
    for key in entry:
        if key not in ("op", "input"):
            raise CellError(f"{where} has an unknown key {shown(key)}; it may have 'op', 'input'")
    op, inputs = entry["op"], entry["input"]
    if not isinstance(op, str) or op not in OPERATIONS:
        hint = did_you_mean(op, OPERATIONS) if isinstance(op, str) else ""
        raise CellError(
            f"{where}: unknown operation {shown(op)}"
            f"{hint or '; a recipe has ' + ', '.join(OPERATIONS)}"
        )
    if not isinstance(inputs, list | tuple):
        raise CellError(f"{where}: 'input' must be a list of names, not {shown(inputs)}")
    found = tuple(_lower_input(value, where, names, states) for value in inputs)
    return Node(names[own], OPERATIONS[op], found)


def _lower_input(value: Any, where: str, names: dict[str, str], states: int) -> str:
    if not isinstance(value, str):
        raise CellError(f"{where}: an input is a name, not {shown(value)}")
    if value in names:
        return names[value]
    if value == "x":
        return value
    match = _PREVIOUS.fullmatch(value)
    if match is None:
        known = [*names, "x", *(f"h_prev_{i}" for i in range(states))]
        raise CellError(f"{where}: unknown input {shown(value)}{did_you_mean(value, known)}")
    number = int(match.group(1))
    if number >= states:
        raise CellError(f"{where} reads {value!r}, but the recipe has no 'h_new_{number}'")
    return f"h{number}"


def lift(cell: Cell) -> dict[str, dict[str, Any]]:
    """The recipe of a cell whose operations a recipe has."""
    graph = Structure(cell, "a NAS-Bench-NLP recipe")
    back = {inner: outer for outer, inner in OPERATIONS.items()}
    names = _recipe_names(graph)
    recipe: dict[str, dict[str, Any]] = {}
    for node in cell.nodes:
        if node.op not in back:
            raise graph.misfit(node.name, f"a recipe has no {node.op}; it has {', '.join(back)}")
        if node.op == "linear":
            graph.plain_linear(node.name, node.name, bias=True)
        inputs = []
        for name in node.inputs:
            known = parse_input(name)
            if known is None:
                inputs.append(names[name])
            elif known.back != (0 if known.state is None else 1):
                raise graph.misfit(node.name, f"it reads {name!r}; a recipe has no history")
            else:
                inputs.append("x" if known.state is None else f"h_prev_{known.state}")
        recipe[names[node.name]] = {"op": back[node.op], "input": inputs}
    return recipe


def _recipe_names(graph: Structure) -> dict[str, str]:
    cell = graph.cell
    if cell.output != cell.states[0]:
        raise graph.misfit(cell.output, "it is the output; a recipe's output is its first state")
    names: dict[str, str] = {}
    for number, state in enumerate(cell.states):
        if state in names:
            raise graph.misfit(state, "it feeds two states; a recipe has a node for each")
        names[state] = f"h_new_{number}"
    taken = set(names.values())
    remembered = cell.notes.get(RENAMED)
    wishes = remembered if isinstance(remembered, Mapping) else {}
    free = [node.name for node in cell.nodes if node.name not in names]
    for name in free:
        wish = wishes.get(name, name)
        usable = isinstance(wish, str) and wish not in taken and wish not in cell
        if wish != name and not usable:
            wish = name
        if wish == "x" or _PREVIOUS.fullmatch(wish) or _NEW.fullmatch(wish):
            wish = _free("n_" + name, taken | set(free))
        names[name] = wish
        taken.add(wish)
    return names
