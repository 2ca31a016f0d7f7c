"""How far trainings have come, while they go on: a small file for each, in FOLDER/progress/.

Who trains writes it, now and then; who waits reads it. It is in the comparison's folder as the runs
are, so it is seen wherever they are; nothing is lost with it.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cellwright.base.errors import FileError
from cellwright.base.files import make_inside, remove, write_whole
from cellwright.base.regular_files import read_regular
from cellwright.compare.plan import Plan
from cellwright.training.results import EpochDone, StepDone

FOLDER = "progress"

WRITE_SECONDS = 0.25
"""The time between two writings."""


class Reporter:
    """Told of every step and epoch of a training; writes how far it is.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._due = path, 0.0
        self._valid = self._best = math.inf

    def __call__(self, event: StepDone | EpochDone) -> None:
        """Take in what happened."""
        if isinstance(event, EpochDone):
            self._valid = event.record.valid
            self._best = min(self._best, self._valid)
            self._write(event.epoch, 1.0, event.record.seconds)
        elif time.monotonic() >= self._due:
            self._due = time.monotonic() + WRITE_SECONDS
            self._write(event.epoch, event.step / event.steps, event.seconds)

    def _write(self, epoch: int, part: float, seconds: float) -> None:
        values: dict[str, Any] = {"epoch": epoch, "part": part, "seconds": seconds}
        for name, loss in (("valid", self._valid), ("best", self._best)):
            values[name] = loss if math.isfinite(loss) else None
        with contextlib.suppress(FileError):  # it may get lost, and must cost nothing
            write_whole(self._path, json.dumps(values).encode(), lasting=False)


@contextlib.contextmanager
def progress_folder(plan: Plan) -> Iterator[None]:
    """Have the folder of these files while trainings go on."""
    folder = plan.folder / FOLDER
    remove(folder)  # what a process left that was killed
    make_inside(folder)
    try:
        yield
    finally:
        remove(folder)


def progress_path(plan: Plan, label: str, seed: int) -> Path:
    """The file of a training."""
    return plan.folder / FOLDER / f"{label}-seed{seed}.json"


def reached(plan: Plan, label: str, seed: int) -> Mapping[str, Any] | None:
    """How far a training is, as its `Reporter` wrote it; None if it has not said so.

    `epoch` is the one that it is in, or has ended if the `part` of it that is done is 1; `seconds`
    is its time of training, in earlier processes too; `valid` is the loss of the epoch that ended
    last and `best` the lowest of this attempt, both None before there is one.
    """
    try:
        values = json.loads(read_regular(progress_path(plan, label, seed)))
    except (OSError, ValueError):
        return None
    return values if isinstance(values, dict) else None


def forget(plan: Plan, label: str, seed: int) -> None:
    """Remove what an earlier attempt wrote."""
    with contextlib.suppress(OSError):
        progress_path(plan, label, seed).unlink(missing_ok=True)
