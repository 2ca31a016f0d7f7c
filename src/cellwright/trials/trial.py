"""`Trial` and `Outcome`: what a search method asks for, and what it is told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cellwright.base.errors import UserError
from cellwright.cell import Cell

OK = "ok"


class SearchError(UserError):
    """A method was told something that does not fit what it asked."""


@dataclass(frozen=True)
class Trial:
    """A cell to be trained.

    Args:
        number: from 0, in the order of asking.
        cell: what to train.
        fidelity: for how many epochs in all.
        seed: of the training; the same wherever and whenever the trial runs.
        info: where the trial stands in its method: parent, bracket, rung. `continues` is the
            number of the trial whose training this one may go on with: same cell, same seed,
            fewer epochs.
    """

    number: int
    cell: Cell
    fidelity: int
    seed: int
    info: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The trial as JSON values."""
        return {
            "number": self.number,
            "cell": self.cell.to_json(indent=None),
            "fidelity": self.fidelity,
            "seed": self.seed,
            "info": dict(self.info),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Trial:
        """The inverse of `to_json`."""
        return cls(**{**values, "cell": Cell.from_json(values["cell"])})


@dataclass(frozen=True)
class Outcome:
    """What became of a trial.

    Args:
        value: what is minimised: the validation loss after the trial's epochs, or the best of
            them. Means nothing unless the status is "ok".
        status: "ok", or why there is no value: "diverged", "failed", …
        cost: seconds of training that the trial took.
        curve: the validation loss of each epoch.
    """

    value: float
    status: str = OK
    cost: float = 0.0
    curve: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.status == OK and not math.isfinite(self.value):
            raise SearchError(
                f"an outcome that is ok has a finite value, not {self.value}; "
                'say status="diverged" where the loss is not'
            )

    @property
    def loss(self) -> float:
        """The value, or infinity where there is none."""
        return self.value if self.status == OK else math.inf

    def to_json(self) -> dict[str, Any]:
        """The outcome as JSON values; JSON has no NaN, so a number that is not finite is null."""
        return {
            "value": _finite(self.value),
            "status": self.status,
            "cost": float(self.cost),
            "curve": [_finite(value) for value in self.curve],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Outcome:
        """The inverse of `to_json`, up to which number it was that is not finite."""

        def number(value: float | None) -> float:
            return math.nan if value is None else float(value)

        curve = tuple(number(value) for value in values["curve"])
        return cls(number(values["value"]), values["status"], values["cost"], curve)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
