"""The height of each vertex, given the order within the columns.

Brandes and Köpf, "Fast and simple horizontal coordinate assignment" (2001), turned by 90
degrees: four extreme placements that keep long edges straight, averaged. The compaction
goes over the graph of blocks, which also respects vertices of different sizes. A few
sweeps then move whole straight pieces to where their edges are shortest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

Neighbours = Sequence[Sequence[int]]
Order = Sequence[Sequence[int]]
Separation = Callable[[int, int], float]


def place(
    order: Order,
    into: Neighbours,
    out: Neighbours,
    is_dummy: Sequence[bool],
    separation: Separation,
) -> list[float]:
    """A height for each vertex; `separation(a, b)` is the least distance if a is above b."""
    conflicts = _conflicts(order, into, is_dummy)
    placements = []
    for to_right in (True, False):
        columns = list(order) if to_right else list(reversed(order))
        neighbours = into if to_right else out
        for from_top in (True, False):
            turned = columns if from_top else [list(reversed(column)) for column in columns]
            root = _align(turned, neighbours, conflicts)
            if from_top:
                heights = _compact(turned, root, separation)
            else:
                heights = [-y for y in _compact(turned, root, lambda a, b: separation(b, a))]
            placements.append((from_top, heights))
    heights = _balance(placements)
    _straighten(heights, order, into, out, is_dummy, separation)
    return heights


def _conflicts(order: Order, into: Neighbours, is_dummy: Sequence[bool]) -> set[tuple[int, int]]:
    """Edges that cross the inner part of a long edge: these give way, the long edge is straight."""
    conflicts = set()
    for upper, lower in itertools.pairwise(order):
        place_of = {vertex: i for i, vertex in enumerate(upper)}
        low, scanned = 0, 0
        for i, vertex in enumerate(lower):
            inner = next((u for u in into[vertex] if is_dummy[u] and is_dummy[vertex]), None)
            if inner is None and i < len(lower) - 1:
                continue
            high = place_of[inner] if inner is not None else len(upper)
            for other in lower[scanned : i + 1]:
                for source in into[other]:
                    crosses = not low <= place_of[source] <= high
                    if crosses and not (is_dummy[source] and is_dummy[other]):
                        conflicts.add((source, other))
            low, scanned = high, i + 1
    return conflicts


def _align(
    columns: Order, neighbours: Neighbours, conflicts: set[tuple[int, int]]
) -> dict[int, int]:
    """For each vertex, the first vertex of the straight block that it belongs to."""
    root = {vertex: vertex for column in columns for vertex in column}
    place_of = {vertex: i for column in columns for i, vertex in enumerate(column)}
    taken: set[int] = set()
    for column in columns:
        last = -1
        for vertex in column:
            near = sorted(neighbours[vertex], key=place_of.__getitem__)
            if not near:
                continue
            for middle in sorted({(len(near) - 1) // 2, len(near) // 2}):
                other = near[middle]
                free = (other, vertex) not in conflicts and (vertex, other) not in conflicts
                if root[vertex] == vertex and last < place_of[other] and free:
                    assert other not in taken
                    taken.add(other)
                    root[vertex] = root[other]
                    last = place_of[other]
    return root


def _compact(columns: Order, root: dict[int, int], separation: Separation) -> list[float]:
    """Blocks as high as they can be, then as low as the blocks below let them."""
    above: dict[int, dict[int, float]] = {r: {} for r in root.values()}
    below: dict[int, dict[int, float]] = {r: {} for r in root.values()}
    for column in columns:
        for a, b in itertools.pairwise(column):
            distance = max(separation(a, b), above[root[b]].get(root[a], 0.0))
            above[root[b]][root[a]] = below[root[a]][root[b]] = distance
    waiting = {block: len(others) for block, others in above.items()}
    sequence = [block for block, count in waiting.items() if count == 0]
    for block in sequence:
        for other in below[block]:
            waiting[other] -= 1
            if waiting[other] == 0:
                sequence.append(other)
    height: dict[int, float] = {}
    for block in sequence:
        height[block] = max((height[o] + d for o, d in above[block].items()), default=0.0)
    for block in reversed(sequence):
        room = min((height[o] - d for o, d in below[block].items()), default=height[block])
        height[block] = max(height[block], room)
    return [height[root[vertex]] for vertex in sorted(root)]


def _balance(placements: list[tuple[bool, list[float]]]) -> list[float]:
    """The mean of the two middle placements, after moving all onto the most compact one."""
    spans = [(max(heights) - min(heights), i) for i, (_, heights) in enumerate(placements)]
    best = placements[min(spans)[1]][1]
    moved = []
    for from_top, heights in placements:
        shift = min(best) - min(heights) if from_top else max(best) - max(heights)
        moved.append([y + shift for y in heights])
    middle = [sorted(values)[1:3] for values in zip(*moved, strict=True)]
    return [(low + high) / 2 for low, high in middle]


def _straighten(
    heights: list[float],
    order: Order,
    into: Neighbours,
    out: Neighbours,
    is_dummy: Sequence[bool],
    separation: Separation,
) -> None:
    """Move blocks to the median of their neighbours, as far as the columns' order lets them."""
    up: dict[int, int] = {}
    down: dict[int, int] = {}
    for column in order:
        for a, b in itertools.pairwise(column):
            up[b], down[a] = a, b
    sweeps = 12 if len(heights) <= 3000 else 3
    for sweep in range(sweeps):
        # Long edges alone first; then all that already lies in one straight line.
        blocks = _blocks(heights, out, is_dummy, everything=sweep % 2 == 1)
        for block in blocks if sweep % 4 < 2 else reversed(blocks):
            members = set(block)
            wanted, lowest, highest = [], float("-inf"), float("inf")
            for vertex in block:
                y = heights[vertex]
                if vertex in up and up[vertex] not in members:
                    room = heights[up[vertex]] + separation(up[vertex], vertex)
                    lowest = max(lowest, room - y)
                if vertex in down and down[vertex] not in members:
                    room = heights[down[vertex]] - separation(vertex, down[vertex])
                    highest = min(highest, room - y)
                for other in (*into[vertex], *out[vertex]):
                    if other not in members:
                        wanted.append(heights[other] - y)
            if not wanted or lowest > highest:
                continue
            wanted.sort()
            low, high = wanted[(len(wanted) - 1) // 2], wanted[len(wanted) // 2]
            move = min(max(0.0, low), high)
            move = min(max(move, lowest), highest)
            if abs(move) > 1e-9:
                for vertex in block:
                    heights[vertex] += move


def _blocks(
    heights: Sequence[float], out: Neighbours, is_dummy: Sequence[bool], *, everything: bool
) -> list[list[int]]:
    """Groups of vertices that lie in one straight line along edges."""
    leader = list(range(len(heights)))

    def find(vertex: int) -> int:
        while leader[vertex] != vertex:
            leader[vertex] = leader[leader[vertex]]
            vertex = leader[vertex]
        return vertex

    for vertex, targets in enumerate(out):
        for target in targets:
            joined = everything or (is_dummy[vertex] and is_dummy[target])
            if joined and abs(heights[vertex] - heights[target]) < 1e-6:
                leader[find(target)] = find(vertex)
    blocks: dict[int, list[int]] = {}
    for vertex in range(len(heights)):
        blocks.setdefault(find(vertex), []).append(vertex)
    return list(blocks.values())
