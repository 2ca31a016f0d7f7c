"""The curves of a comparison: each cell on the validation data, its mean and its seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from cellwright.compare.plan import Plan
from cellwright.compare.results import Standing
from cellwright.report import drawing, paper
from cellwright.report.metric_axis import axis_label, height, scale_axis
from cellwright.report.run_plots import MOST_INSIDE


def curves(
    plan: Plan, standings: Sequence[Standing], kind: str = "svg", width: float | None = None
) -> bytes | None:
    """A picture; None if no epoch has ended.

    Args:
        plan: the comparison.
        standings: its cells' figures.
        kind: of the picture.
        width: in inches, for a paper.

    Raises:
        PlotError: matplotlib is missing.
    """
    drawn = [one for one in standings if any(run.result.curve for run in one.runs)]
    if not drawn:
        return None

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        heights: list[float] = []
        for one, look in zip(drawn, drawing.looks(len(drawn)), strict=True):
            heights += _draw_cell(axes, one, look)
        axes.set_xlabel("epoch")
        axes.set_ylabel(axis_label(plan.metric, "validation"))
        scale_axis(axes, plan.metric, heights)
        whole = drawing.matplotlib("ticker").MaxNLocator(integer=True, min_n_ticks=1)
        axes.xaxis.set_major_locator(whole)
        if len(drawn) > MOST_INSIDE:
            paper.legend_outside(figure)
        else:
            paper.legend_inside(figure, axes, loc="best")

    shape = paper.Shape(9.4 if len(drawn) > MOST_INSIDE else 7.6, 4.4)
    return drawing.picture(draw, kind, shape, width=width)


def _draw_cell(axes: Any, one: Standing, look: dict[str, Any]) -> list[float]:
    """The seeds as thin lines, their mean as a thick one; all heights."""
    seeds = [[height(run.metric, record.valid) for record in run.result.curve] for run in one.runs]
    for heights in seeds:
        places = range(1, len(heights) + 1)
        axes.plot(places, heights, color=look["color"], linewidth=0.7, alpha=0.6)
    # The mean goes as far as every seed does: beyond, it would be one of the lucky.
    shared = min(len(heights) for heights in seeds)
    means = [statistics.fmean(heights[at] for heights in seeds) for at in range(shared)]
    label = drawing.plain(one.label)
    places = range(1, shared + 1)
    axes.plot(places, means, linewidth=1.9, label=label, **drawing.marked(look, shared))
    return [value for heights in seeds for value in heights]
