"""Tasks: a task is data, a model and a metric, and trains and measures a cell.

May import `models/`, `data/`, `engine/` and `cell/`. Nothing here writes files.
"""

from cellwright.tasks.language_model import LanguageModelling, Training
from cellwright.tasks.results import EpochDone, EpochRecord, Result, StepDone
from cellwright.tasks.settings import TrainingSettings
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
