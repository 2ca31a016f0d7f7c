"""Counting trees: how many different cells a space of highway nodes has.

In ENAS and DARTS every node after the first reads one earlier node, so a cell is a rooted tree
whose vertices carry operations, and two listings are the same cell exactly if their trees are
the same up to the order of nodes.
"""

from __future__ import annotations


def coloured_forests(vertices: int, colours: int) -> int:
    """Forests of rooted trees on `vertices` unlabelled vertices, each of one of some colours.

    With T(x) = k·x·exp(Σ_j T(x^j)/j) for trees (Pólya), the forests are the exponential: the
    Euler transform of the number of trees, and a tree of n vertices is a root of k colours
    over a forest of n − 1.

    >>> [coloured_forests(n, 1) for n in range(6)]  # rooted trees of 1 to 6 vertices
    [1, 1, 2, 4, 9, 20]
    """
    forests = [1]
    for total in range(1, vertices + 1):
        # trees[n] = colours · forests[n − 1], and Σ_{d | j} d·trees[d] weighs repeats of trees
        weights = (
            sum(d * colours * forests[d - 1] for d in range(1, j + 1) if j % d == 0)
            * forests[total - j]
            for j in range(1, total + 1)
        )
        forests.append(sum(weights) // total)
    return forests[vertices]


def coloured_trees(vertices: int, colours: int) -> int:
    """Rooted trees on `vertices` unlabelled vertices, each of one of some colours.

    >>> [coloured_trees(n, 2) for n in range(1, 5)]
    [2, 4, 14, 52]
    """
    return colours * coloured_forests(vertices - 1, colours)
