"""What all pictures that matplotlib draws share: style, colours, units of time, and files.

matplotlib is optional: it comes with the extra `plots`.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from cellwright.base.endings import PICTURES, format_of
from cellwright.base.errors import UserError
from cellwright.base.files import write_whole
from cellwright.report import paper
from cellwright.report.paper import Shape

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8F8F8F")
"""Okabe and Ito's colours, which the colour-blind tell apart, in an order that prints well.
Grey stands in for their yellow, of which a thin line is hard to see on white."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (5, 1.5, 1, 1.5)))
"""Series are told apart by these as well as by colours, so that nobody needs colours to."""

MOST_MARKS = 30
"""Of a curve with more points than this, only some are marked."""

GREY = "#555555"
"""For what belongs to no series: reference lines, legends of line styles."""

_STYLE: Mapping[str, Any] = {
    "svg.hashsalt": "cellwright",
    "pdf.fonttype": 42,  # letters as letters, of a font that is in the file
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.prop_cycle": "cycler('color', [" + ", ".join(f"'{c}'" for c in COLOURS) + "])",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.facecolor": "white",
}

_DPI, _PAPER_DPI = 150, 300

SHAPE = Shape(7.2, 4.2)
"""Of a picture that does not say another."""

# No date and no version in a file, so that the same picture is the same bytes.
_METADATA: Mapping[str, Mapping[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}

_UNITS = ((7200.0, 3600.0, "hours"), (180.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))
"""From how many seconds on which unit is used, and how long it is."""


class PlotError(UserError):
    """A picture cannot be drawn: of nothing, in another format, or without matplotlib."""


def matplotlib(part: str = "") -> Any:
    """matplotlib or a module of it, imported only where something is drawn."""
    try:
        return import_module(f"matplotlib.{part}" if part else "matplotlib")
    except ImportError:
        raise PlotError(
            "a plot needs the package matplotlib; pip install 'cellwright[plots]' brings it"
        ) from None


def picture_kind(path: Path) -> str:
    """One of `PICTURES`, by a file's ending.

    Raises:
        EndingError: it has another one.
    """
    return format_of(path, PICTURES, "picture")


def picture(
    draw: Callable[[Any], None],
    kind: str,
    shape: Shape = SHAPE,
    style: Mapping[str, Any] | None = None,
    width: float | None = None,
) -> bytes:
    """A picture as the contents of a file; the same drawing gives the same bytes.

    Args:
        draw: draws it on an empty matplotlib figure.
        kind: one of `PICTURES`.
        shape: its size on a screen.
        style: matplotlib settings beside the project's own, on a screen.
        width: in inches, for a paper (`paper_width`).

    Raises:
        PlotError: another kind, or matplotlib is missing.
    """
    if kind not in PICTURES:
        raise PlotError(f"a picture is one of {', '.join(PICTURES)}, not {kind!r}")
    with matplotlib().rc_context({**_STYLE, **(style or {}), **paper.style(width)}):
        figure = matplotlib("figure").Figure(figsize=shape.on(width), layout="constrained")
        draw(figure)
        paper.finish(figure, width)
        stream = io.BytesIO()
        dpi = _DPI if width is None else _PAPER_DPI
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")  # of a letter that the font lacks: a box
            figure.savefig(stream, format=kind, dpi=dpi, metadata=dict(_METADATA[kind]))
    return stream.getvalue()


def write_picture(
    draw: Callable[[Any], None],
    path: Path,
    shape: Shape = SHAPE,
    style: Mapping[str, Any] | None = None,
    width: float | None = None,
) -> None:
    """Write a picture into a file, whole; its ending says in which format."""
    write_whole(path, picture(draw, picture_kind(path), shape, style, width))


def looks(number: int) -> list[dict[str, Any]]:
    """How each of so many series is drawn: its colour, dashes and marker."""
    return [
        {
            "color": colour,
            "linestyle": DASHES[place % len(DASHES)],
            "marker": MARKERS[place % len(MARKERS)],
        }
        for place, colour in enumerate(colours(number))
    ]


def marked(look: Mapping[str, Any], points: int, size: float = 3.0) -> dict[str, Any]:
    """A look with its marker at every point of a short curve, and at some of a long one."""
    every = 1 if points <= MOST_MARKS else max(1, points // 8)
    # The first mark of each series is elsewhere, so that those of curves that lie together do not.
    first = MARKERS.index(look["marker"]) * every // len(MARKERS)
    return {**look, "markersize": size, "markevery": (min(first, max(0, points - 1)), every)}


def colours(number: int) -> Sequence[Any]:
    """One for each series; where there are many, shades from dark to light in their order."""
    if number <= len(COLOURS):
        return COLOURS[:number]
    shades = matplotlib().colormaps["viridis"]
    return [shades(0.95 * place / (number - 1)) for place in range(number)]


def time_unit(longest: float) -> tuple[float, str]:
    """The unit that suits times of up to so many seconds: how long it is, and its name."""
    return next((size, name) for least, size, name in _UNITS if longest >= least)


def plain(text: str) -> str:
    """A name as matplotlib shows it as it stands: no formula in it, and nothing but letters."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text).replace("$", r"\$")
