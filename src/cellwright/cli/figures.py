"""Figures for people and for JSON: losses, metrics, times, memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cellwright.base.amounts import clock as clock
from cellwright.base.amounts import duration as duration
from cellwright.base.amounts import memory as memory

if TYPE_CHECKING:
    from cellwright.tasks.metric import Metric


def jsonable(value: Any) -> Any:
    """The value with null for what JSON does not have, NaN and infinities."""
    if isinstance(value, dict):
        return {key: jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def loss(value: float) -> str:
    """A loss for people.

    >>> loss(4.63924), loss(float("nan"))
    ('4.6392', '–')
    """
    return f"{value:.4f}" if math.isfinite(value) else "–"


def metric_document(metric: Metric) -> dict[str, Any]:
    """What losses are shown as, for programs; `value` beside a loss is what it is shown as."""
    return {**metric.model_dump(), "higher_is_better": metric.higher_is_better}


def direction(metric: Metric) -> str:
    """What a table's figures are, for people.

    >>> from cellwright.tasks.metric import Metric
    >>> direction(Metric(name="F1", form="percent"))
    'F1, higher is better'
    """
    return f"{metric.name}, {metric.better_word} is better"


def arrow(metric: Metric) -> str:
    """A metric's name for a narrow table, and where its better values are.

    >>> from cellwright.tasks.metric import Metric
    >>> arrow(Metric(name="F1", form="percent")), arrow(Metric(name="loss"))
    ('F1 ↑', 'loss ↓')
    """
    return f"{metric.name} {'↑' if metric.higher_is_better else '↓'}"


def share(part: float, whole: float) -> str:
    """A part of a whole, for people.

    >>> share(1, 3), share(1, 0)
    ('33.3%', '–')
    """
    return f"{100 * part / whole:.1f}%" if whole else "–"
