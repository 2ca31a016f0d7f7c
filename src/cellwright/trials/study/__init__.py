"""Studies: a method, an evaluator, an executor and a store, tied together by drivers.

May import the store and the executors. It knows methods by what they do (`leader.Method`).
"""

from cellwright.trials.store.patience import StoreBack, StoreLost
from cellwright.trials.study.budget import Budget
from cellwright.trials.study.driver import run_study
from cellwright.trials.study.events import (
    AttemptFailed,
    Event,
    GaveUpError,
    StudyError,
    StudyStopped,
    TrialFinished,
    TrialStarted,
)

__all__ = [
    "AttemptFailed",
    "Budget",
    "Event",
    "GaveUpError",
    "StoreBack",
    "StoreLost",
    "StudyError",
    "StudyStopped",
    "TrialFinished",
    "TrialStarted",
    "run_study",
]
