"""DARTS (Liu et al. 2019) and I-DARTS cells.

Node 0 is made of x and h(t−1). Node i is the sum of its edges from earlier nodes: one edge
in DARTS; one or more in I-DARTS, also several between the same two nodes. The output is
the mean of the `concat` nodes. There are two kinds of edges:

`"highway"`, what DARTS' own code computes: s_j + c·(o(s_j·W) − s_j) with c = sigmoid(s_j·W_c).
The two matrices belong to the *target* node and serve all its edges. Node 0 is such a highway
of tanh over [x, h].

`"plain"`, what the papers write (I-DARTS Eq. 1, ESS Eq. 4): o(s_j·W_j). The matrix belongs to
the *source* node. Node 0 is tanh(W·[x, h]) (ESS Eq. 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cellwright.cell.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.cell.listings._graph import (
    ACTIVATIONS,
    MOST_NODES,
    Builder,
    Structure,
    check_number,
    check_word,
)
from cellwright.cell.listings.enas import highway

OPERATIONS = ("none", "tanh", "relu", "sigmoid", "identity")
"""DARTS' operations, in the order of its code. `none` is an edge whose value is zero."""

EDGES = ("highway", "plain")

Edge = tuple[str, int]


@dataclass(frozen=True)
class DartsListing:
    """A DARTS or I-DARTS cell: the edges (operation, predecessor) of nodes 1, 2, …

    Args:
        nodes: for each node its edges.
        concat: the numbers of the nodes that the output averages.
        edges: `"highway"` or `"plain"`, see the module.
    """

    nodes: tuple[tuple[Edge, ...], ...]
    concat: tuple[int, ...]
    edges: str = "highway"

    def __post_init__(self) -> None:
        if self.edges not in EDGES:
            raise CellError(f"edges are 'highway' or 'plain', not {self.edges!r}")
        if not self.nodes:
            raise CellError("a DARTS cell needs at least one node after node 0")
        if len(self.nodes) > MOST_NODES:
            raise CellError(f"a DARTS cell may have at most {MOST_NODES} nodes")
        for number, edges in enumerate(self.nodes, 1):
            where = f"DARTS node {number}"
            if not edges:
                raise CellError(f"{where} has no edge")
            for op, predecessor in edges:
                check_word(op, OPERATIONS, where)
                check_number(predecessor, 0, number - 1, where)
            if len(set(edges)) < len(edges):
                raise CellError(f"{where} has the same edge twice")
        if not self.concat:
            raise CellError("concat names no node: the output has nothing to average")
        for number in self.concat:
            check_number(number, 0, len(self.nodes), "concat")
        if len(set(self.concat)) < len(self.concat):
            raise CellError("concat names a node twice")

    @classmethod
    def of(
        cls,
        recurrent: Iterable[Edge | Sequence[Edge]],
        concat: Iterable[int] | None = None,
        edges: str = "highway",
    ) -> DartsListing:
        """A listing from a genotype's parts; all nodes but node 0 are averaged unless said.

        >>> DartsListing.of([("relu", 0), [("tanh", 0), ("relu", 1)]]).concat
        (1, 2)
        """
        nodes: list[tuple[Edge, ...]] = []
        for entry in recurrent:
            match entry:
                case (str(op), int(source)):
                    nodes.append(((op, source),))
                case _:
                    nodes.append(tuple(entry))
        chosen = range(1, len(nodes) + 1) if concat is None else concat
        return cls(tuple(nodes), tuple(chosen), edges)


def lower(listing: DartsListing, name: str = "", *, keys: bool = False) -> Cell:
    """The listing as a cell.

    With `keys`, the linears name their weights as the supernets do (see `lower_start`, and
    `c_3`, `h_3` for the matrices of target 3 or `w_2` for that of source 2), so that a cell
    and the supernet that it comes from have the same weights under the same names.
    """
    build = Builder()
    end = lower_intra(build, listing, "x", "h0", keys=keys)
    return Cell(build.nodes, [end], name=name)


def lower_intra(
    build: Builder, listing: DartsListing, x: str, h: str, *, keys: bool = False
) -> str:
    """Add the listing's nodes over the values `x` and `h`; the name of the output."""
    values = [lower_start(build, listing.edges, x, h, keys=keys)]
    weights: dict[int, str] = {}
    for number, edges in enumerate(listing.nodes, 1):
        if listing.edges == "highway":
            values.append(_highway_node(build, number, edges, values, keys))
        else:
            values.append(_plain_node(build, number, edges, values, weights, keys))
    return build.mean("mean", [values[i] for i in listing.concat])


def lower_start(build: Builder, edges: str, x: str, h: str, *, keys: bool = False) -> str:
    """Add node 0 over `x` and `h`.

    With `keys` its weights are `c_0_x`, `c_0_h`, `h_0_x`, `h_0_h` in a cell of highway edges,
    `w_in_x` and `w_in_h` (ESS Eq. 7) in one of plain edges.
    """
    if edges == "highway":
        return highway(build, "0", "tanh", (x, h), h, ("0_x", "0_h") if keys else ())
    weights = ("w_in_x", "w_in_h") if keys else None
    return build.add("s_0", "tanh", build.linear("w_in", x, h, keys=weights))


