"""The sizes of spaces, against enumeration of every listing of small ones."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from cellwright.cell.listings import DartsListing, darts
from cellwright.spaces import Darts, Enas, Ess, Fenas, IDarts, ProductSpace


def everything(space: ProductSpace) -> list[str]:
    """The id of every listing's cell."""
    chosen = space.choices()
    return [space.decode(dict(zip(chosen, v, strict=True))).id for v in product(*chosen.values())]


@pytest.mark.parametrize(
    "space",
    [
        Enas(nodes=1),
        Enas(nodes=4, operations=("tanh", "relu")),
        Enas(nodes=5, operations=("tanh",)),
        Darts(nodes=3, operations=("tanh", "relu")),
        Darts(nodes=3, operations=("tanh", "none"), edges="plain"),
        Darts(nodes=3, operations=("none", "relu")),
        Darts(nodes=5, operations=("identity",), edges="plain"),
        Ess(nodes=2, m=1, operations=("tanh", "relu"), gate_operations=("drop", "tanh")),
        Ess(nodes=1, m=2, operations=("tanh",), gate_operations=("drop", "tanh")),
    ],
    ids=str,
)
def test_counts_equal_an_enumeration(space: ProductSpace) -> None:
    ids = everything(space)
    assert len(ids) == space.size()
    assert len(set(ids)) == space.distinct_size()


def test_sizes_by_hand() -> None:
    # ENAS: 4 operations for each of n nodes, and node i has i predecessors to choose from
    assert Enas(nodes=12).size() == 4**12 * math.factorial(11)
    assert Darts(nodes=8).size() == 4**8 * math.factorial(8)
    assert Ess(nodes=8, m=3).size() == 4**8 * math.factorial(8) * 5**6
    # rooted trees of 12 vertices (OEIS A000081)
    assert Enas(nodes=12, operations=("tanh",)).distinct_size() == 4766


def test_i_darts_counts_sets_of_edges() -> None:
    operations = ("tanh", "relu")
    listings = set()
    for first in combinations(product(operations, [0]), 2):
        for second in combinations(product(operations, [0, 1]), 2):
            listings.add(darts.lower(DartsListing.of([first, second], edges="plain")).id)
    space = IDarts(nodes=2, operations=operations, edges_per_node=2)
    assert space.size() == len(listings) == 6
    rng = np.random.default_rng(0)
    assert {space.sample(rng).id for _ in range(200)} == listings


def test_fenas_counts_listings_up_to_the_order_of_inputs() -> None:
    # node 1 reads x and h: 3 unordered pairs and 2 single inputs; sub has 4 ordered and 4 with zero
    assert Fenas(nodes=1, memory=False, functions=("add",)).size() == 5
    assert Fenas(nodes=1, memory=False, functions=("sub",)).size() == 8
    # with c: 6 pairs and 3 singles for node 1; 10 and 4 for node 2; and either node is c(t)
    assert Fenas(nodes=2, memory=True, functions=("add",)).size() == 9 * 14 * 2
    assert Fenas(nodes=1, memory=False).size() == 13 * 5 + 8
