"""Tasks: a task is data, a model and a metric, and trains and measures a cell.

May import `models/`, `data/`, `engine/` and `cell/`. Nothing here writes files. Settings and
results need no torch, so that recipes and runs are read without it.
"""

from typing import TYPE_CHECKING, Any

from cellwright.tasks.results import EpochDone, EpochRecord, Result, StepDone
from cellwright.tasks.settings import TrainingSettings

if TYPE_CHECKING:
    from cellwright.tasks.language_model import LanguageModelling, Training
    from cellwright.tasks.snapshots import Snapshot

__all__ = [
    "EpochDone",
    "EpochRecord",
    "LanguageModelling",
    "Result",
    "Snapshot",
    "StepDone",
    "Training",
    "TrainingSettings",
]

_NEEDS_TORCH = {
    "LanguageModelling": "language_model",
    "Snapshot": "snapshots",
    "Training": "language_model",
}


def __getattr__(name: str) -> Any:
    # torch takes a second to import, which those who only look at results need not wait for.
    if name in _NEEDS_TORCH:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_NEEDS_TORCH[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
