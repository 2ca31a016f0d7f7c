"""The picture of each analysis, as the paper's figures show it."""

from __future__ import annotations

from functools import partial, singledispatch
from typing import Any

import numpy as np

from cellwright.bench.analysis import (
    Distances,
    Finding,
    Measures,
    Prediction,
    Ranks,
    Scores,
    Surrogates,
    Transfer,
)
from cellwright.report import drawing, paper
from cellwright.report.drawing import COLOURS, DASHES, PlotError, time_unit
from cellwright.report.metric_axis import axis_label
from cellwright.report.paper import Shape

_MARKERS = {"RNN": "X", "LSTM": "^", "GRU": "o"}
_MOST_LINEAR = 30
"""Architectures in one bar of the histogram up to which its axis is not logarithmic."""
_WORST = 0.05
"""The share of architectures that lie beyond the end of an axis, or of a scale of colours."""


def picture(finding: Finding, kind: str, width: float | None = None) -> bytes:
    """The finding's figure as the contents of a file; the same bytes for the same finding.

    Args:
        finding: what was found.
        kind: of the picture.
        width: in inches, for a paper.
    """
    return drawing.picture(partial(draw, finding), kind, _shape(finding), {"font.size": 9}, width)


def _shape(finding: Finding) -> Shape:
    if isinstance(finding, Ranks):
        return Shape(3.0 * (len(finding.early) + 1), 3.2, across=len(finding.early) + 1)
    if isinstance(finding, Scores):
        return Shape(3.6 * 2 * len(finding.scores), 3.4, across=2 * len(finding.scores))
    shapes: dict[type[Finding], Shape] = {
        Measures: Shape(10, 4, across=2),
        Transfer: Shape(4.5, 4.2),
        Distances: Shape(5, 3.6),
        Prediction: Shape(8, 3.8, across=2),
        Surrogates: Shape(8, 3.6, across=2),
    }
    return shapes[type(finding)]


@singledispatch
def draw(finding: Finding, figure: Any) -> None:
    """Draw a finding on an empty matplotlib figure."""
    raise PlotError(f"there is no picture of {finding.name}")


@draw.register
def _measures(found: Measures, figure: Any) -> None:
    """Figure 4."""
    scatter, histogram = paper.parts(figure, 2)
    unit, unit_name = time_unit(float(found.seconds.max()))
    many, many_name = (1e6, "millions") if found.parameters.max() >= 1e6 else (1e3, "thousands")
    times, sizes = found.seconds / unit, found.parameters / many
    values, upwards = found.values, found.metric.higher_is_better
    # A few architectures are far worse than all others, whichever side that is.
    limit = float(np.quantile(values, _WORST if upwards else 1 - _WORST))
    points = scatter.scatter(
        times, sizes, c=values, s=14, cmap="viridis" if upwards else "viridis_r",
        **{"vmin" if upwards else "vmax": limit},
    )  # fmt: skip
    for name, place in found.marked.items():
        scatter.scatter(
            times[place], sizes[place], s=110, c=COLOURS[1], marker=_MARKERS[name],
            edgecolor="black", linewidth=0.6, label=name,
        )  # fmt: skip
    scatter.set_xlabel(f"wall time, {unit_name}")
    scatter.set_ylabel(f"parameters, {many_name}")
    label = drawing.plain(axis_label(found.metric, "test"))
    figure.colorbar(points, ax=scatter, label=label, extend="min" if upwards else "max")
    beyond = 0.05 * abs(limit)
    bounded = np.maximum(values, limit - beyond) if upwards else np.minimum(values, limit + beyond)
    counts, _, _ = histogram.hist(bounded, bins=40, color=COLOURS[0], alpha=0.8)
    if counts.max() > _MOST_LINEAR:
        histogram.set_yscale("log")
        histogram.set_ylim(bottom=0.5)
    else:
        histogram.yaxis.get_major_locator().set_params(integer=True)
    for number, (name, place) in enumerate(found.marked.items(), 1):
        dashes = DASHES[number % len(DASHES)]
        histogram.axvline(values[place], color=f"C{number}", linestyle=dashes, label=name)
    rest = "the first bar has all below" if upwards else "the last bar has all above"
    histogram.set_xlabel(drawing.plain(f"best test {found.metric.name} ({rest})"))
    histogram.set_ylabel("architectures")
    if found.marked:
        scatter.legend()
        histogram.legend()


