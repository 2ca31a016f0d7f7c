"""What a valid cell is, in one place. Called once, when a `Cell` is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from cellwright.base.errors import did_you_mean, shown
from cellwright.cell.cell import Node
from cellwright.cell.errors import CellError
from cellwright.cell.names import MAX_HISTORY, MAX_STATES, is_node_name, parse_input
from cellwright.cell.ops import OPS, Kind

MAX_NODES = 4096
"""A cell is a small graph; the largest supernet of the papers has under a thousand nodes."""

MAX_INPUTS = 1024
"""The most inputs that one node may have."""


@dataclass(frozen=True)
class Checked:
    """The parts of a valid cell: nodes in topological order, and how wide each is."""

    nodes: tuple[Node, ...]
    states: tuple[str, ...]
    output: str
    widths: dict[str, str]
    needs_equal_widths: bool


def validate(nodes: tuple[Node, ...], states: tuple[str, ...], output: str | None) -> Checked:
    """Check a cell's parts and put its nodes in order, or raise a `CellError`."""
    if not nodes:
        raise CellError("a cell needs at least one node")
    if len(nodes) > MAX_NODES:
        raise CellError(f"a cell may have at most {MAX_NODES} nodes, this one has {len(nodes)}")
    if not states:
        raise CellError("a cell needs at least one state: name the node that becomes h0")
    if len(states) > MAX_STATES:
        raise CellError(f"a cell may have at most {MAX_STATES} states, this one has {len(states)}")
    names: set[str] = set()
    for node in nodes:
        _check_node(node)
        if node.name in names:
            raise CellError(f"two nodes are called {node.name!r}: names must be unique")
        names.add(node.name)
    nodes = tuple(_resolve_inputs(node, names, len(states)) for node in nodes)
    output = _check_states(states, output, names)
    nodes = _sorted(nodes)
    widths, equal = _widths(nodes, states, output)
    _check_keys(nodes, widths)
    return Checked(nodes, states, output, widths, equal)


def _check_node(node: Node) -> None:
    if not isinstance(node, Node):
        raise CellError(f"a node must be a Node, not {type(node).__name__}")
    if not isinstance(node.name, str) or not is_node_name(node.name):
        reason = "is the name of an input" if _is_input(node.name) else "is not a name"
        raise CellError(
            f"node {shown(node.name)} {reason}: use a letter or _, then up to 63 letters, "
            "digits, _ or -"
        )
    if not isinstance(node.op, str) or node.op not in OPS:
        hint = did_you_mean(node.op, OPS) if isinstance(node.op, str) else ""
        raise CellError(
            f"node {node.name!r}: unknown operation {shown(node.op)}{hint or known_operations()}"
        )
    if not isinstance(node.inputs, tuple) or not all(isinstance(i, str) for i in node.inputs):
        raise CellError(f"node {node.name!r}: inputs must be a tuple of names")
    if not node.spec.takes(len(node.inputs)):
        raise CellError(
            f"node {node.name!r}: {node.op} takes {node.spec.arity}, not {len(node.inputs)}"
        )
    if len(node.inputs) > MAX_INPUTS:
        raise CellError(f"node {node.name!r}: at most {MAX_INPUTS} inputs, not {len(node.inputs)}")
    _check_attributes(node)


def known_operations() -> str:
    """The list of operations, for messages."""
    return f"; the operations are {', '.join(OPS)}"


def _check_attributes(node: Node) -> None:
    allowed = node.spec.attributes
    given = {
        "bias": node.bias is not True,
        "keys": node.keys is not None,
        "width": node.width != "hidden",
        "theta": node.theta is not None,
    }
    for attribute, is_given in given.items():
        if is_given and attribute not in allowed:
            raise CellError(f"node {node.name!r}: {node.op} has no attribute {attribute!r}")
    if not isinstance(node.bias, bool):
        raise CellError(f"node {node.name!r}: bias must be true or false, not {shown(node.bias)}")
    if node.width not in ("hidden", "input"):
        raise CellError(
            f"node {node.name!r}: width must be 'hidden' or 'input', not {shown(node.width)}"
        )
    if node.keys is not None:
        if not isinstance(node.keys, tuple) or len(node.keys) != len(node.inputs):
            raise CellError(
                f"node {node.name!r}: keys must name one weight for each of its "
                f"{len(node.inputs)} inputs"
            )
        for key in node.keys:
            if not isinstance(key, str) or not is_node_name(key):
                raise CellError(f"node {node.name!r}: {shown(key)} is not a name for a weight")
    if node.theta is not None and (not isinstance(node.theta, str) or not is_node_name(node.theta)):
        raise CellError(f"node {node.name!r}: {shown(node.theta)} is not a name for weights θ")


def _is_input(name: object) -> bool:
    return isinstance(name, str) and len(name) < 100 and parse_input(name) is not None


