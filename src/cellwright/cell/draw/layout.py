"""A layered layout from left to right (Sugiyama's): where each vertex is and how edges run.

Edges curve only in the gaps between columns and cross a column in a straight line, in a
lane of their own. So no edge can touch a vertex that it does not belong to, by
construction.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cellwright.cell.draw import layers, ordering, placing

GAP_BETWEEN_VERTICES = 12.0
GAP_BESIDE_EDGE = 7.0
LEAST_GAP = 30.0
MOST_GAP = 110.0
ARROW = 8.0
"""The straight end of each edge, where its arrow head and its label are."""


@dataclass(frozen=True)
class Box:
    """The room of a vertex: `above` and `below` its centre line, where edges end.

    Edges may end up to `reach` above or below the centre line, `spacing` apart, and need
    `lead` in front of the box for what is written beside them.
    """

    width: float
    above: float
    below: float
    reach: float = 0.0
    spacing: float = 7.0
    lead: float = 0.0


@dataclass(frozen=True)
class Route:
    """The way of one edge: start, then the end of each straight piece in turn.

    Points come in pairs; between the two of a pair the edge is straight and level, and
    between pairs it curves.
    """

    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Layout:
    """Centres of the vertices, routes of the edges, the size of it all, and its crossings."""

    centres: tuple[tuple[float, float], ...]
    routes: tuple[Route, ...]
    width: float
    height: float
    crossings: int


def layout(
    boxes: Sequence[Box],
    edges: Sequence[tuple[int, int]],
    first: Iterable[int] = (),
    last: Iterable[int] = (),
    pens: Sequence[str] | None = None,
) -> Layout:
    """Lay out vertices that are numbered in topological order.

    Long edges with the same source and the same of `pens` share their way as far as they
    go together, unless the picture has fewer crossings without that.
    """
    lines = pens or [""] * len(edges)
    return _layout(tuple(boxes), tuple(edges), tuple(first), tuple(last), tuple(lines))


@lru_cache(maxsize=256)  # a report draws the same cell as a picture of its own, and on its page
def _layout(
    boxes: tuple[Box, ...],
    edges: tuple[tuple[int, int], ...],
    first: tuple[int, ...],
    last: tuple[int, ...],
    lines: tuple[str, ...],
) -> Layout:
    column_of = layers.assign(len(boxes), edges, first, last)
    tries = [_order(column_of, edges, [(s, p) for (s, _), p in zip(edges, lines, strict=True)])]
    if sum(map(len, tries[0].columns)) <= ordering.SMALL:
        # Where many lines leave for the same few columns, separate ones may cross less.
        tries.append(_order(column_of, edges, range(len(edges))))
    best = min(tries, key=lambda tried: tried.crossings)
    chains, order, into, out = best.chains, best.columns, best.into, best.out
    total = len(into)
    is_dummy = [vertex >= len(boxes) for vertex in range(total)]

    def separation(a: int, b: int) -> float:
        below = 0.0 if is_dummy[a] else boxes[a].below
        above = 0.0 if is_dummy[b] else boxes[b].above
        both = not is_dummy[a] and not is_dummy[b]
        return below + above + (GAP_BETWEEN_VERTICES if both else GAP_BESIDE_EDGE)

    heights = placing.place(order, into, out, is_dummy, separation)
    top = min(y - (0 if d else boxes[v].above) for v, (y, d) in _indexed(heights, is_dummy))
    heights = [y - top for y in heights]
    bottom = max(y + (0 if d else boxes[v].below) for v, (y, d) in _indexed(heights, is_dummy))
    ends = _ends(boxes, chains, heights)
    spans = _spans(boxes, order, chains, heights, ends, column_of)
    centres = tuple((sum(spans[column_of[v]]) / 2, heights[v]) for v in range(len(boxes)))
    routes = []
    for number, chain in enumerate(chains):
        source, target = chain[0], chain[-1]
        right = centres[source][0] + boxes[source].width / 2
        points = [(right, heights[source]), (spans[column_of[source]][1], heights[source])]
        for step, dummy in enumerate(chain[1:-1], start=column_of[source] + 1):
            points += [(spans[step][0], heights[dummy]), (spans[step][1], heights[dummy])]
        left = centres[target][0] - boxes[target].width / 2
        begin = spans[column_of[target]][0] - ARROW - boxes[target].lead
        points += [(begin, ends[number]), (left, ends[number])]
        routes.append(Route(tuple(points)))
    return Layout(centres, tuple(routes), spans[-1][1], bottom, best.crossings)


@dataclass(frozen=True)
class _Ordered:
    """Each edge as a chain of vertices and dummies, and the order within the columns."""

    chains: list[list[int]]
    columns: list[list[int]]
    into: list[list[int]]
    out: list[list[int]]
    crossings: int


def _order(
    column_of: Sequence[int], edges: Sequence[tuple[int, int]], bundles: Sequence[Hashable]
) -> _Ordered:
    chains, columns = _with_dummies(column_of, edges, bundles)
    total = sum(map(len, columns))
    into: list[list[int]] = [[] for _ in range(total)]
    out: list[list[int]] = [[] for _ in range(total)]
    for chain in chains:
        for a, b in itertools.pairwise(chain):
            if b < len(column_of) or not into[b]:
                out[a].append(b)
                into[b].append(a)
    columns = ordering.reduce_crossings(columns, into, out)
    return _Ordered(chains, columns, into, out, ordering.crossings(columns, out))


def _indexed(heights: Sequence[float], is_dummy: Sequence[bool]) -> enumerate[tuple[float, bool]]:
    return enumerate(zip(heights, is_dummy, strict=True))


def _with_dummies(
    column_of: Sequence[int], edges: Sequence[tuple[int, int]], bundles: Sequence[Hashable]
) -> tuple[list[list[int]], list[list[int]]]:
    """Each edge as a chain of vertices, one per column, and the vertices of each column."""
    columns: list[list[int]] = [[] for _ in range(max(column_of, default=0) + 1)]
    for vertex, column in enumerate(column_of):
        columns[column].append(vertex)
    chains = []
    following = len(column_of)
    trunks: dict[Hashable, list[int]] = {}
    for (source, target), bundle in zip(edges, bundles, strict=True):
        trunk = trunks.setdefault(bundle, [])
        steps = column_of[target] - column_of[source] - 1
        for column in range(column_of[source] + 1 + len(trunk), column_of[target]):
            columns[column].append(following)
            trunk.append(following)
            following += 1
        chains.append([source, *trunk[:steps], target])
    return chains, columns


def _ends(
    boxes: Sequence[Box], chains: Sequence[Sequence[int]], heights: Sequence[float]
) -> list[float]:
    """The height at which each edge ends: level with where it comes from, if there is room."""
    arriving: dict[int, list[int]] = {}
    for number, chain in enumerate(chains):
        arriving.setdefault(chain[-1], []).append(number)
    ends = [0.0] * len(chains)
    for vertex, numbers in arriving.items():
        box, centre = boxes[vertex], heights[vertex]
        numbers.sort(key=lambda n: (heights[chains[n][-2]], chains[n][-2], n))
        spacing = min(box.spacing, 2 * box.reach / max(len(numbers) - 1, 1))
        top, count = centre - box.reach, len(numbers)
        wanted = []
        for i, n in enumerate(numbers):
            highest, lowest = top + i * spacing, centre + box.reach - (count - 1 - i) * spacing
            wanted.append(min(max(heights[chains[n][-2]], highest), lowest))
        for n, y in zip(numbers, _spaced(wanted, spacing), strict=True):
            ends[n] = y
    return ends


def _spaced(wanted: Sequence[float], spacing: float) -> list[float]:
    """The nearest values (least squares) that ascend by at least `spacing`."""
    pools: list[tuple[float, int]] = []  # mean and size; pool adjacent violators
    for i, value in enumerate(wanted):
        mean, size = value - i * spacing, 1
        while pools and pools[-1][0] > mean:
            other, count = pools.pop()
            mean = (mean * size + other * count) / (size + count)
            size += count
        pools.append((mean, size))
    flat = [mean for mean, size in pools for _ in range(size)]
    return [mean + i * spacing for i, mean in enumerate(flat)]


def _spans(
    boxes: Sequence[Box],
    order: Sequence[Sequence[int]],
    chains: Sequence[Sequence[int]],
    heights: Sequence[float],
    ends: Sequence[float],
    column_of: Sequence[int],
) -> list[tuple[float, float]]:
    """Left and right of each column; steep edges get a wider gap."""
    steepest = [0.0] * len(order)
    for number, chain in enumerate(chains):
        ys = [*(heights[v] for v in chain[:-1]), ends[number]]
        for step, (a, b) in enumerate(itertools.pairwise(ys), column_of[chain[0]] + 1):
            steepest[step] = max(steepest[step], abs(a - b))
    spans = []
    x = 0.0
    for number, column in enumerate(order):
        real = [boxes[v] for v in column if v < len(boxes)]
        if number:
            lead = max((box.lead for box in real), default=0.0)
            x += min(LEAST_GAP + 0.2 * steepest[number], MOST_GAP) + lead
        width = max((box.width for box in real), default=0.0)
        spans.append((x, x + width))
        x += width
    return spans
