"""What a driver reports while it works, for a live table, and what it raises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cellwright.base.errors import UserError


class StudyError(UserError):
    """A study cannot go on. The message says why, and what to do."""


class StudyStopped(KeyboardInterrupt):
    """A driver was asked to stop (Ctrl-C, or the signal TERM), and has put back what it ran.

    It is a `KeyboardInterrupt`, so that a loop over studies ends as well.
    """

    def __init__(self, study: str) -> None:
        super().__init__(f"stopped; the same command goes on with study {study!r} from here")


@dataclass(frozen=True)
class TrialStarted:
    """A trial was handed to a worker of this driver."""

    number: int
    cell_id: str
    fidelity: int
    attempt: int


@dataclass(frozen=True)
class TrialFinished:
    """A trial that this driver ran is in the store, with its outcome as JSON values."""

    number: int
    cell_id: str
    fidelity: int
    attempt: int
    outcome: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class AttemptFailed:
    """An attempt of this driver came to nothing.

    `ending` is the executor's word for how, and `again` says whether the trial will be tried
    again; if not, it has failed.
    """

    number: int
    cell_id: str
    attempt: int
    ending: str
    message: str
    again: bool


Event = TrialStarted | TrialFinished | AttemptFailed
