"""Recognising a FENAS cell: the inverse of `fenas.lower`."""

from __future__ import annotations

from cellwright.cell.cell import Cell, Node
from cellwright.cell.listings._graph import ACTIVATIONS, Structure
from cellwright.cell.listings.fenas import (
    ATOMIC,
    SKIPS,
    STATES,
    FenasListing,
    FenasNode,
    Source,
    lower,
)


def recognise(cell: Cell, shortest: bool) -> FenasListing:
    """The listing of a cell; see `fenas.lift`."""
    graph = Structure(cell, "a FENAS cell")
    h, inside = _outline(graph)
    sums = _inner_sums(graph) if shortest else set()
    names = {inner: outer for outer, inner in STATES.items()}
    values: dict[str, Source] = dict(names)
    nodes: list[FenasNode] = []

    def source(name: str, reader: str) -> Source:
        if name not in values:
            raise graph.misfit(reader, f"it reads {name!r}, which is not x, h, c or a node")
        return values[name]

    for node in cell.nodes:
        if node.op == "zero":
            if node.inputs or "zero" in values.values():
                raise graph.misfit(node.name, "there is one zero, which reads nothing")
            values[node.name] = "zero"
        elif node.name in inside or node.name in sums or node.name == h:
            continue
        else:
            function, inputs = _function(graph, node, sums)
            sources = [source(name, node.name) for name in inputs]
            if "zero" in sources and function not in ATOMIC:
                raise graph.misfit(node.name, "only add, sub and mul read a zero as such")
            nodes.append(FenasNode(function, sources[0], (*sources, "zero")[1]))
            values[node.name] = len(nodes)
    c: Source | None = None
    if len(cell.states) > 1:
        c = source(cell.states[1], cell.states[1])
    listing = FenasListing(tuple(nodes), c if isinstance(c, int) else None)
    _check_ends(graph, listing, values, h)
    graph.same(lower(listing))
    return listing


def _outline(graph: Structure) -> tuple[str | None, set[str]]:
    """The name of the mean at the end, if there is one, and the nodes inside other nodes."""
    cell = graph.cell
    if len(cell.states) > 2:
        raise graph.misfit(cell.states[2], "it is a third state; there are h and c")
    if cell.output != cell.states[0]:
        raise graph.misfit(cell.output, "it is the output, which must be h")
    end = cell.states[0] if cell.node(cell.states[0]).op == "mean" else None
    if end is not None and graph.readers.get(end):
        raise graph.misfit(graph.readers[end][0].name, f"it reads {end!r}, the mean at the end")
    for name in cell.inputs:
        if name not in STATES.values():
            raise graph.misfit(graph.readers[name][0].name, f"it reads {name!r}")
    inside: set[str] = set()
    for node in cell.nodes:
        if node.op == "blend":
            inside.update(_inside_skip(graph, node))
        elif node.op == "linear":
            graph.plain_linear(node.name, node.name, bias=True)
            if len(node.inputs) > 2:
                raise graph.misfit(node.name, "a node reads at most two values")
            readers = graph.readers.get(node.name, [])
            if len(readers) != 1 or readers[0].op not in ACTIVATIONS:
                raise graph.misfit(node.name, "a linear is read by one activation")
            graph.only_reader(node.name, readers[0].name)
            inside.add(node.name)
    return end, inside


def _inside_skip(graph: Structure, node: Node) -> list[str]:
    """The nodes that a skip-activation is made of, but for its blend."""
    gate, new, carry = node.inputs
    if graph.op(gate) != "sigmoid" or f"{graph.op(new)}-skip" not in SKIPS:
        raise graph.misfit(node.name, "a skip blends by a sigmoid a tanh, relu or sigmoid")
    first = graph.activated(gate, bias=True)
    second = graph.activated(new, bias=True)
    if sorted(first.over) != sorted(second.over) or first.linear == second.linear:
        raise graph.misfit(node.name, "the two linears of a skip are different, over the same")
    parts = [gate, new]
    if len(first.over) == 1:
        if first.over != (carry,):
            raise graph.misfit(node.name, "a skip passes on what its linears read")
    elif graph.op(carry) != "add" or sorted(graph.cell.node(carry).inputs) != sorted(first.over):
        raise graph.misfit(node.name, "a skip passes on the sum of what its linears read")
    else:
        parts.append(carry)
    for part in parts:
        graph.only_reader(part, node.name)
    return parts


def _inner_sums(graph: Structure) -> set[str]:
    """The sums that only one activation reads, and of which none is zero."""
    found = set()
    for node in graph.cell.nodes:
        readers = graph.readers.get(node.name, [])
        if (
            node.op == "add"
            and [r.op for r in readers if r.op in ACTIVATIONS] == [r.op for r in readers]
            and len(readers) == 1
            and node.name not in graph.cell.states
            and all(graph.op(name) != "zero" for name in node.inputs)
        ):
            found.add(node.name)
    return found


def _function(graph: Structure, node: Node, sums: set[str]) -> tuple[str, tuple[str, ...]]:
    if node.op in ATOMIC:
        if len(node.inputs) != 2:
            raise graph.misfit(node.name, "a node reads at most two values")
        return node.op, node.inputs
    if node.op == "blend":
        return f"{graph.op(node.inputs[1])}-skip", _linear_under(graph, node.inputs[0])
    if node.op not in ACTIVATIONS:
        raise graph.misfit(node.name, f"{node.op} is not a function of FENAS")
    below = node.inputs[0]
    if graph.op(below) == "linear":
        return node.op, graph.cell.node(below).inputs
    return f"{node.op}*", graph.cell.node(below).inputs if below in sums else (below,)


def _linear_under(graph: Structure, name: str) -> tuple[str, ...]:
    return graph.cell.node(graph.cell.node(name).inputs[0]).inputs


def _check_ends(
    graph: Structure, listing: FenasListing, values: dict[str, Source], h: str | None
) -> None:
    state = graph.cell.states[0]
    averaged = set(graph.cell.node(state).inputs if h is not None else (state,))
    loose = {name for name, number in values.items() if number in listing.loose_ends}
    for name in averaged - loose:
        raise graph.misfit(state, f"it takes {name!r} into h, which another node reads")
    for name in loose - averaged:
        raise graph.misfit(name, "no node reads it, so h must average it")