def _resolve_inputs(node: Node, names: set[str], states: int) -> Node:
    resolved = []
    for name in node.inputs:
        if name in names:
            resolved.append(name)
            continue
        known = parse_input(name) if len(name) < 100 else None
        if known is None:
            hint = did_you_mean(name, names | {"x"} | {f"h{i}" for i in range(states)})
            raise CellError(f"node {node.name!r}: unknown input {shown(name)}{hint}")
        if known.state is not None and known.state >= states:
            raise CellError(
                f"node {node.name!r}: there is no state {name!r}, the cell has {states} "
                f"(h0{f' to h{states - 1}' if states > 1 else ''})"
            )
        if known.state is not None and known.back == 0:
            raise CellError(
                f"node {node.name!r}: {name!r} is the state that is being made; "
                f"the previous one is 'h{known.state}'"
            )
        if known.back > MAX_HISTORY:
            raise CellError(
                f"node {node.name!r}: {name!r} reaches back more than {MAX_HISTORY} steps"
            )
        resolved.append(known.name)
    return node.reading(tuple(resolved))


def _check_states(states: Sequence[str], output: str | None, names: set[str]) -> str:
    for number, state in enumerate(states):
        if not isinstance(state, str) or state not in names:
            hint = did_you_mean(state, names) if isinstance(state, str) else ""
            raise CellError(f"state h{number} is fed by {shown(state)}, which is not a node{hint}")
    if output is None:
        return states[0]
    if not isinstance(output, str) or output not in names:
        hint = did_you_mean(output, names) if isinstance(output, str) else ""
        raise CellError(f"the output {shown(output)} is not a node{hint}")
    return output


def _sorted(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Topological order, as near to the given one as it can be."""
    by_name = {node.name: node for node in nodes}
    seen: set[str] = set()
    in_order = True
    for node in nodes:
        in_order = in_order and all(i in seen or i not in by_name for i in node.inputs)
        seen.add(node.name)
    if in_order:
        return nodes
    graph = {node.name: [i for i in node.inputs if i in by_name] for node in nodes}
    try:
        return tuple(by_name[name] for name in TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle = list(reversed(error.args[1]))
        path = " → ".join(cycle if len(cycle) <= 12 else [*cycle[:12], "…"])
        raise CellError(f"node {cycle[0]!r} is part of a cycle: {path}") from None


def _widths(
    nodes: tuple[Node, ...], states: Sequence[str], output: str
) -> tuple[dict[str, str], bool]:
    """How wide each node is, and whether the two widths have to be equal.

    A linear or a vector is as wide as it says. Everything else is as wide as its inputs; where x
    itself meets a hidden-wide value the two widths must be equal, which is a matter of
    the sizes. Where a linear *says* `width="input"`, meeting a hidden-wide value is a
    mistake.
    """
    widths: dict[str, str] = {}
    declared: set[str] = set()  # input-wide because a linear says so
    equal = False
    for node in nodes:
        if node.spec.kind is Kind.LINEAR or not node.inputs:
            widths[node.name] = node.width
            if node.width == "input":
                declared.add(node.name)
            continue
        found = {name: widths.get(name) or _input_width(name) for name in node.inputs}
        wide = [name for name, width in found.items() if width == "input"]
        if len(wide) == len(found):
            widths[node.name] = "input"
            if any(name in declared for name in wide):
                declared.add(node.name)
            continue
        widths[node.name] = "hidden"
        for name in wide:
            if name in declared:
                raise CellError(
                    f"node {node.name!r}: its input {name!r} is as wide as x, the others are "
                    "as wide as the hidden state"
                )
            equal = True
    for role, name in [*((f"state h{i}", s) for i, s in enumerate(states)), ("the output", output)]:
        if widths[name] == "input":
            if name in declared:
                raise CellError(
                    f"{role} is fed by {name!r}, which is as wide as x; "
                    "it must be as wide as the hidden state"
                )
            equal = True
    return widths, equal


def _check_keys(nodes: tuple[Node, ...], widths: dict[str, str]) -> None:
    """A weight that is used twice must have one shape."""
    shapes: dict[str, tuple[str, str]] = {}
    for node in nodes:
        for key, name in zip(node.keys or (), node.inputs, strict=False):
            shape = node.width, widths.get(name) or _input_width(name)
            if shapes.setdefault(key, shape) != shape:
                raise CellError(
                    f"node {node.name!r}: its weight {key!r} is used elsewhere between values "
                    f"of other widths: from {shapes[key][1]} to {shapes[key][0]}, "
                    f"here from {shape[1]} to {shape[0]}"
                )


def _input_width(name: str) -> str:
    known = parse_input(name)
    assert known is not None
    return "input" if known.state is None else "hidden"
