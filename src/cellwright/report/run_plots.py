"""Pictures of training curves: perplexity against epochs or time, for one run or several.

matplotlib draws them and is optional: it comes with the extra `plots`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cellwright.base.files import write_whole
from cellwright.report import drawing
from cellwright.report.drawing import GREY, PlotError, matplotlib, picture_kind
from cellwright.tasks.language.metric import perplexity
from cellwright.training.results import EpochRecord, best_of

Against = Literal["epoch", "time"]

LOG_FROM = 4.0
"""The axis is logarithmic if the largest perplexity is at least so many times the smallest."""

MOST_INSIDE = 4
"""The legend of more runs than this is beside the picture."""

MOST_MARKS = 30
"""Curves with more points than this have none of them marked."""


@dataclass(frozen=True)
class Curve:
    """What is drawn of a run: a label for the legend, and its epochs."""

    label: str
    records: Sequence[EpochRecord]


def draw_curves(
    curves: Sequence[Curve], path: Path, *, against: Against = "epoch", title: str = ""
) -> None:
    """Draw validation (solid) and training (dashed) perplexities into a file.

    The same curves give the same bytes. A dot marks each run's best epoch.

    Args:
        curves: the runs; one without any epoch is not drawn.
        path: the file; its ending says whether it is SVG or PNG.
        against: what the perplexities are drawn against.
        title: above the picture.

    Raises:
        PlotError: there is nothing to draw, the ending is another one, or matplotlib is missing.
        RunError: the file cannot be written.
    """
    write_whole(path, picture(curves, picture_kind(path), against=against, title=title))


def picture(
    curves: Sequence[Curve], kind: str, *, against: Against = "epoch", title: str = ""
) -> bytes:
    """The same as a file's contents."""
    drawn = [curve for curve in curves if curve.records]
    if not drawn:
        raise PlotError("there is nothing to draw: no epoch has ended yet")
    beside = len(drawn) > MOST_INSIDE
    colours = drawing.colours(len(drawn))

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        _draw(axes, drawn, colours, against)
        axes.set_title(title)
        handles = _legend(drawn, colours)
        if beside:
            figure.legend(handles=handles, loc="outside right upper")
        else:
            axes.legend(handles=handles, loc="best")

    return drawing.picture(draw, kind, (10.2 if beside else 7.2, 4.2))


def _draw(axes: Any, curves: Sequence[Curve], colours: Sequence[Any], against: Against) -> None:
    longest = max(record.seconds for curve in curves for record in curve.records)
    scale, unit = drawing.time_unit(longest) if against == "time" else (1.0, "")
    heights: list[float] = []
    for curve, colour in zip(curves, colours, strict=True):
        places = [r.epoch if against == "epoch" else r.seconds / scale for r in curve.records]
        for losses, line, width in (
            ([record.train for record in curve.records], (0, (4, 2)), 1.1),
            ([record.valid for record in curve.records], "solid", 1.8),
        ):
            values = [perplexity_height(loss) for loss in losses]
            heights += [value for value in values if math.isfinite(value)]
            mark = "o" if len(values) <= MOST_MARKS else ""
            axes.plot(
                places, values, color=colour, linestyle=line, linewidth=width, marker=mark,
                markersize=2.5,
            )  # fmt: skip
        best = best_of(tuple(curve.records))
        if best is not None:
            at = places[list(curve.records).index(best)]
            axes.plot(
                [at], [perplexity_height(best.valid)], color=colour, marker="o", markersize=6,
                markeredgecolor="white", markeredgewidth=1.2, zorder=5,
            )  # fmt: skip
    axes.set_xlabel("epoch" if against == "epoch" else f"training time in {unit}")
    axes.set_ylabel("perplexity")
    perplexity_scale(axes, heights)
    if against == "epoch":
        whole = matplotlib("ticker").MaxNLocator(integer=True, min_n_ticks=1)
        axes.xaxis.set_major_locator(whole)


def perplexity_height(loss: float) -> float:
    """A perplexity, or NaN, which leaves a gap, where there is none to draw."""
    found = perplexity(loss)
    return found if math.isfinite(found) else math.nan


def perplexity_scale(axes: Any, heights: Sequence[float]) -> None:
    """A logarithmic axis with plain numbers at it, where perplexities are far apart."""
    if not heights or max(heights) < LOG_FROM * min(heights):
        return
    ticker = matplotlib("ticker")

    def plain(value: float, _: int) -> str:
        return f"{value:,.0f}" if value >= 1 else f"{value:g}"

    axes.set_yscale("log")
    decades = math.log10(max(heights) / min(heights))
    steps = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if decades < 1.3 else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(ticker.LogLocator(10, subs=steps if decades < 3 else (1.0,)))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(plain))
    axes.yaxis.set_minor_locator(ticker.NullLocator())
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())


def _legend(curves: Sequence[Curve], colours: Sequence[Any]) -> list[Any]:
    """Colours are runs, with their best perplexities; line styles are texts."""
    line = matplotlib("lines").Line2D
    handles = []
    for curve, colour in zip(curves, colours, strict=True):
        best = best_of(tuple(curve.records))
        behind = "" if best is None else f": {perplexity(best.valid):.1f} at epoch {best.epoch}"
        label = drawing.plain(curve.label + behind)
        handles.append(line([], [], color=colour, lw=2, label=label))
    return [
        *handles,
        line([], [], color=GREY, lw=1.8, label="validation, best marked"),
        line([], [], color=GREY, lw=1.1, ls=(0, (4, 2)), label="training"),
    ]
