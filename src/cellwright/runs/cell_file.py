"""Cells in the folders of runs, searches and comparisons."""

from __future__ import annotations

from pathlib import Path

from cellwright.base.errors import refused
from cellwright.base.files import write_whole
from cellwright.base.regular_files import read_regular
from cellwright.cell import Cell, CellError
from cellwright.runs.errors import RunError


def write_cell(path: Path, cell: Cell) -> None:
    """Write a cell, whole."""
    write_whole(path, cell_bytes(cell))


def cell_bytes(cell: Cell) -> bytes:
    """A cell as its file has it."""
    return cell.to_json().encode("utf-8", "backslashreplace") + b"\n"


def read_cell(path: Path) -> Cell:
    """Read a cell.

    Raises:
        FileError: the file is not there, or is no cell's.
    """
    try:
        return Cell.from_json(read_regular(path))
    except OSError as error:
        raise refused("read", path, error) from None
    except CellError as error:
        raise RunError(f"{path}: {error}") from None
