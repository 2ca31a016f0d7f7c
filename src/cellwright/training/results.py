"""What training reports: after each step, after each epoch, and at the end."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

Status = Literal["running", "ok", "loss is nan", "exploded"]


@dataclass(frozen=True)
class EpochRecord:
    """One point of the curve. Losses are nats per word; memory is in bytes."""

    epoch: int
    train: float
    valid: float
    test: float
    learning_rate: float
    seconds: float
    peak_memory: int
    averaged: bool


@dataclass(frozen=True)
class StepDone:
    """One segment was learned."""

    ends_epoch: ClassVar[bool] = False
    best: ClassVar[bool] = False

    epoch: int
    step: int
    steps: int
    tokens: int
    loss: float
    learning_rate: float
    tokens_per_second: float
    seconds: float

    def to_record(self) -> dict[str, Any]:
        """As the metrics keep it."""
        return {"kind": "step", **asdict(self)}


@dataclass(frozen=True)
class EpochDone:
    """The text was read once and the model measured; `best` if never better before."""

    ends_epoch: ClassVar[bool] = True

    record: EpochRecord
    best: bool

    @property
    def epoch(self) -> int:
        """Its number, from 1."""
        return self.record.epoch

    def to_record(self) -> dict[str, Any]:
        """As the metrics keep it."""
        return {"kind": "epoch", **asdict(self.record), "best": self.best}


@dataclass(frozen=True)
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
    seconds: float
    parameters: int
    peak_memory: int

    @property
    def perplexity(self) -> float:
        """Of the validation text."""
        return perplexity(self.valid)


def perplexity(nats: float) -> float:
    """e to the mean loss; infinite where that is too large for a number."""
    return math.exp(nats) if nats < 700 else math.inf if nats == nats else math.nan


def best_of(curve: tuple[EpochRecord, ...]) -> EpochRecord | None:
    """The epoch that validated best, the earlier one of equals."""
    finite = [record for record in curve if math.isfinite(record.valid)]
    return min(finite, key=lambda record: record.valid, default=None)
