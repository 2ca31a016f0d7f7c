"""Cells of searches, from listings in records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.cell import Cell
from cellwright.cell.listings import EnasListing, enas
from cellwright.search.gradient.records import listing_of, lowered


def listed_cell(listing: Mapping[str, Any], name: str = "") -> Cell:
    """The cell of a listing, of any family, as the metrics of a search keep it."""
    if "first" in listing:
        later = tuple((int(source), str(op)) for source, op in listing["later"])
        return enas.lower(EnasListing(listing["first"], later), name)
    return lowered(listing_of(listing), name)
