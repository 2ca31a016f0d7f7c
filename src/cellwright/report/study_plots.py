"""Pictures of studies: all trials as dots, the best so far as a line, by trials and by time.

matplotlib draws them and is optional: it comes with the extra `plots`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from cellwright.report import drawing, paper
from cellwright.report.drawing import PlotError
from cellwright.report.metric_axis import axis_label, height, shared_metric
from cellwright.tasks.metric import Metric
from cellwright.trials.store import Store, Study
from cellwright.trials.store.damage import check_row, damage_named
from cellwright.trials.store.tables import trials
from cellwright.trials.store.trials import FAILED, FINISHED

Numbers = NDArray[np.float64]

MOST_DOTS = 3000
"""More dots than this are drawn as an image within an SVG, which would be very large otherwise."""

FAR = 1.5
"""Values of so many times the median are not what a picture is about, of a metric that grows."""

FAR_BELOW = 4.0
"""Nor are those that are so many times farther from the median than the best is, of another."""


@dataclass(frozen=True)
class Series:
    """What is drawn of a study.

    Args:
        label: for the legend.
        losses: of the trials that ended, in the order of ending; NaN where there is none.
        seconds: what these have trained together up to each, this one included.
        metric: what the losses are shown as.
    """

    label: str
    losses: Numbers
    seconds: Numbers
    metric: Metric

    @property
    def best(self) -> Numbers:
        """The lowest loss so far; NaN before there is one."""
        low = np.fmin.accumulate(self.losses)
        return np.asarray(low, dtype=np.float64)


def read_series(store: Store, study: Study, label: str) -> Series:
    """The values and the cost of a study's trials."""
    query = (
        select(trials.c.number, trials.c.value, trials.c.status, trials.c.cost)
        .where(trials.c.study_id == study.id, trials.c.state.in_((FINISHED, FAILED)))
        .order_by(trials.c.ended_at, trials.c.number)
    )
    with damage_named(store, study):
        rows = store.read(lambda connection: connection.execute(query).all())
        for row in rows:
            check_row(trials, row, f"trial {row.number}")
    losses = [math.nan if r.status != "ok" or r.value is None else r.value for r in rows]
    seconds = np.cumsum([r.cost or 0.0 for r in rows], dtype=np.float64)
    return Series(label, np.array(losses, dtype=np.float64), seconds, study.metric)


def draw_studies(
    series: Sequence[Series], path: Path, *, title: str = "", width: float | None = None
) -> None:
    """Draw studies into a file: the best value against trials, and against training time.

    The same trials give the same bytes.

    Args:
        series: the studies; the first has the first colour.
        path: the file; its ending says its format.
        title: above the picture.
        width: in inches, for a paper.

    Raises:
        PlotError: there is nothing to draw, the studies have different metrics, or matplotlib is
            missing.
        UserError: the file's ending is another one, or it cannot be written.
    """
    drawn = [each for each in series if np.isfinite(each.losses).any()]
    drawing.picture_kind(path)
    if not drawn:
        raise PlotError("there is nothing to draw: no trial has a value yet")
    metric = shared_metric({each.label: each.metric for each in drawn})

    def draw(figure: Any) -> None:
        left, right = paper.parts(figure, 2, sharey=True)
        longest = max(float(each.seconds[-1]) for each in drawn)
        scale, unit = drawing.time_unit(longest)
        for each, look in zip(drawn, drawing.looks(len(drawn)), strict=True):
            heights, best = _heights(each.losses, metric), _heights(each.best, metric)
            numbers = np.arange(1, len(heights) + 1, dtype=np.float64)
            for axes, places in ((left, numbers), (right, each.seconds / scale)):
                _draw(axes, places, heights, best, look, _label(each))
        left.set_xlabel("trials that have ended")
        right.set_xlabel(f"training time of all trials together in {unit}")
        for axes in {left, right} if paper.is_narrow(figure) else {left}:
            axes.set_ylabel(axis_label(metric, "validation"))
            _limit(axes, drawn, metric)
        left.set_title(drawing.plain(title))
        corner = "lower" if metric.higher_is_better else "upper"
        paper.legend_inside(figure, right, loc=f"{corner} right")

    drawing.write_picture(draw, path, paper.Shape(10.2, 4.2, across=2), width=width)


def _draw(
    axes: Any,
    places: Numbers,
    heights: Numbers,
    best: Numbers,
    look: dict[str, Any],
    label: str,
) -> None:
    colour = look["color"]
    axes.plot(
        places, heights, linestyle="", marker=look["marker"], markersize=3, markeredgewidth=0,
        alpha=0.35, color=colour, rasterized=len(places) > MOST_DOTS,
    )  # fmt: skip
    axes.step(
        places, best, where="post", color=colour, linestyle=look["linestyle"], linewidth=1.8,
        label=label,
    )  # fmt: skip


def _heights(losses: Numbers, metric: Metric) -> Numbers:
    return np.array([height(metric, loss) for loss in losses], dtype=np.float64)


def _label(each: Series) -> str:
    best = each.metric.shown(float(np.nanmin(each.losses)))
    return drawing.plain(f"{each.label}: {best} after {len(each.losses):,} trials")


def _limit(axes: Any, drawn: Sequence[Series], metric: Metric) -> None:
    """Leave out far worse trials, of which there are always some, so that the rest can be seen."""
    losses = np.concatenate([each.losses for each in drawn])
    losses = losses[np.isfinite(_heights(losses, metric))]
    best, median = float(losses.min()), float(np.median(losses))
    worst = median + (math.log(FAR) if metric.axis_grows else FAR_BELOW * (median - best))
    firsts = (float(each.best[np.isfinite(each.best)][0]) for each in drawn)
    worst = min(float(losses.max()), max(worst, *firsts))
    low, high = sorted(metric.value(loss) for loss in (best, worst))
    room = 0.05 * max(high - low, 1e-9)
    axes.set_ylim(low - room, high + room)
