"""What an evaluator gives back, checked and brought into the form in which it is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.base.errors import shown

_COUNTS = ("parameters", "peak_memory")


@dataclass(frozen=True)
class Measured:
    """A result in the form in which it is kept: numbers that are not finite are None."""

    value: float | None
    status: str
    cost: float
    curves: Mapping[str, list[float | None]]
    parameters: int | None
    peak_memory: int | None
    measures: Mapping[str, Any]


def checked_result(result: Any) -> Measured:
    """What an evaluator gave, if it is what it should be.

    It is an outcome as JSON values, `value`, `status`, `cost` and `curve`, and may have
    `parameters`, `peak_memory`, further `curves` by name, and any other measures.

    Raises:
        ValueError: it is something else; the message says what.
    """
    if not isinstance(result, Mapping):
        raise ValueError(f"an evaluator gives an outcome as JSON values, not {shown(result)}")
    rest = {str(name): value for name, value in result.items()}
    status = rest.pop("status", "ok")
    value = _number("value", rest.pop("value", None))
    if not isinstance(status, str) or not status:
        raise ValueError(f"an outcome's status is a word, not {shown(status)}")
    if status == "ok" and value is None:
        raise ValueError('an outcome that is ok has a finite value; say "diverged" where it is not')
    curves = rest.pop("curves", None) or {}
    if not isinstance(curves, Mapping):
        raise ValueError(f"an outcome's curves are lists by name, not {shown(curves)}")
    found = {str(name): _curve(str(name), curve) for name, curve in curves.items()}
    found["valid"] = _curve("curve", rest.pop("curve", None) or found.get("valid", []))
    cost = _number("cost", rest.pop("cost", 0.0))
    parameters, memory = (_count(name, rest.pop(name, None)) for name in _COUNTS)
    return Measured(value, status, cost or 0.0, found, parameters, memory, _finite(rest))


def _curve(name: str, numbers: Any) -> list[float | None]:
    if not isinstance(numbers, list | tuple):
        raise ValueError(f"an outcome's {name} is a list of numbers, not {shown(numbers)}")
    return [_number(name, number) for number in numbers]


def _number(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"an outcome's {name} is a number, not {shown(value)}")
    return float(value) if math.isfinite(value) else None


def _count(name: str, value: Any) -> int | None:
    number = _number(name, value)
    if number is not None and not 0 <= number < 2**63:
        raise ValueError(f"an outcome's {name} is a count, not {shown(value)}")
    return None if number is None else int(number)


def _finite(value: Any) -> Any:
    """The same JSON with None for numbers that are not finite, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
