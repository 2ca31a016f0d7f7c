"""What a study may spend: epochs, which come out the same every time, or time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cellwright.trials.outcome import OK, Outcome, epochs_begun
from cellwright.trials.trial import Trial


@dataclass(frozen=True)
class Budget:
    """When a study asks for no more trials; those that run come to their end.

    Args:
        epochs: of training in all: those that ended trials have begun, and those that open ones
            may take. A trial that goes on with another counts with what it adds.
        seconds: by the wall clock, from when this object was made.
        least: trials that are asked for whatever they cost.
    """

    epochs: int | None = None
    seconds: float | None = None
    least: int = 0
    _begun: float = field(default_factory=time.monotonic, init=False)

    def spent(self, trials: Sequence[Trial], outcomes: Mapping[int, Outcome]) -> bool:
        """Whether the budget is used up after these trials, some of which have outcomes."""
        if len(trials) < self.least:
            return False
        if self.seconds is not None and self.elapsed >= self.seconds:
            return True
        return self.epochs is not None and epochs_spent(trials, outcomes) >= self.epochs

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._begun


def epochs_spent(trials: Sequence[Trial], outcomes: Mapping[int, Outcome]) -> int:
    """How many epochs of training trials take together, by number: those without an outcome all
    that they ask for; those that ended early what they began, so that methods whose trainings
    explode may begin as many more, but at least one each, so that every study ends."""
    total = 0
    for trial in trials:
        before = trial.info.get("continues")
        asked = trial.fidelity - (0 if before is None else trials[before].fidelity)
        outcome = outcomes.get(trial.number)
        if outcome is not None and outcome.status != OK:
            begun = epochs_begun(outcome.status, outcome.curve)
            asked = max(1, min(asked, begun - (trial.fidelity - asked)))
        total += asked
    return total
