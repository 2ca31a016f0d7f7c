"""What training reports: after each step, after each epoch, and at the end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from cellwright.base.validation import Count, Seconds

Status = Literal["running", "ok", "loss is nan", "exploded"]

STRICT = ConfigDict(strict=True)
"""What is kept in files is checked when it is read again: a number is one, and no text or truth
value."""


@checked(frozen=True, config=STRICT)
class EpochRecord:
    """One point of the curve; memory is in bytes.

    `figures` are what the task measured beside the losses, by part and name.
    """

    epoch: Annotated[int, Field(ge=1, lt=2**31)]
    train: float
    valid: float
    test: float
    learning_rate: float
    seconds: Seconds
    peak_memory: Count
    averaged: bool
    figures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values; without figures where there are none."""
        values = asdict(self)
        return values if self.figures else {k: v for k, v in values.items() if k != "figures"}


@dataclass(frozen=True)
class StepDone:
    """One batch was learned from: `size` items, `speed` of them a second.

    Searches add what they have beside that.
    """

    ends_epoch: ClassVar[bool] = False
    best: ClassVar[bool] = False

    epoch: int
    step: int
    steps: int
    size: int
    loss: float
    learning_rate: float
    speed: float
    seconds: float

    def to_record(self) -> dict[str, Any]:
        """As the metrics keep it."""
        return {"kind": "step", **asdict(self)}


@dataclass(frozen=True)
class EpochDone:
    """The data was read once and the model measured; `best` if never better before."""

    ends_epoch: ClassVar[bool] = True

    record: EpochRecord
    best: bool

    @property
    def epoch(self) -> int:
        """Its number, from 1."""
        return self.record.epoch

    def to_record(self) -> dict[str, Any]:
        """As the metrics keep it."""
        return {"kind": "epoch", **self.record.to_json(), "best": self.best}


@checked(frozen=True, config=STRICT)
class Result:
    """A trained cell's figures. A run that diverged is a result as well.

    `valid` and `test` are those of the epoch that validated best; where there is none, they
    are infinite.
    """

    status: Status
    curve: tuple[EpochRecord, ...]
    best_epoch: int | None
    valid: float
    test: float
    seconds: Seconds
    parameters: Count
    peak_memory: Count

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {**asdict(self), "curve": [record.to_json() for record in self.curve]}


def best_of(curve: tuple[EpochRecord, ...]) -> EpochRecord | None:
    """The epoch that validated best, the earlier one of equals."""
    finite = [record for record in curve if math.isfinite(record.valid)]
    return min(finite, key=lambda record: record.valid, default=None)
