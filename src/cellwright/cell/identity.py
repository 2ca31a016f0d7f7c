"""`content_id`: a hash that is equal exactly for equal graphs.

This is canonical labelling of a small coloured graph. Vertices are coloured by all that leads
to them and from them, and colours are refined until they are stable. What is then still alike
falls into parts that have nothing to do with each other; each part is labelled on its own, by
singling out one of its alike vertices in every way and keeping the smallest listing. Equal
parts may stand in any order. Two ways with the same listing show a symmetry of the part, and
what a symmetry maps onto something tried need not be tried.

nauty would do the same, but its labelling may differ between releases and platforms, and
ids are kept in files and databases, so they must never change.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

from cellwright.cell.errors import CellError

if TYPE_CHECKING:
    from cellwright.cell.cell import Cell

ID_LENGTH = 16
_VERSION = "cellwright/1"
_MOST_WORK = 300_000
"""Vertices that may be looked at; the papers' largest supernets need a few thousand."""


@dataclass(frozen=True)
class _Graph:
    """Vertices with a label, and labelled arcs to the vertices each one reads."""

    labels: list[str]
    reads: list[list[tuple[str, int]]]


def content_id(cell: Cell) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of the cell's canonical listing."""
    graph = _as_graph(cell)
    listing = _Labelling(graph).listing()
    return hashlib.sha256(repr((_VERSION, listing)).encode()).hexdigest()[:ID_LENGTH]


def _as_graph(cell: Cell) -> _Graph:
    """The cell as a graph in which everything that counts is a vertex, a label or an arc.

    Inputs are vertices labelled by name, states and output are marked on their nodes. A
    weight name counts only where it ties two weights together: such a weight is a vertex
    of its own. An arc's label is the input's position, or nothing where order is free.
    """
    number = {name: i for i, name in enumerate([*cell.inputs, *(n.name for n in cell.nodes)])}
    labels = [f"input {name}" for name in cell.inputs]
    reads: list[list[tuple[str, int]]] = [[] for _ in cell.inputs]
    roles: dict[str, list[str]] = {}
    for i, state in enumerate(cell.states):
        roles.setdefault(state, []).append(f"h{i}")
    roles.setdefault(cell.output, []).append("output")
    uses = Counter(key for node in cell.nodes for key in node.keys or ())
    thetas = Counter(node.theta_name for node in cell.nodes if node.op == "mix")
    shared = {key: i for i, key in enumerate(k for k, count in uses.items() if count > 1)}
    shared_thetas = {key: i for i, key in enumerate(k for k, count in thetas.items() if count > 1)}
    first_weight = len(number)
    first_theta = first_weight + len(shared)
    # A tied weight's arc must say which input it multiplies, so each such use is a vertex.
    extra_labels: list[str] = ["weight"] * len(shared) + ["theta"] * len(shared_thetas)
    extra_reads: list[list[tuple[str, int]]] = [[] for _ in extra_labels]
    for node in cell.nodes:
        op = node.spec
        attributes = [f"{a}={getattr(node, a)}" for a in ("bias", "width") if a in op.attributes]
        labels.append(" ".join([op.name, *attributes, *roles.get(node.name, ())]))
        arcs: list[tuple[str, int]] = []
        for position, name in enumerate(node.inputs):
            place = "" if op.commutative else str(position)
            key = node.keys[position] if node.keys else None
            if key in shared:
                extra_labels.append("use")
                extra_reads.append(
                    [("input", number[name]), ("weight", first_weight + shared[key])]
                )
                arcs.append((place, first_weight + len(extra_labels) - 1))
            else:
                arcs.append((place, number[name]))
        if op.name == "mix" and node.theta_name in shared_thetas:
            arcs.append(("theta", first_theta + shared_thetas[node.theta_name]))
        reads.append(arcs)
    return _Graph(labels + extra_labels, reads + extra_reads)