def _highway_node(
    build: Builder, number: int, edges: Sequence[Edge], values: list[str], keys: bool
) -> str:
    sources = {source for op, source in edges if op != "none"}
    parts: list[str] = []
    made: dict[int, tuple[str, str]] = {}  # per source: its gate, and its linear
    for op, source in edges:
        edge = _edge_name(number, edges, op, source)
        value = values[source]
        if op == "none":
            parts.append(build.add(edge, "zero", value))
            continue
        if source not in made:
            tag = f"{number}" if len(edges) == 1 else f"{number}_{source}"
            named = keys or len(sources) > 1  # the target's matrices serve every source
            c = build.linear(f"c_{tag}", value, keys=(f"c_{number}",) if named else None)
            h = build.linear(f"h_{tag}", value, keys=(f"h_{number}",) if named else None)
            made[source] = build.add(f"gate_{tag}", "sigmoid", c), h
        gate, linear = made[source]
        new = build.add(f"new_{edge.partition('_')[2]}", op, linear)
        parts.append(build.add(edge, "blend", gate, new, value))
    return parts[0] if len(parts) == 1 else build.add(f"s_{number}", "add", *parts)


def _plain_node(
    build: Builder,
    number: int,
    edges: Sequence[Edge],
    values: list[str],
    weights: dict[int, str],
    keys: bool,
) -> str:
    parts: list[str] = []
    for op, source in edges:
        edge = _edge_name(number, edges, op, source)
        if op == "none":
            parts.append(build.add(edge, "zero", values[source]))
            continue
        if source not in weights:
            key = (f"w_{source}",) if keys else None
            weights[source] = build.linear(f"w_{source}", values[source], keys=key)
        parts.append(build.add(edge, op, weights[source]))
    return parts[0] if len(parts) == 1 else build.add(f"s_{number}", "add", *parts)


def _edge_name(number: int, edges: Sequence[Edge], op: str, source: int) -> str:
    return f"s_{number}" if len(edges) == 1 else f"edge_{number}_{source}_{op}"


def lift(cell: Cell) -> DartsListing:
    """The listing of a cell that has a DARTS or I-DARTS cell's structure."""
    graph = Structure(cell, "a DARTS cell")
    listing = lift_intra(graph, "x", "h0")
    graph.all_claimed()
    graph.same(lower(listing))
    return listing


def lift_intra(graph: Structure, x: str, h: str) -> DartsListing:
    """Recognise a DARTS cell over the values `x` and `h` in what is not yet claimed."""
    kind = "highway" if any(node.op == "blend" for node in graph.cell.nodes) else "plain"
    numbers: dict[str, int] = {}
    edge_of: dict[str, tuple[str, str]] = {}  # value of an edge: operation, source
    nodes: list[tuple[Edge, ...]] = []

    def number_of(value: str, reader: str) -> int:
        if value not in numbers:
            raise graph.misfit(reader, f"it reads {value!r}, which is not an earlier node's value")
        return numbers[value]

    def new_node(name: str, edges: list[str]) -> None:
        found = tuple((edge_of[e][0], number_of(edge_of[e][1], e)) for e in edges)
        if len(set(found)) < len(found):
            raise graph.misfit(name, "it sums the same edge twice")
        nodes.append(found)
        numbers[name] = len(nodes)

    ends = graph.averaged()
    for node in graph.cell.nodes:
        name = node.name
        if name in graph.claimed:
            continue
        if _is_start(graph, name, kind, x, h):
            if 0 in numbers.values():
                raise graph.misfit(name, "it is a second node over x and h")
            numbers[name] = 0
            continue
        if node.op == "add":
            for part in node.inputs:
                if part not in edge_of:
                    raise graph.misfit(name, f"it adds {part!r}, which is not an edge")
                graph.only_reader(part, name)
            graph.claim((name,))
            new_node(name, list(node.inputs))
            continue
        edge = _edge(graph, name, kind)
        if edge is None:
            continue
        edge_of[name] = edge
        if not any(reader.op == "add" for reader in graph.readers.get(name, ())):
            new_node(name, [name])
    if 0 not in numbers.values():
        raise graph.misfit(graph.cell.nodes[0].name, "no node is made of x and h first")
    if not nodes:
        raise graph.misfit(graph.cell.output, "there is no node after node 0")
    concat = sorted(number_of(value, graph.cell.output) for value in ends)
    return DartsListing(tuple(nodes), tuple(concat), kind)


def _is_start(graph: Structure, name: str, kind: str, x: str, h: str) -> bool:
    """Whether the node is node 0; claims its parts."""
    node = graph.cell.node(name)
    if kind == "plain":
        if node.op != "tanh" or graph.op(node.inputs[0]) != "linear":
            return False
        if sorted(graph.cell.node(node.inputs[0]).inputs) != sorted((x, h)):
            return False
        graph.activated(name, bias=False)
        graph.only_reader(node.inputs[0], name)
        return True
    if node.op != "blend" or node.inputs[2] != h:
        return False
    found = graph.highway(node)
    if sorted(found.over) != sorted((x, h)) or found.op != "tanh":
        raise graph.misfit(name, f"node 0 is a highway of tanh over {x} and {h}")
    return True


def _edge(graph: Structure, name: str, kind: str) -> tuple[str, str] | None:
    """The edge whose value the node is, as (operation, source); None for an edge's inside."""
    node = graph.cell.node(name)
    if node.op == "zero":
        if len(node.inputs) != 1:
            raise graph.misfit(name, "the zero of a none edge reads its source")
        graph.claim((name,))
        return "none", node.inputs[0]
    if kind == "plain":
        if node.op not in ACTIVATIONS:
            return None
        found = graph.activated(name, bias=False)
        if len(found.over) != 1:
            raise graph.misfit(found.linear, "an edge's linear reads one earlier node")
        for other in graph.readers[found.over[0]]:
            if other.op == "linear" and other.name != found.linear:
                raise graph.misfit(other.name, f"{found.over[0]!r} already has a linear")
        return found.op, found.over[0]
    if node.op != "blend":
        return None
    highway_edge = graph.highway(node, shared=True)
    if highway_edge.over != (highway_edge.carry,):
        raise graph.misfit(name, "a highway edge reads one earlier node")
    return highway_edge.op, highway_edge.carry
