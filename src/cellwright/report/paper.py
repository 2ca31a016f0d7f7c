"""Pictures for papers: as wide as a column or a page, with letters that can be read at that size.

A picture has a size for the screen. On paper its width is given, its height follows, and parts that
stand side by side are set below each other where the width is a column's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.base.errors import UserError, did_you_mean, shown

WIDTHS = {"column": 3.3, "page": 6.75}
"""In inches: a column of a two-column paper, and a page's text."""

NARROW = 4.5
"""Pictures less wide than this have their parts below each other, and their legend below."""

LEAST, MOST = 2.0, 20.0
"""How wide a picture may be."""

_TALL = 0.7
"""The height of a part that has a column for itself, for its width."""

LEGEND_LINE = 0.16
"""The height of a line of a legend below a picture, in inches."""

Size = tuple[float, float]


class PaperError(UserError):
    """Not a size of a picture. The message says which there are."""


@dataclass(frozen=True)
class Shape:
    """How large a picture is on a screen, in inches, and how many parts are side by side in it."""

    width: float
    height: float
    across: int = 1

    def on(self, width: float | None) -> Size:
        """Its size on paper, so wide; on the screen, if no width is given."""
        if width is None:
            return self.width, self.height
        if width < NARROW:
            return width, width * _TALL * self.across
        return width, width * max(self.height / self.width, 0.4)


def paper_width(text: str | float | None) -> float | None:
    """A width in inches: "column", "page", or a number.

    >>> paper_width("column"), paper_width("5.5"), paper_width(None)
    (3.3, 5.5, None)
    """
    if text is None:
        return None
    if text in WIDTHS:
        return WIDTHS[str(text)]
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not LEAST <= found <= MOST:
        hint = did_you_mean(str(text), WIDTHS)
        raise PaperError(
            f"a picture's size is column ({WIDTHS['column']} inches), page ({WIDTHS['page']}), or "
            f"a width of {LEAST:g} to {MOST:g} inches, not {shown(text)}{hint}"
        )
    return found


def style(width: float | None) -> Mapping[str, Any]:
    """matplotlib's settings for a width: letters as large as a paper's captions or notes."""
    if width is None:
        return {}
    size = 8.0 if width < NARROW else 9.0
    return {
        "font.size": size,
        "axes.titlesize": size,
        "axes.labelsize": size,
        "figure.labelsize": size,
        "xtick.labelsize": size - 1,
        "ytick.labelsize": size - 1,
        "legend.fontsize": size - 1,
        "lines.linewidth": 1.2,
        "axes.linewidth": 0.6,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
    }


def is_narrow(figure: Any) -> bool:
    """Whether a matplotlib figure is as wide as a column."""
    return float(figure.get_size_inches()[0]) < NARROW


def parts(figure: Any, number: int, *, sharey: bool = False) -> list[Any]:
    """Axes side by side, or below each other in a column."""
    if is_narrow(figure):
        return list(figure.subplots(number, 1, squeeze=False)[:, 0])
    return list(figure.subplots(1, number, sharey=sharey, squeeze=False)[0])


def legend_outside(figure: Any, **arguments: Any) -> None:
    """A legend beside the picture, or below it in a column, which grows the picture."""
    if not is_narrow(figure):
        figure.legend(loc="outside right upper", **arguments)
        return
    _below(figure, arguments)


def legend_inside(figure: Any, axes: Any, **arguments: Any) -> None:
    """A legend within the axes, or below them in a column, where it would hide too much."""
    if not is_narrow(figure):
        axes.legend(**arguments)
        return
    arguments.pop("loc", None)
    if "handles" not in arguments:
        arguments["handles"], _ = axes.get_legend_handles_labels()
    _below(figure, arguments)


def _below(figure: Any, arguments: dict[str, Any]) -> None:
    handles = arguments.get("handles")
    if handles is None:
        handles = [h for axes in figure.axes for h in axes.get_legend_handles_labels()[0]]
        arguments["handles"] = handles
    longest = max((len(handle.get_label()) for handle in handles), default=0)
    columns = 2 if longest <= 22 and len(handles) > 1 else 1
    lines = -(-len(handles) // columns) + ("title" in arguments)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + LEGEND_LINE * lines)
    figure.legend(loc="outside lower center", ncols=columns, **arguments)
