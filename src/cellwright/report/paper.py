"""Pictures for papers: as wide as a column or a page, with letters that can be read at that size.

A picture has a size for the screen. On paper its width is given, its height follows, and parts that
stand side by side are set below each other where the width is a column's.
"""

from __future__ import annotations

import math
import textwrap
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

_TALL, _BLOCK = 0.7, 0.9
"""The height of a part in a column, and of one with others beside and below it, for its width."""

_FLAT, _STEEP = 0.4, 0.62
"""The least and the most height of a picture whose parts are all side by side, for its width."""

_PART = 2.2
"""How wide a part is at least, in inches."""

_WIDE = 0.6
"""How wide a letter is, of its height."""

LEGEND_LINE = 0.16
"""The height of a line of a legend below a picture, in inches."""

_LEGEND_LETTER, _LEGEND_HANDLE = 0.058, 0.36
"""How wide a letter of a legend is, and what stands before it."""

_STEPS = 5
"""The most steps of an axis in a column, whose numbers would touch each other otherwise."""

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
        columns = _columns(width, self.across)
        rows = -(-self.across // columns)
        if width < NARROW:
            return width, rows * width * _TALL
        if rows > 1:
            return width, rows * width / columns * _BLOCK
        return width, width * min(max(self.height / self.width, _FLAT), _STEEP)


def _columns(width: float, number: int) -> int:
    """How many of so many parts are side by side."""
    return max(1, min(number, int(width // _PART))) if width >= NARROW else 1


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


def finish(figure: Any, width: float | None) -> None:
    """Make the lines of a picture that is drawn for a screen as thin as its size on paper asks, and
    its labels as short."""
    if width is None:
        return
    factor = 0.65 if width < NARROW else 0.75
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
    lines = [line for axes in figure.axes for line in axes.lines]
    lines += [line for legend in legends if legend is not None for line in legend.get_lines()]
    for line in lines:
        line.set_linewidth(factor * line.get_linewidth())
    below = sum(len(legend.get_texts()) for legend in figure.legends) if width < NARROW else 0
    _fit_labels(figure, LEGEND_LINE * below)


def _fit_labels(figure: Any, legends: float) -> None:
    """Break what stands at axes into lines that they have room for."""
    width, height = figure.get_size_inches()
    grid = (1, 1)
    for axes in figure.axes:
        steps = axes.xaxis.get_major_locator()
        if is_narrow(figure) and type(steps).__name__ == "AutoLocator":
            steps.set_params(nbins=_STEPS)
        place = axes.get_subplotspec()  # a scale of colours has none, and is beside one that has
        grid = rows, columns = grid if place is None else place.get_gridspec().get_geometry()
        for text, room in (
            (axes.xaxis.label, 0.82 * width / columns),
            (axes.yaxis.label, 0.9 * (height - legends) / rows),
        ):
            letters = max(12, int(room * 72 / (_WIDE * text.get_fontsize())))
            text.set_text(broken(text.get_text(), letters))


def broken(text: str, letters: int) -> str:
    """A text in lines of about so many letters: before a bracket, or lines that are alike.

    >>> broken("validation perplexity (lower is better)", 30)
    'validation perplexity\\n(lower is better)'
    >>> broken("training time of all trials together in hours", 40)
    'training time of all trials\\ntogether in hours'
    """
    if len(text) <= letters:
        return text
    first, bracket, rest = text.partition(" (")
    if bracket and max(len(first), len(rest) + 1) <= letters:
        return f"{first}\n({rest}"
    lines = -(-len(text) // letters)
    return "\n".join(textwrap.wrap(text, min(letters, len(text) // lines + 8)))


def is_narrow(figure: Any) -> bool:
    """Whether a matplotlib figure is as wide as a column."""
    return float(figure.get_size_inches()[0]) < NARROW


def parts(figure: Any, number: int, *, sharey: bool = False) -> list[Any]:
    """Axes side by side, as many as fit, and the others below."""
    columns = _columns(float(figure.get_size_inches()[0]), number)
    rows = -(-number // columns)
    found = figure.subplots(rows, columns, sharey=sharey and rows == 1, squeeze=False).flatten()
    for left_over in found[number:]:
        left_over.remove()
    return list(found[:number])


def legend_outside(figure: Any, **arguments: Any) -> None:
    """A legend beside the picture, or below it in a column, which grows the picture."""
    if not is_narrow(figure):
        figure.legend(loc="outside right upper", **arguments)
        return
    _below(figure, arguments)


def legend_inside(figure: Any, axes: Any, *, roomy: float = NARROW, **arguments: Any) -> None:
    """A legend within the axes, or below them in a picture less wide than `roomy`, where it would
    hide too much."""
    if figure.get_size_inches()[0] >= roomy:
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
    width, height = figure.get_size_inches()
    longest = max((len(handle.get_label()) for handle in handles), default=0)
    columns = max(1, min(len(handles), int(width / (_LEGEND_LETTER * longest + _LEGEND_HANDLE))))
    lines = -(-len(handles) // columns) + ("title" in arguments)
    figure.set_size_inches(width, height + LEGEND_LINE * lines)
    figure.legend(loc="outside lower center", ncols=columns, **arguments)
