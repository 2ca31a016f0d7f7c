"""What the cells of a search were worth as it went on (I-DARTS, Figure 2b)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cellwright.base.files import write_whole
from cellwright.compare.plan import Plan
from cellwright.compare.results import Standing
from cellwright.compare.search_epochs import SearchEpochs
from cellwright.report import drawing, paper
from cellwright.report.drawing import PlotError
from cellwright.report.metric_axis import axis_label, height, scale_axis
from cellwright.report.page import Page

SEARCH = "search.svg"


def over_search(
    plan: Plan,
    standings: Sequence[Standing],
    epochs: SearchEpochs,
    kind: str = "svg",
    width: float | None = None,
) -> bytes | None:
    """The best validation values of retrained cells against the epochs of the search.

    A thick line has the means over the seeds, dots are the seeds; cells that are beside those of
    the search are level lines. None if no cell of the search has a result.

    Raises:
        PlotError: matplotlib is missing.
    """
    by_cell = {one.contender.cell.id: one for one in standings if one.valid is not None}
    points = [(epoch, by_cell[id]) for epoch, id in epochs.cells if id in by_cell]
    own = {id for _, id in epochs.cells}
    beside = [one for id, one in by_cell.items() if id not in own]
    if not points:
        return None

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        first, *looks = drawing.looks(1 + len(beside))
        heights: list[float] = []
        means = []
        for epoch, one in points:
            seeds = _heights(one)
            axes.scatter([epoch] * len(seeds), seeds, s=12, color=first["color"], alpha=0.6)
            means.append(sum(seeds) / len(seeds))
            heights += seeds
        label = drawing.plain(epochs.name)
        places = [epoch for epoch, _ in points]
        axes.plot(places, means, linewidth=1.9, label=label, **drawing.marked(first, len(points)))
        for one, look in zip(beside, looks, strict=True):
            level = sum(_heights(one)) / len(_heights(one))
            heights.append(level)
            color = look["color"]
            axes.axhline(level, color=color, linestyle="--", label=drawing.plain(one.label))
        axes.set_xlabel("epoch of the search")
        axes.set_ylabel(axis_label(plan.metric, "validation"))
        scale_axis(axes, plan.metric, heights)
        whole = drawing.matplotlib("ticker").MaxNLocator(integer=True, min_n_ticks=1)
        axes.xaxis.set_major_locator(whole)
        paper.legend_inside(figure, axes, loc="best")

    return drawing.picture(draw, kind, paper.Shape(7.6, 4.4), width=width)


def _heights(one: Standing) -> list[float]:
    """The best validation value of each seed."""
    runs = [run for run in one.runs if run.result.best_epoch is not None]
    return [height(run.metric, run.result.valid) for run in runs]


def add_search(
    page: Page,
    plan: Plan,
    standings: Sequence[Standing],
    epochs: SearchEpochs,
    pdf: float | None,
) -> None:
    """What the search's cells were worth, epoch by epoch."""
    try:
        picture = over_search(plan, standings, epochs)
    except PlotError as error:
        page.note(f"There is no picture of the search: {error}.")
        return
    if picture is None:
        page.text("No cell of the search has a result.")
        return
    path = plan.folder / SEARCH
    write_whole(path, picture)
    if pdf is not None:
        drawn = over_search(plan, standings, epochs, "pdf", pdf)
        assert drawn is not None
        write_whole(path.with_suffix(".pdf"), drawn)
    page.figure(
        picture,
        f"What the cells that {epochs.name} had come to are worth when they are trained from "
        "scratch: the line has the means over the seeds, dots are the seeds, broken lines are the "
        "cells beside them.",
        alt=f"the validation {plan.metric.name} of retrained cells against the search's epochs",
    )
