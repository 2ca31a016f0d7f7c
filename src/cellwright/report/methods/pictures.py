"""The pictures of a comparison: regret against time (Figure 10) and final regrets (Figure 12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cellwright.bench.columns import Floats
from cellwright.bench.compare.statistics import regret_intervals
from cellwright.bench.compare.summary import Summary
from cellwright.report import drawing, paper
from cellwright.report.drawing import GREY
from cellwright.report.paper import Shape

Draw = Callable[[Any], None]

_ACROSS, _ACROSS_COLUMN = 4, 2
_FAINT = "#c8c8c8"


def styles(summary: Summary) -> dict[str, dict[str, Any]]:
    """The look of each method, the same in all pictures."""
    labels = list(summary.curves)
    return dict(zip(labels, drawing.looks(len(labels)), strict=True))


REGRETS = Shape(8.4, 4.6)
"""Of the picture of regrets."""


def draw_regrets(summary: Summary) -> Draw:
    """The mean regret of each method against simulated time, with 95% intervals (Figure 10)."""
    look = styles(summary)
    scale, unit = drawing.time_unit(float(summary.times[-1]))

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for label in summary.labels:
            mean, low, high = regret_intervals(summary.curves[label])
            colour = look[label]["color"]
            # The grid is so fine that lines for steps would only make the file twice as large.
            style = drawing.marked(look[label], len(mean), 4.0)
            axes.plot(
                summary.times / scale, mean, linewidth=1.7, label=drawing.plain(label), **style
            )
            axes.fill_between(
                summary.times / scale, low, high, color=colour, alpha=0.10, linewidth=0
            )
        axes.set_xlabel(f"simulated time in {unit}")
        axes.set_ylabel(_regret(summary))
        axes.set_xlim(0, summary.times[-1] / scale)
        axes.set_ylim(bottom=0, top=_top(summary))
        paper.legend_outside(figure, title="best first")

    return draw


def panels_shape(summary: Summary) -> Shape:
    """Of the picture with a panel for each method; in a column two rows of them are a part."""
    number = len(summary.labels)
    return Shape(10.0, 0.6 + 2.1 * -(-number // _ACROSS), across=-(-number // (_ACROSS_COLUMN * 2)))


def draw_panels(summary: Summary) -> Draw:
    """A panel for each method: every search, their mean, and the others' means behind."""
    look = styles(summary)
    scale, unit = drawing.time_unit(float(summary.times[-1]))
    times = summary.times / scale

    def draw(figure: Any) -> None:
        labels = summary.labels
        most = _ACROSS_COLUMN if paper.is_narrow(figure) else _ACROSS
        rows = -(-len(labels) // most)
        across = min(most, len(labels))
        grid = figure.subplots(rows, across, sharex=True, sharey=True, squeeze=False)
        for place, axes in enumerate(grid.flat):
            if place >= len(labels):
                axes.set_visible(False)
                continue
            label = labels[place]
            colour = look[label]["color"]
            for other in labels:
                axes.plot(times, summary.curves[other].mean(axis=0), color=_FAINT, linewidth=0.9)
            for row in summary.curves[label]:
                at = _corners(row)
                axes.plot(
                    times[at], row[at], drawstyle="steps-post", color=colour, linewidth=0.5,
                    alpha=0.35,
                )  # fmt: skip
            mean = summary.curves[label].mean(axis=0)
            axes.plot(times, mean, color=colour, linewidth=2)
            axes.set_title(drawing.plain(label))
            axes.set_xlim(0, times[-1])
            axes.set_ylim(0, _top(summary))
        figure.supxlabel(f"simulated time in {unit}", fontsize="medium")
        figure.supylabel(_regret(summary), fontsize="medium")

    return draw


def finals_shape(summary: Summary) -> Shape:
    """Of the picture of final regrets."""
    return Shape(10.0, max(3.6, 1.2 + 0.36 * len(summary.labels)), across=2)


def draw_finals(summary: Summary) -> Draw:
    """The distribution of final regrets: cumulative (Figure 12), and as boxes with each seed."""
    look = styles(summary)

    def draw(figure: Any) -> None:
        left, right = paper.parts(figure, 2)
        highest = max(float(values.max()) for values in summary.finals.values())
        end = highest * 1.05 or 1.0
        for label in summary.labels:
            values = np.sort(summary.finals[label])
            shares = np.arange(1, len(values) + 1) / len(values)
            left.plot(
                [0.0, *values, end], [0.0, *shares, 1.0], drawstyle="steps-post", linewidth=1.6,
                label=drawing.plain(label), **drawing.marked(look[label], len(values) + 2, 4.0),
            )  # fmt: skip
        left.set_xlim(0, end)
        left.set_ylim(0, 1.02)
        left.set_xlabel(f"final {_regret(summary)}")
        left.set_ylabel("share of seeds with at most this regret")
        paper.legend_inside(figure, left, roomy=9.0, loc="lower right")
        places = range(len(summary.labels), 0, -1)
        right.boxplot(
            [summary.finals[label] for label in summary.labels], positions=list(places),
            orientation="horizontal", widths=0.55, showfliers=False, manage_ticks=False,
            medianprops={"color": "black", "linewidth": 1.6}, boxprops={"color": GREY},
            whiskerprops={"color": GREY}, capprops={"color": GREY},
        )  # fmt: skip
        for place, label in zip(places, summary.labels, strict=True):
            values = summary.finals[label]
            # Points of equal regret side by side, in an order that is the same each time.
            right.plot(
                values, place + _spread(values), linestyle="", marker=look[label]["marker"],
                color=look[label]["color"], markersize=3.6, alpha=0.75, markeredgewidth=0,
            )  # fmt: skip
        right.set_yticks(list(places), [drawing.plain(label) for label in summary.labels])
        right.grid(axis="y", visible=False)
        right.set_xlabel(f"final {_regret(summary)}, and its quartiles")

    return draw


def _regret(summary: Summary) -> str:
    """What stands at an axis of regrets."""
    return drawing.plain(f"regret in {summary.metric.loss_name}")


def _top(summary: Summary) -> float:
    """How high an axis of regrets goes: beyond are only first trainings that did badly."""
    means = [values.mean(axis=0) for values in summary.curves.values()]
    known = np.concatenate([mean[np.isfinite(mean)] for mean in means])
    if not len(known):
        return 1.0
    return float(min(known.max(), 1.6 * np.quantile(known, 0.9)) * 1.05) or 1.0


def _corners(row: Floats) -> list[int]:
    """The places of a step function at which something happens: the rest need not be drawn."""
    changed = [place for place in range(1, len(row)) if row[place] != row[place - 1]]
    return [0, *(place for place in changed if not np.isnan(row[place])), len(row) - 1]


def _spread(values: Floats) -> Floats:
    """Small offsets that set equal values apart."""
    offsets = np.zeros(len(values))
    for value in np.unique(values):
        same = np.flatnonzero(values == value)
        width = min(0.26, 0.02 * len(same))
        offsets[same] = np.linspace(-width, width, len(same)) if len(same) > 1 else 0.0
    return offsets