@draw.register
def _ranks(found: Ranks, figure: Any) -> None:
    """Figure 5."""
    axes = paper.parts(figure, len(found.early) + 1)
    for axis, (epoch, places) in zip(axes, found.early.items(), strict=False):
        axis.scatter(places, found.final, s=4)
        axis.set_title(f"Spearman {found.rows[epoch - 1][1]:.3f}")
        axis.set_xlabel(f"validation rank, epoch {epoch}")
        axis.set_aspect("equal")
    axes[0].set_ylabel(f"test rank, epoch {found.last}")
    for column, name in ((1, "Spearman"), (2, "Kendall")):
        heights = [row[column] for row in found.rows]
        dashes = DASHES[column - 1]
        axes[-1].plot([row[0] for row in found.rows], heights, linestyle=dashes, label=name)
    axes[-1].set_xlabel("epoch of validation")
    axes[-1].set_ylabel("rank correlation")
    axes[-1].legend()


@draw.register
def _transfer(found: Transfer, figure: Any) -> None:
    """Figure 6."""
    axis, numbers = figure.subplots(), found.numbers
    axis.scatter(*found.losses, s=12)
    axis.set_xlabel(drawing.plain(found.labels[0]))
    axis.set_ylabel(drawing.plain(found.labels[1]))
    axis.set_title(f"Pearson {numbers['pearson']:.3f}, Spearman {numbers['spearman']:.3f}")


@draw.register
def _distances(found: Distances, figure: Any) -> None:
    """Figure 7."""
    axis = figure.subplots()
    edges = np.arange(found.bounds.min() - 0.5, found.bounds.max() + 1.5)
    axis.hist(found.bounds, bins=edges, color=COLOURS[0], alpha=0.8)
    axis.set_xlabel("upper bound of the graph edit distance")
    axis.set_ylabel("pairs")
    axis.set_title(f"{len(found.bounds)} pairs, {found.seconds:g} s for each")


@draw.register
def _prediction(found: Prediction, figure: Any) -> None:
    """Figure 8."""
    for axis, (which, split) in zip(paper.parts(figure, 2), found.splits.items(), strict=True):
        true, predicted, fit = split
        axis.scatter(true, predicted, s=8)
        if len(true):
            ends = [float(true.min()), float(true.max())]
            axis.plot(ends, ends, color="grey", linewidth=1)
        axis.set_xlabel(drawing.plain(f"true final test {found.loss_name}"))
        axis.set_ylabel("predicted")
        axis.set_title(f"{which}: R² {fit:.3f} (first split)")


@draw.register
def _scores(found: Scores, figure: Any) -> None:
    """Figures 9 and 13: of each score how often it comes, and what it goes with."""
    axes = paper.parts(figure, 2 * len(found.scores))
    label = drawing.plain(axis_label(found.metric, "test"))
    for number, (name, values) in enumerate(found.scores.items()):
        histogram, scatter = axes[2 * number : 2 * number + 2]
        histogram.hist(values[np.isfinite(values)], bins=20, color=COLOURS[0], alpha=0.8)
        histogram.set_ylabel("runs")
        histogram.yaxis.get_major_locator().set_params(integer=True)
        scatter.scatter(values, found.values, s=12)
        scatter.set_ylabel(label)
        for axis in (histogram, scatter):
            axis.set_xlabel(drawing.plain(name))
            if name in found.lines:
                axis.axvline(found.lines[name], color=COLOURS[1], linestyle="--", label="SGNS")
                axis.legend()


@draw.register
def _surrogates(found: Surrogates, figure: Any) -> None:
    left, right = paper.parts(figure, 2)
    shown, errors = list(found.errors), list(found.errors.values())
    left.plot(shown, [one.error for one in errors], marker="o", label="validation")
    left.plot(shown, [one.test_error for one in errors], marker="s", ls=DASHES[1], label="test")
    left.set_ylabel(drawing.plain(f"mean absolute error, final {found.loss_name}"))
    left.set_ylim(bottom=0)
    right.plot(shown, [one.r2 for one in errors], marker="o", label="R²")
    right.plot(shown, [one.spearman for one in errors], marker="s", ls=DASHES[1], label="Spearman")
    right.set_ylabel("predicted and true final validation loss")
    for axis in (left, right):
        axis.set_xlabel("epochs of the curve that the surrogate sees")
        axis.legend()
