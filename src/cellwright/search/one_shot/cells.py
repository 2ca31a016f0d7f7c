"""Cells of searches: from listings in records, to files and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellwright.base.errors import refused
from cellwright.base.files import write_whole
from cellwright.cell import Cell, CellError
from cellwright.cell.listings import EnasListing, enas
from cellwright.runs.errors import RunError
from cellwright.search.gradient.records import listing_of, lowered


def listed_cell(listing: Mapping[str, Any], name: str = "") -> Cell:
    """The cell of a listing, of any family, as the metrics of a search keep it."""
    if "first" in listing:
        later = tuple((int(source), str(op)) for source, op in listing["later"])
        return enas.lower(EnasListing(listing["first"], later), name)
    return lowered(listing_of(listing), name)


def write_cell(path: Path, cell: Cell) -> None:
    """Write a cell, whole."""
    write_whole(path, cell.to_json().encode("utf-8", "backslashreplace") + b"\n")


def read_cell(path: Path) -> Cell:
    """Read a cell of a search."""
    try:
        return Cell.from_json(path.read_bytes())
    except OSError as error:
        raise refused("read", path, error) from None
    except CellError as error:
        raise RunError(f"{path}: {error}") from None
