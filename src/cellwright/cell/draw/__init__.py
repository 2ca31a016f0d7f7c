"""Draws cells: SVG for pages and notebooks, PDF for papers, PNG, and text for the terminal.

`diagram` says what is shown, `layout` where, `shapes` and `picture` how; `svg`, `pdf` and `png`
only paint. Reads `cellwright.cell`, and `cellwright.cell.ops` for the operations.
"""

from __future__ import annotations

from pathlib import Path

from cellwright.base.endings import PICTURES, EndingError, format_of
from cellwright.base.errors import FileError
from cellwright.base.files import write_whole
from cellwright.cell.cell import Cell
from cellwright.cell.errors import CellError

__all__ = ["save"]


def save(cell: Cell, path: Path, *, legend: bool = True, fold: bool = True) -> Path:
    """Draw a cell into an SVG, PDF or PNG file, by the ending of `path`, and return the path.

    Args:
        cell: what to draw.
        path: a file name that ends in .svg, .pdf (which needs matplotlib) or .png.
        legend: whether to explain below the picture what occurs in it.
        fold: whether to draw known motifs (a linear and its activation, a highway) as one
            shape each.
    """
    # Imported here so that drawing SVG does not load Pillow, nor matplotlib.
    try:
        kind = format_of(path, PICTURES, "picture")
    except EndingError as error:
        raise CellError(f"cannot draw into {error}") from None
    if kind == "svg":
        from cellwright.cell.draw import svg

        data = svg.render(cell, legend=legend, fold=fold).encode()
    elif kind == "pdf":
        from cellwright.cell.draw import pdf

        data = pdf.render(cell, legend=legend, fold=fold)
    else:
        from cellwright.cell.draw import png

        data = png.render(cell, legend=legend, fold=fold)
    try:
        write_whole(path, data)
    except FileError as error:
        raise CellError(str(error)) from None
    return path
