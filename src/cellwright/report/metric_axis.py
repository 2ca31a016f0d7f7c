"""Axes of a metric's values: what they are called, and how they are divided."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cellwright.report.drawing import PlotError, matplotlib
from cellwright.tasks.metric import Metric

LOG_FROM = 4.0
"""An axis is logarithmic if the largest value is at least so many times the smallest."""


def shared_metric(metrics: Mapping[str, Metric]) -> Metric:
    """The one metric of several things by their names, since others do not belong at one axis.

    Raises:
        PlotError: they have different ones.
    """
    (name, first), *others = metrics.items()
    for other, metric in others:
        if (metric.name, metric.form) != (first.name, first.form):
            raise PlotError(
                f"{name} is measured by {first.name} and {other} by {metric.name}, and one axis "
                "cannot show both; draw them one by one"
            )
    return first


def axis_label(metric: Metric, of: str = "") -> str:
    """What stands at an axis.

    >>> axis_label(Metric(name="F1", form="percent"), "validation")
    'validation F1 (higher is better)'
    """
    return f"{of} {metric.name} ({metric.better_word} is better)".lstrip()


def height(metric: Metric, loss: float | None) -> float:
    """A loss as the value to draw, or NaN, which leaves a gap, where there is none."""
    found = math.nan if loss is None else metric.value(loss)
    return found if math.isfinite(found) else math.nan


def scale_axis(axes: Any, metric: Metric, heights: Sequence[float]) -> None:
    """Make the axis of heights logarithmic, with plain numbers at it, where values of a metric that
    grows are far apart."""
    drawn = [value for value in heights if 0 < value < math.inf]
    if not metric.axis_grows or not drawn or max(drawn) < LOG_FROM * min(drawn):
        return
    ticker = matplotlib("ticker")

    def plain(value: float, _: int) -> str:
        return f"{value:,.0f}" if value >= 1 else f"{value:g}"

    axes.set_yscale("log")
    decades = math.log10(max(drawn) / min(drawn))
    steps = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if decades < 1.3 else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(ticker.LogLocator(10, subs=steps if decades < 3 else (1.0,)))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(plain))
    axes.yaxis.set_minor_locator(ticker.NullLocator())
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())


def training_axis(axes: Any, metric: Metric) -> Any:
    """Where the losses of training are drawn: at the same axis where they are of the same kind, and
    else at one of their own, on the right."""
    if metric.is_learned_from:
        return axes
    second = axes.twinx()
    second.grid(False)
    second.spines["right"].set_visible(True)
    second.set_ylabel("loss of training")
    return second


def training_height(metric: Metric, loss: float | None) -> float:
    """A loss of training as it is drawn at `training_axis`."""
    if metric.is_learned_from:
        return height(metric, loss)
    return math.nan if loss is None or not math.isfinite(loss) else loss
