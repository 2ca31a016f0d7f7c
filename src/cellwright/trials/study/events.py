"""What a driver reports while it works, for a live table, and what it raises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cellwright.base.errors import UserError
from cellwright.trials.store.patience import StoreBack, StoreLost


class StudyError(UserError):
    """A study cannot go on. The message says why, and what to do."""


class GaveUpError(StudyError):
    """So many trials of a study failed in a row that it was given up."""


class StudyStopped(KeyboardInterrupt):
    """A driver was asked to stop (Ctrl-C, or the signal TERM), and has put back what it ran.

    It is a `KeyboardInterrupt`, so that a loop over studies ends as well.

    Args:
        study: its name.
        lost: what was lost, in a sentence, because the store did not answer at the end; empty if
            nothing was.
    """

    def __init__(self, study: str, lost: str = "") -> None:
        line = f"stopped; the same command goes on with study {study!r} from here"
        super().__init__(f"{line}\n{lost}" if lost else line)
        self.lost = lost


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


OfTrial = TrialStarted | TrialFinished | AttemptFailed
"""What happens to a trial."""

Event = OfTrial | StoreLost | StoreBack
"""Everything that a driver reports."""
