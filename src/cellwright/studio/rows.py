"""A row of the page's list: what every kind of work says of itself, in JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cellwright.base.amounts import duration, memory
from cellwright.tasks.metric import Metric

Row = dict[str, Any]
Document = dict[str, Any]


def jsonable(value: Any) -> Any:
    """The value with null for numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {str(key): jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set):
        return [jsonable(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def metric_words(metric: Metric) -> Document:
    """What values are called, which way is up, and how many digits they have."""
    return {
        "name": metric.name,
        "higher": metric.higher_is_better,
        "form": metric.form,
        "grows": metric.axis_grows,
        "learned": metric.is_learned_from,
    }


def as_number(value: Any) -> float | None:
    """The value, if it is a number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def figures(metric: Metric, loss: float | None) -> Document:
    """A loss as its metric shows it: as a number to sort and draw by, and as text."""
    if loss is None or not math.isfinite(loss):
        return {"value": None, "shown": None}
    return {"value": metric.value(loss), "shown": metric.shown(loss)}


def values_of(metric: Metric, losses: Sequence[float | None]) -> list[float | None]:
    """Losses as values, to draw; None where there is no finite one."""
    found = [None if loss is None else metric.value(loss) for loss in losses]
    return [value if value is not None and math.isfinite(value) else None for value in found]


def training_values(metric: Metric, losses: Sequence[float | None]) -> list[float | None]:
    """Losses of training as values, where the metric is what training minimises."""
    if metric.is_learned_from:
        return values_of(metric, losses)
    return [loss if loss is not None and math.isfinite(loss) else None for loss in losses]


def time_left(seconds: float | None, part: float | None) -> float | None:
    """Seconds that are left, if the rest goes as the part that is done did."""
    if seconds is None or part is None or part <= 0.002:
        return None
    return max(0.0, seconds * (1 - part) / part)


def flat(values: Any, before: str = "") -> dict[str, Any]:
    """Settings in tables as one table, by dotted names.

    >>> flat({"model": {"hidden": 8}, "name": "small"})
    {'model.hidden': 8, 'name': 'small'}
    """
    if not isinstance(values, Mapping):
        return {before: values}
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= flat(value, f"{before}.{name}" if before else str(name))
    return found


def spoken(value: Any) -> str:
    """A setting as people write it."""
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return " ".join(map(spoken, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def cost_facts(seconds: float | None, peak: float | None) -> list[list[str]]:
    """Time and memory, where they are known."""
    found = []
    if seconds is not None:
        found.append(["time", duration(seconds)])
    if peak:
        found.append(["memory", f"{memory(int(peak))} at most"])
    return found


NOTHING_KNOWN: Row = {
    "state": "damaged", "cell": None, "data": None, "method": None, "metric": None, "value": None,
    "shown": None, "done": None, "total": None, "unit": "", "part": None, "left": None,
    "seconds": None, "created": None,
}  # fmt: skip
"""The row of what cannot be read."""
