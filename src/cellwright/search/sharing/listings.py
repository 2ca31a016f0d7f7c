"""The cells of searches with shared weights: ENAS' or DARTS', as listings.

What names its weights decides who shares them. An ENAS cell has a pair of matrices for each node
and predecessor (Pham et al. 2018, section 2.1), a DARTS cell one for each node, whatever its
predecessor: Li and Talwalkar's code puts the genotypes into DARTS' network for evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cellwright.cell import Cell
from cellwright.cell.listings import DartsListing, EnasListing, darts, enas
from cellwright.search.gradient.records import listing_of as darts_listing_of
from cellwright.spaces.darts import Darts
from cellwright.spaces.enas import Enas
from cellwright.spaces.space import pick

Listing = EnasListing | DartsListing


def lowered(listing: Listing, *, keys: bool = False) -> Cell:
    """The cell of a listing; with `keys`, its weights named."""
    if isinstance(listing, EnasListing):
        return enas.lower(listing, keys=keys)
    return darts.lower(listing, keys=keys)


def listing_of(values: Mapping[str, Any]) -> Listing:
    """A listing from the mapping that `dataclasses.asdict` makes of it."""
    if "first" in values:
        return EnasListing(values["first"], tuple((source, op) for source, op in values["later"]))
    found = darts_listing_of(values)
    assert isinstance(found, DartsListing)
    return found


def uniform_listing(space: Enas | Darts, rng: np.random.Generator) -> Listing:
    """A listing, each as likely as every other."""
    if isinstance(space, Darts):
        edges = [
            (pick(space.operations, rng), int(rng.integers(n + 1))) for n in range(space.nodes)
        ]
        return DartsListing.of(edges, edges=space.edges)
    ops = [pick(space.operations, rng) for _ in range(space.nodes)]
    sources = [int(rng.integers(number)) for number in range(1, space.nodes)]
    return EnasListing(ops[0], tuple(zip(sources, ops[1:], strict=True)))


def covering(space: Enas | Darts) -> list[Listing]:
    """Listings that together ask for every weight that some cell of the space has."""
    op = space.operations[0]
    if isinstance(space, Darts):
        return [DartsListing.of([(op, 0)] * space.nodes, edges=space.edges)]
    return [
        EnasListing(op, tuple((min(wanted, number - 1), op) for number in range(1, space.nodes)))
        for wanted in range(max(1, space.nodes - 1))
    ]
