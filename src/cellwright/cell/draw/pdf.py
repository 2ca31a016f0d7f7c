"""Paints a scene as PDF, with matplotlib: lines and letters, of a font that is in the file.

Papers want fonts embedded, and the signs of a cell's formulas (·, −, θ, σ) are in few of them; both
come with matplotlib. It is optional, with the extra `plots`.
"""

from __future__ import annotations

import io
import warnings
from typing import Any

from cellwright.base.optional import require
from cellwright.cell.cell import Cell
from cellwright.cell.draw.picture import paint
from cellwright.cell.draw.scene import Path, Scene, Text

_UNITS = 96.0
"""Of a scene, in an inch: those of SVG."""

_POINTS = 72.0

_NARROWER = 0.88
"""How much smaller than Helvetica, which a scene is measured by, the font is to be as wide."""

_STYLE = {"pdf.fonttype": 42, "font.family": ["DejaVu Sans"], "text.usetex": False}
_NO_DATE = {"CreationDate": None, "Creator": None, "Producer": None}


def render(cell: Cell, *, legend: bool = True, fold: bool = True) -> bytes:
    """The picture of a cell as PDF; the same cell gives the same bytes.

    Args:
        cell: what to draw.
        legend: whether to explain below the picture what occurs in it.
        fold: whether to draw known motifs as one shape each.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    return write(paint(cell, legend=legend, fold=fold))


def write(scene: Scene) -> bytes:
    """A scene as PDF."""
    matplotlib = _matplotlib("")
    with matplotlib.rc_context(_STYLE):
        size = scene.width / _UNITS, scene.height / _UNITS
        figure = _matplotlib("figure").Figure(figsize=size)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, scene.width)
        axes.set_ylim(scene.height, 0)  # a scene's y goes down
        order = 0
        for group in scene.groups:
            for item in group.items:
                order += 1
                if isinstance(item, Path):
                    axes.add_patch(_path(item, order))
                else:
                    _line_of_text(axes, item, order)
        stream = io.BytesIO()
        title = {"Title": _letters(scene.title)} if scene.title else {}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")  # of a letter that the font lacks: a box
            figure.savefig(stream, format="pdf", metadata={**_NO_DATE, **title})
    return stream.getvalue()


def _path(path: Path, order: int) -> Any:
    kinds = _matplotlib("path").Path
    points, codes = [path.start], [kinds.MOVETO]
    for piece in path.pieces:
        points += piece
        codes += [kinds.LINETO] if len(piece) == 1 else [kinds.CURVE4] * 3
    if path.closed:
        points.append(path.start)
        codes.append(kinds.CLOSEPOLY)
    width = path.width * _POINTS / _UNITS
    return _matplotlib("patches").PathPatch(
        kinds(points, codes),
        facecolor=path.fill or "none",
        edgecolor=path.stroke or "none",
        linewidth=width if path.stroke else 0,
        # matplotlib counts dashes in widths of the line
        linestyle=(0, tuple(part / path.width for part in path.dash)) if path.dash else "solid",
        capstyle="butt",
        joinstyle="round",
        zorder=order,
    )


def _line_of_text(axes: Any, text: Text, order: int) -> None:
    axes.text(
        text.x,
        text.y,
        _letters(text.text).replace("$", r"\$"),  # a formula to matplotlib
        size=text.size * _NARROWER * _POINTS / _UNITS,
        color=text.colour,
        ha="center" if text.centred else "left",
        va="baseline",
        zorder=order,
    )


def _letters(text: str) -> str:
    """A text without what is no letter: a name may hold anything."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _matplotlib(part: str) -> Any:
    return require(f"matplotlib.{part}" if part else "matplotlib", "a PDF of a cell", "plots")
