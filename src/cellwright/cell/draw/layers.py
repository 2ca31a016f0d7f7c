"""Which column each vertex stands in: longest paths, then shorter edges where that is free."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def assign(
    count: int, edges: Sequence[tuple[int, int]], first: Iterable[int], last: Iterable[int]
) -> list[int]:
    """A column for each of `count` vertices, so that every edge goes to the right.

    Vertices must be numbered in topological order. Those in `first` get column 0, those
    in `last` the last column.
    """
    into: list[list[int]] = [[] for _ in range(count)]
    out: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        into[target].append(source)
        out[source].append(target)
    left, right = set(first), set(last)
    column = [0] * count
    for vertex in range(count):
        least = 0 if vertex in left or not left else 1
        column[vertex] = max((column[source] + 1 for source in into[vertex]), default=least)
    end = max((column[v] for v in range(count) if v not in right), default=0) + 1
    for vertex in right:
        column[vertex] = end
    # A vertex with more edges out than in makes edges shorter the further right it stands.
    for vertex in reversed(range(count)):
        if vertex in left or vertex in right or len(out[vertex]) <= len(into[vertex]):
            continue
        column[vertex] = min(column[target] for target in out[vertex]) - 1
    return column
