"""Draws cells: SVG for papers and notebooks, PNG, and text for the terminal.

`diagram` says what is shown, `layout` where, `shapes` and `picture` how; `svg` and `png` only
paint. Reads `cellwright.cell`, and `cellwright.cell.ops` for the operations.
"""

from __future__ import annotations

from pathlib import Path

from cellwright.base.errors import FileError
from cellwright.base.files import write_whole
from cellwright.cell.cell import Cell
from cellwright.cell.errors import CellError

__all__ = ["save"]


def save(cell: Cell, path: Path, *, legend: bool = True, fold: bool = True) -> Path:
    """Draw a cell into an SVG or PNG file, by the ending of `path`, and return the path.

    Args:
        cell: what to draw.
        path: a file name that ends in .svg or .png.
        legend: whether to explain below the picture what occurs in it.
        fold: whether to draw known motifs (a linear and its activation, a highway) as one
            shape each.
    """
    # Imported here so that drawing SVG does not load Pillow.
    ending = path.suffix.lower()
    if ending == ".svg":
        from cellwright.cell.draw import svg

        data = svg.render(cell, legend=legend, fold=fold).encode()
    elif ending == ".png":
        from cellwright.cell.draw import png

        data = png.render(cell, legend=legend, fold=fold)
    else:
        raise CellError(f"cannot draw into {path.name!r}: the file name must end in .svg or .png")
    try:
        write_whole(path, data)
    except FileError as error:
        raise CellError(str(error)) from None
    return path
