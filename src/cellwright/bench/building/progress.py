"""How far a build is, for those who watch."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from cellwright.bench.building.method import Repeated
from cellwright.trials.study import StoreBack, StoreLost
from cellwright.trials.study.events import AttemptFailed, Event, TrialFinished


@dataclass(frozen=True)
class BuildProgress:
    """How far a build is, after something has happened.

    Args:
        done: trainings that have ended, also those of earlier calls.
        total: how many there will be.
        event: what happened; None at the beginning.
        name: of the cell that it is about, if it is about one.
        seed: of that training.
        left: about how many seconds there are to go; None before the first training has ended.
    """

    done: int
    total: int
    event: Event | None = None
    name: str = ""
    seed: int = 0
    left: float | None = None


Watch = Callable[[BuildProgress], None]


class Counter:
    """Counts, and says how long it will take from the trainings of this call."""

    def __init__(self, done: int, total: int, method: Repeated, watch: Watch | None) -> None:
        self._watch = watch
        self._now = BuildProgress(min(done, total), total)
        self._method = method
        self._ended, self._started = 0, time.monotonic()
        self._tell(self._now)

    def see(self, event: Event) -> None:
        """Take in an event of the study."""
        if isinstance(event, StoreLost | StoreBack):
            self._tell(replace(self._now, event=event))
            return
        over = isinstance(event, TrialFinished) or (
            isinstance(event, AttemptFailed) and not event.again
        )
        done, left = self._now.done, self._now.left
        if over:
            done += 1
            self._ended += 1
            pace = (time.monotonic() - self._started) / self._ended
            left = pace * (self._now.total - done)
        name, seed = self._method.label(event.number)
        self._now = BuildProgress(done, self._now.total, event, name, seed, left)
        self._tell(self._now)

    def _tell(self, now: BuildProgress) -> None:
        if self._watch is not None:
            self._watch(now)
