"""Pictures of training curves: a metric against epochs or time, for one run or several.

matplotlib draws them and is optional: it comes with the extra `plots`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cellwright.base.files import write_whole
from cellwright.report import drawing
from cellwright.report.drawing import GREY, PlotError, matplotlib, picture_kind
from cellwright.report.metric_axis import (
    axis_label,
    height,
    scale_axis,
    shared_metric,
    training_axis,
    training_height,
)
from cellwright.tasks.metric import Metric
from cellwright.training.results import EpochRecord, best_of

Against = Literal["epoch", "time"]

MOST_INSIDE = 4
"""The legend of more runs than this is beside the picture."""

MOST_MARKS = 30
"""Curves with more points than this have none of them marked."""

_DASHES = (0, (4, 2))


@dataclass(frozen=True)
class Curve:
    """What is drawn of a run: a label for the legend, its epochs, and its metric."""

    label: str
    records: Sequence[EpochRecord]
    metric: Metric


def draw_curves(
    curves: Sequence[Curve], path: Path, *, against: Against = "epoch", title: str = ""
) -> None:
    """Draw validation (solid) and training (dashed) into a file.

    The same curves give the same bytes. A dot marks each run's best epoch. Where training has
    another loss than the metric's, it has an axis of its own.

    Args:
        curves: the runs; one without any epoch is not drawn.
        path: the file; its ending says whether it is SVG or PNG.
        against: what the values are drawn against.
        title: above the picture.

    Raises:
        PlotError: there is nothing to draw, the runs have different metrics, the ending is another
            one, or matplotlib is missing.
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
    metric = shared_metric({curve.label: curve.metric for curve in drawn})
    # With two axes there is no place that the curves of both leave free.
    beside = len(drawn) > MOST_INSIDE or not metric.is_learned_from
    colours = drawing.colours(len(drawn))

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        _draw(axes, drawn, metric, colours, against)
        axes.set_title(title)
        handles = _legend(drawn, metric, colours)
        if beside:
            figure.legend(handles=handles, loc="outside right upper")
        else:
            axes.legend(handles=handles, loc="best")

    return drawing.picture(draw, kind, (10.2 if beside else 7.2, 4.2))


def _draw(
    axes: Any, curves: Sequence[Curve], metric: Metric, colours: Sequence[Any], against: Against
) -> None:
    longest = max(record.seconds for curve in curves for record in curve.records)
    scale, unit = drawing.time_unit(longest) if against == "time" else (1.0, "")
    of_training = training_axis(axes, metric)
    heights: list[float] = []
    for curve, colour in zip(curves, colours, strict=True):
        places = [r.epoch if against == "epoch" else r.seconds / scale for r in curve.records]
        train = [training_height(metric, record.train) for record in curve.records]
        valid = [height(metric, record.valid) for record in curve.records]
        heights += [*train, *valid]
        mark = {"marker": "o" if len(places) <= MOST_MARKS else "", "markersize": 2.5}
        of_training.plot(places, train, color=colour, linestyle=_DASHES, linewidth=1.1, **mark)
        axes.plot(places, valid, color=colour, linewidth=1.8, **mark)
        best = best_of(tuple(curve.records))
        if best is not None:
            at = places[list(curve.records).index(best)]
            axes.plot(
                [at], [height(metric, best.valid)], color=colour, marker="o", markersize=6,
                markeredgecolor="white", markeredgewidth=1.2, zorder=5,
            )  # fmt: skip
    axes.set_xlabel("epoch" if against == "epoch" else f"training time in {unit}")
    axes.set_ylabel(axis_label(metric))
    scale_axis(axes, metric, heights)
    if against == "epoch":
        whole = matplotlib("ticker").MaxNLocator(integer=True, min_n_ticks=1)
        axes.xaxis.set_major_locator(whole)


def _legend(curves: Sequence[Curve], metric: Metric, colours: Sequence[Any]) -> list[Any]:
    """Colours are runs, with their best values; line styles are parts of the data."""
    line = matplotlib("lines").Line2D
    handles = []
    for curve, colour in zip(curves, colours, strict=True):
        best = best_of(tuple(curve.records))
        behind = "" if best is None else f": {metric.shown(best.valid)} at epoch {best.epoch}"
        label = drawing.plain(curve.label + behind)
        handles.append(line([], [], color=colour, lw=2, label=label))
    return [
        *handles,
        line([], [], color=GREY, lw=1.8, label="validation, best marked"),
        line([], [], color=GREY, lw=1.1, ls=_DASHES, label="training"),
    ]
