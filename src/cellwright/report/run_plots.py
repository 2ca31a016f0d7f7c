"""Pictures of training curves: a metric against epochs or time, for one run or several.

matplotlib draws them and is optional: it comes with the extra `plots`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cellwright.base.files import write_whole
from cellwright.report import drawing, paper
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

_DASHES = (0, (4, 2))


@dataclass(frozen=True)
class Curve:
    """What is drawn of a run: a label for the legend, its epochs, and its metric."""

    label: str
    records: Sequence[EpochRecord]
    metric: Metric


def draw_curves(
    curves: Sequence[Curve],
    path: Path,
    *,
    against: Against = "epoch",
    title: str = "",
    width: float | None = None,
) -> None:
    """Draw validation (solid) and training (dashed) into a file.

    The same curves give the same bytes. Runs have colours and markers of their own; a large marker
    is each run's best epoch. Where training has another loss than the metric's, it has an axis of
    its own.

    Args:
        curves: the runs; one without any epoch is not drawn.
        path: the file; its ending says its format.
        against: what the values are drawn against.
        title: above the picture.
        width: in inches, for a paper.

    Raises:
        PlotError: there is nothing to draw, the runs have different metrics, or matplotlib is
            missing.
        UserError: the file's ending is another one, or it cannot be written.
    """
    kind = picture_kind(path)
    write_whole(path, picture(curves, kind, against=against, title=title, width=width))


def picture(
    curves: Sequence[Curve],
    kind: str,
    *,
    against: Against = "epoch",
    title: str = "",
    width: float | None = None,
) -> bytes:
    """The same as a file's contents."""
    drawn = [curve for curve in curves if curve.records]
    if not drawn:
        raise PlotError("there is nothing to draw: no epoch has ended yet")
    metric = shared_metric({curve.label: curve.metric for curve in drawn})
    # With two axes there is no place that the curves of both leave free.
    beside = len(drawn) > MOST_INSIDE or not metric.is_learned_from
    looks = drawing.looks(len(drawn))

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        _draw(axes, drawn, metric, looks, against)
        axes.set_title(drawing.plain(title))
        handles = _legend(drawn, metric, looks)
        if beside:
            paper.legend_outside(figure, handles=handles)
        else:
            paper.legend_inside(figure, axes, handles=handles, loc="best")

    shape = paper.Shape(10.2 if beside else 7.2, 4.2)
    return drawing.picture(draw, kind, shape, width=width)


def _draw(
    axes: Any,
    curves: Sequence[Curve],
    metric: Metric,
    looks: Sequence[dict[str, Any]],
    against: Against,
) -> None:
    longest = max(record.seconds for curve in curves for record in curve.records)
    scale, unit = drawing.time_unit(longest) if against == "time" else (1.0, "")
    of_training = training_axis(axes, metric)
    heights: list[float] = []
    for curve, look in zip(curves, looks, strict=True):
        places = [r.epoch if against == "epoch" else r.seconds / scale for r in curve.records]
        train = [training_height(metric, record.train) for record in curve.records]
        valid = [height(metric, record.valid) for record in curve.records]
        heights += [*train, *valid]
        style = drawing.marked(look, len(places))
        of_training.plot(places, train, **{**style, "linestyle": _DASHES, "linewidth": 1.1})
        axes.plot(places, valid, **{**style, "linestyle": "solid", "linewidth": 1.8})
        best = best_of(tuple(curve.records))
        if best is not None:
            at = places[list(curve.records).index(best)]
            axes.plot(
                [at], [height(metric, best.valid)], color=look["color"], marker=look["marker"],
                markersize=7, markeredgecolor="white", markeredgewidth=1.2, zorder=5,
            )  # fmt: skip
    axes.set_xlabel("epoch" if against == "epoch" else f"training time in {unit}")
    axes.set_ylabel(axis_label(metric))
    scale_axis(axes, metric, heights)
    if against == "epoch":
        whole = matplotlib("ticker").MaxNLocator(integer=True, min_n_ticks=1)
        axes.xaxis.set_major_locator(whole)


def _legend(curves: Sequence[Curve], metric: Metric, looks: Sequence[dict[str, Any]]) -> list[Any]:
    """Colours and markers are runs, with their best values; line styles are parts of the data."""
    line = matplotlib("lines").Line2D
    handles = []
    for curve, look in zip(curves, looks, strict=True):
        best = best_of(tuple(curve.records))
        behind = "" if best is None else f": {metric.shown(best.valid)} at epoch {best.epoch}"
        label = drawing.plain(curve.label + behind)
        own = {"color": look["color"], "marker": look["marker"], "markersize": 4}
        handles.append(line([], [], lw=2, label=label, **own))
    return [
        *handles,
        line([], [], color=GREY, lw=1.8, label="validation, best marked"),
        line([], [], color=GREY, lw=1.1, ls=_DASHES, label="training"),
    ]
