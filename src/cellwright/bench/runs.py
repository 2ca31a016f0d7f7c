"""`Run` and `Architecture`: what a benchmark has in its rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cellwright.bench.columns import Floats
from cellwright.bench.errors import BenchError
from cellwright.cell import Cell

STATUSES = ("ok", "diverged", "stopped", "failed")
"""How a training ended: all its epochs with finite losses; a loss that was not finite (the paper's
numerical explosions); cut short by somebody; an error. The place in this tuple is what a file has.
"""

CURVES = ("train", "valid", "test", "seconds")
"""What is known of every epoch: three losses, and the wall time that it took."""


@dataclass(frozen=True, eq=False)
class Run:
    """One training of one architecture with one seed.

    Args:
        valid: the validation loss after each epoch.
        test: the test loss after each epoch; NaN where it was not measured.
        train: the training loss after each epoch; NaN where it was not measured.
        seconds: the wall time of each epoch.
        status: one of `STATUSES`.
        message: what the training said of its end, such as "loss is nan!".
        seed: tells apart the runs of one architecture.
        parameters: trainable numbers of the whole model.
        settings: the training's settings.
        label: what the run is called where it comes from; the release's `recepie_id`.
        scores: other figures on the test data, of the epoch that validation would choose, such as
            how well word vectors agree with people.
    """

    valid: Floats
    test: Floats
    train: Floats
    seconds: Floats
    status: str = "ok"
    message: str = ""
    seed: int = 0
    parameters: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise BenchError(f"unknown status {self.status!r}; it is one of {', '.join(STATUSES)}")
        for name in CURVES:
            values = np.asarray(getattr(self, name), np.float64)
            object.__setattr__(self, name, values)
            if values.shape != (self.epochs,):
                raise BenchError(
                    f"a run of {self.epochs} epochs has {name} of shape {values.shape}"
                )
        if not (np.isfinite(self.seconds) & (self.seconds >= 0)).all():
            raise BenchError("the wall time of an epoch must be finite and not negative")

    @property
    def epochs(self) -> int:
        """How many epochs are recorded."""
        return int(np.size(self.valid))

    @cached_property
    def best_epoch(self) -> int:
        """The first epoch, from 1, with the lowest finite validation loss; 0 where none is."""
        finite = np.where(np.isfinite(self.valid), self.valid, np.inf)
        if not np.isfinite(finite).any():
            return 0
        return int(finite.argmin()) + 1

    @property
    def best_valid(self) -> float:
        """The lowest finite validation loss; NaN where no epoch has one."""
        return float(self.valid[self.best_epoch - 1]) if self.best_epoch else math.nan

    @property
    def best_test(self) -> float:
        """The test loss of the epoch that validation would choose."""
        return float(self.test[self.best_epoch - 1]) if self.best_epoch else math.nan

    @property
    def total_seconds(self) -> float:
        """The wall time of all epochs."""
        return math.fsum(self.seconds)


@dataclass(frozen=True, eq=False)
class Architecture:
    """A cell as it is listed, and its runs."""

    name: str
    cell: Cell
    runs: Sequence[Run] = ()