class _Labelling:
    """The search for the canonical order of one graph's vertices."""

    def __init__(self, graph: _Graph) -> None:
        self.labels = graph.labels
        self.reads = graph.reads
        self.read_by: list[list[tuple[str, int]]] = [[] for _ in graph.labels]
        for vertex, arcs in enumerate(graph.reads):
            for place, target in arcs:
                self.read_by[target].append((place, vertex))
        self.work = 0

    def listing(self) -> list[Any]:
        """The graph's vertices in canonical order, with their arcs."""
        order = self._order(self._refine(self._unfolded()))
        return self._written(order, self.labels)

    def _unfolded(self) -> dict[int, str]:
        """A first colour for each vertex: a hash of all that it leads from, then to.

        Refinement alone would find these one step at a time.
        """
        links: dict[int, list[int]] = {v: [u for _, u in a] for v, a in enumerate(self.reads)}
        order = list(TopologicalSorter(links).static_order())
        below: dict[int, str] = {}
        colours: dict[int, str] = {}
        for v in order:
            seen = sorted((place, below[u]) for place, u in self.reads[v])
            below[v] = _digest((self.labels[v], seen))
        for v in reversed(order):
            seen = sorted((place, colours[u]) for place, u in self.read_by[v])
            colours[v] = _digest((below[v], seen))
        return colours

    def _written(self, order: Sequence[int], labels: Sequence[Any] | dict[int, Any]) -> list[Any]:
        place = {vertex: i for i, vertex in enumerate(order)}
        return [
            (labels[v], sorted((name, place[u]) for name, u in self.reads[v] if u in place))
            for v in order
        ]

    def _refine(self, colours: dict[int, Any]) -> dict[int, int]:
        """Split colour classes by what their members read and who reads them.

        Only the vertices of `colours` take part: what the others say is in the colours.
        """
        ranked = _ranks(colours)
        classes = len(set(ranked.values()))
        while True:
            self.work += len(ranked)
            if self.work > _MOST_WORK:
                raise CellError("the cell has too many parts that look alike to be told apart")
            ranked = _ranks(
                {
                    v: (
                        colour,
                        sorted([(at, ranked[u]) for at, u in self.reads[v] if u in ranked]),
                        sorted([(at, ranked[u]) for at, u in self.read_by[v] if u in ranked]),
                    )
                    for v, colour in ranked.items()
                }
            )
            found = len(set(ranked.values()))
            if found == classes:
                return ranked
            classes = found

    def _order(self, colours: dict[int, int]) -> list[int]:
        """The canonical order of the vertices of stable `colours`."""
        count = Counter(colours.values())
        single = sorted((v for v, c in colours.items() if count[c] == 1), key=colours.__getitem__)
        alike = {v for v, c in colours.items() if count[c] > 1}
        parts = []
        for part in self._parts({v: colours[v] for v in alike}):
            order = self._order_part({v: colours[v] for v in part})
            parts.append((self._written(order, colours), order))
        parts.sort(key=lambda pair: pair[0])
        return single + [vertex for _, order in parts for vertex in order]

    def _order_part(self, colours: dict[int, int]) -> list[int]:
        """The canonical order of a connected part, each of whose vertices has a twin somewhere."""
        count = Counter(colours.values())
        if len(count) == len(colours):
            return sorted(colours, key=colours.__getitem__)
        chosen = min((n, c) for c, n in count.items() if n > 1)[1]
        orbits = _Orbits()
        best: tuple[list[Any], list[int]] | None = None
        tried: list[int] = []
        for first in (v for v, c in colours.items() if c == chosen):
            if any(orbits.same(first, other) for other in tried):
                continue
            tried.append(first)
            order = self._order(self._refine({v: (c, v != first) for v, c in colours.items()}))
            written = self._written(order, colours)
            if best is not None and written == best[0]:
                orbits.join(order, best[1])
            elif best is None or written < best[0]:
                best = written, order
        assert best is not None
        return best[1]

    def _parts(self, colours: dict[int, int]) -> list[list[int]]:
        """The connected parts of the graph on the vertices of stable `colours`.

        Where vertices of two colours are joined all in one way, and most of them are joined,
        it is the pairs that are not joined which connect: the colours say the rest.
        """
        members: dict[int, list[int]] = {}
        for vertex, colour in colours.items():
            members.setdefault(colour, []).append(vertex)
        joined: dict[tuple[int, int], dict[int, dict[int, list[str]]]] = {}
        for vertex, colour in colours.items():
            for place, other in self.reads[vertex]:
                if other in colours:
                    ways = joined.setdefault((colour, colours[other]), {}).setdefault(vertex, {})
                    ways.setdefault(other, []).append(place)
        near: dict[int, list[int]] = {vertex: [] for vertex in colours}
        for (_, target), arcs in joined.items():
            kinds = {tuple(sorted(way)) for ways in arcs.values() for way in ways.values()}
            count = len(members[target])
            mostly = len(kinds) == 1 and all(2 * len(ways) > count for ways in arcs.values())
            for vertex, ways in arcs.items():
                for other in (u for u in members[target] if u not in ways) if mostly else ways:
                    near[vertex].append(other)
                    near[other].append(vertex)
        left, parts = set(colours), []
        while left:
            part = [left.pop()]
            for vertex in part:
                for other in near[vertex]:
                    if other in left:
                        left.remove(other)
                        part.append(other)
            parts.append(part)
        return parts


class _Orbits:
    """Which vertices the symmetries found so far map onto each other."""

    def __init__(self) -> None:
        self.parent: dict[int, int] = {}

    def _root(self, vertex: int) -> int:
        while (parent := self.parent.get(vertex, vertex)) != vertex:
            vertex = parent
        return vertex

    def same(self, one: int, other: int) -> bool:
        return self._root(one) == self._root(other)

    def join(self, these: list[int], those: list[int]) -> None:
        for one, other in zip(these, those, strict=True):
            self.parent[self._root(one)] = self._root(other)


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()


def _ranks(values: dict[int, Any]) -> dict[int, int]:
    """Each value's place among the sorted distinct values."""
    ranks: dict[int, int] = {}
    rank, previous = -1, None
    for vertex in sorted(values, key=values.__getitem__):
        if rank < 0 or values[vertex] != previous:
            rank, previous = rank + 1, values[vertex]
        ranks[vertex] = rank
    return ranks
