"""What a study may spend: epochs, which come out the same every time, or time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from cellwright.trials.trial import Trial


@dataclass(frozen=True)
class Budget:
    """When a study asks for no more trials; those that run come to their end.

    Args:
        epochs: of training that were asked for in all. A trial that goes on with another counts
            with what it adds.
        seconds: by the wall clock, from when this object was made.
        least: trials that are asked for whatever they cost.
    """

    epochs: int | None = None
    seconds: float | None = None
    least: int = 0
    _begun: float = field(default_factory=time.monotonic, init=False)

    def spent(self, trials: Sequence[Trial]) -> bool:
        """Whether the budget is used up after these trials."""
        if len(trials) < self.least:
            return False
        if self.seconds is not None and self.elapsed >= self.seconds:
            return True
        return self.epochs is not None and epochs_asked(trials) >= self.epochs

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._begun


def epochs_asked(trials: Sequence[Trial]) -> int:
    """How many epochs of training trials ask for, together."""
    total = 0
    for trial in trials:
        before = trial.info.get("continues")
        total += trial.fidelity - (0 if before is None else trials[before].fidelity)
    return total
