"""What all pictures that matplotlib draws share: style, colours, units of time, and files.

matplotlib is optional: it comes with the extra `plots`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from cellwright.base.errors import UserError
from cellwright.base.files import write_whole

KINDS = ("svg", "png")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8F8F8F")
"""Okabe and Ito's colours, which the colour-blind tell apart, in an order that prints well.
Grey stands in for their yellow, of which a thin line is hard to see on white."""

GREY = "#555555"
"""For what belongs to no series: reference lines, legends of line styles."""

_STYLE: Mapping[str, Any] = {
    "svg.hashsalt": "cellwright",
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

_DPI = 150

# No date and no version in a file, so that the same picture is the same bytes.
_METADATA: Mapping[str, Mapping[str, None]] = {
    "svg": {"Date": None, "Creator": None},
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
    """`svg` or `png`, by a file's ending."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise PlotError(f"{path}: a picture's name ends in .svg or .png")
    return kind


def picture(
    draw: Callable[[Any], None],
    kind: str,
    size: tuple[float, float] = (7.2, 4.2),
    style: Mapping[str, Any] | None = None,
) -> bytes:
    """A picture as the contents of a file; the same drawing gives the same bytes.

    Args:
        draw: draws it on an empty matplotlib figure.
        kind: `svg` or `png`.
        size: in inches.
        style: matplotlib settings beside the project's own.

    Raises:
        PlotError: another kind, or matplotlib is missing.
    """
    if kind not in KINDS:
        raise PlotError(f"a picture is svg or png, not {kind!r}")
    with matplotlib().rc_context({**_STYLE, **(style or {})}):
        figure = matplotlib("figure").Figure(figsize=size, layout="constrained")
        draw(figure)
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=_DPI, metadata=dict(_METADATA[kind]))
    return stream.getvalue()


def write_picture(
    draw: Callable[[Any], None],
    path: Path,
    size: tuple[float, float] = (7.2, 4.2),
    style: Mapping[str, Any] | None = None,
) -> None:
    """Write a picture into a file, whole; its ending says whether it is SVG or PNG."""
    write_whole(path, picture(draw, picture_kind(path), size, style))


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
    """A name as matplotlib shows it as it stands: no formula in it."""
    return text.replace("$", r"\$")
