"""`Outcome`: what became of a trial.

The one shape for all: what an evaluator gives, what the store keeps, what a method is told. As JSON
a number that is not finite is null, since JSON has no NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellwright.base.errors import UserError, shown

OK = "ok"

Curve = tuple[float, ...]


class OutcomeError(UserError):
    """Something is not the outcome of a trial. The message says what is wrong with it."""


@dataclass(frozen=True)
class Outcome:
    """What became of a trial.

    Args:
        value: what is minimised: the validation loss after the trial's epochs, or the best of
            them. Means nothing unless the status is "ok".
        status: "ok", or why there is no value: "diverged", "failed", …
        cost: seconds of training that the trial took.
        curve: the validation loss of each epoch.
        curves: others, by name: "train", "test", "seconds".
        parameters: numbers that the model learns.
        peak_memory: bytes.
        test: the loss on the test data of the epoch that the value is of.
        measures: whatever else was measured, as JSON values.
    """

    value: float
    status: str = OK
    cost: float = 0.0
    curve: Curve = ()
    curves: Mapping[str, Curve] = field(default_factory=dict)
    parameters: int | None = None
    peak_memory: int | None = None
    test: float = math.nan
    measures: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status == OK and not math.isfinite(self.value):
            raise OutcomeError(
                f"an outcome that is ok has a finite value, not {self.value}; "
                'say status="diverged" where the loss is not'
            )

    @property
    def loss(self) -> float:
        """The value, or infinity where there is none."""
        return self.value if self.status == OK else math.inf

    def brief(self) -> dict[str, Any]:
        """What a method learns from, as JSON values."""
        return {
            "value": _finite(self.value),
            "status": self.status,
            "cost": float(self.cost) if math.isfinite(self.cost) else 0.0,
            "curve": _finite(self.curve),
        }

    def to_json(self) -> dict[str, Any]:
        """The outcome as JSON values; what is not known is left out."""
        values = self.brief()
        if self.curves:
            values["curves"] = _finite(self.curves)
        for name in ("parameters", "peak_memory"):
            if getattr(self, name) is not None:
                values[name] = getattr(self, name)
        if math.isfinite(self.test):
            values["test"] = self.test
        return {**_finite(self.measures), **values}

    @classmethod
    def from_json(cls, values: Any) -> Outcome:
        """The inverse of `to_json`, up to which number it was that is not finite.

        Every value is looked at, since an evaluator may be anybody's.

        Raises:
            OutcomeError: it is something else; the message says what.
        """
        if not isinstance(values, Mapping):
            raise OutcomeError(f"an evaluator gives an outcome as JSON values, not {shown(values)}")
        rest = {str(name): value for name, value in values.items()}
        status = rest.pop("status", OK)
        if not isinstance(status, str) or not status:
            raise OutcomeError(f"an outcome's status is a word, not {shown(status)}")
        curves = rest.pop("curves", None) or {}
        if not isinstance(curves, Mapping):
            raise OutcomeError(f"an outcome's curves are lists by name, not {shown(curves)}")
        found = {str(name): _curve(str(name), curve) for name, curve in curves.items()}
        curve = _curve("curve", rest.pop("curve", None) or found.pop("valid", ()))
        found.pop("valid", None)
        cost = _number("cost", rest.pop("cost", 0.0))
        return cls(
            value=_number("value", rest.pop("value", None)),
            status=status,
            cost=cost if math.isfinite(cost) else 0.0,
            curve=curve,
            curves=found,
            parameters=_count("parameters", rest.pop("parameters", None)),
            peak_memory=_count("peak_memory", rest.pop("peak_memory", None)),
            test=_number("test", rest.pop("test", None)),
            measures=_finite(rest),
        )


def epochs_begun(status: str, curve: Sequence[float]) -> int:
    """How many epochs a training has begun, by its status and the validation loss of each epoch:
    one that diverges while it learns has begun an epoch that has no point of the curve."""
    return len(curve) + (status != OK and (not curve or math.isfinite(curve[-1])))


def _curve(name: str, numbers: Any) -> Curve:
    if not isinstance(numbers, list | tuple):
        raise OutcomeError(f"an outcome's {name} is a list of numbers, not {shown(numbers)}")
    return tuple(_number(name, number) for number in numbers)


def _number(name: str, value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OutcomeError(f"an outcome's {name} is a number, not {shown(value)}")
    try:
        return float(value) if math.isfinite(value) else math.nan
    except OverflowError:  # a whole number with more digits than a float has room for
        raise OutcomeError(f"an outcome's {name} is too large: {shown(value)}") from None


def _count(name: str, value: Any) -> int | None:
    number = _number(name, value)
    if math.isnan(number):
        return None
    if not (0 <= number < 2**63 and number.is_integer()):
        raise OutcomeError(f"an outcome's {name} is a count, not {shown(value)}")
    return int(value)


def _finite(value: Any) -> Any:
    """The same as JSON values, with None for numbers that are not finite."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    raise OutcomeError(f"an outcome has JSON values, and {shown(value)} is none")
