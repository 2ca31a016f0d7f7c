"""Checkpoints of trials: what lets one trial go on where another ended, or was cut short.

A study has a folder with a file for each trial, named by the trial's number. A file says which
training it is of (cell, seed, settings, text); one of another training, or a damaged one, is as
good as none. Whatever cannot be read or written here costs time and nothing else, since every
training ends the same wherever it was taken up.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.base.errors import FileError
from cellwright.base.files import remove
from cellwright.runs.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from cellwright.training.snapshots import Snapshot
from cellwright.training.training import Training
from cellwright.trials.checkpoint_files import checkpoint_path

SAVE_SECONDS = 30.0
"""Between two checkpoints of one training; there is none within an epoch."""


@dataclass(frozen=True)
class Begin:
    """Where a trial began: after how many epochs of the one it continues, and what these took."""

    epochs: int = 0
    seconds: float = 0.0


class Keeper:
    """The checkpoints of one trial.

    Args:
        folder: of the study.
        trial: as JSON values.
        same: what has to be the same in two trainings, beside cell and seed; JSON values.
        longest: how many epochs the longest trials have; shorter ones may be gone on with.
    """

    def __init__(
        self, folder: Path, trial: Mapping[str, Any], same: Sequence[Any], longest: int | None
    ) -> None:
        self._folder, self._fidelity = folder, int(trial["fidelity"])
        self._path = checkpoint_path(folder, int(trial["number"]))
        continues = trial.get("info", {}).get("continues")
        self._before = None if continues is None else checkpoint_path(folder, int(continues))
        self._needed = longest is not None and self._fidelity < longest
        what = json.dumps([trial["cell"], trial["seed"], *same], sort_keys=True)
        self._training = hashlib.sha256(what.encode()).hexdigest()
        self._saved = time.monotonic()
        self.begin = Begin()
        """Where the trial began; known after `restored`."""

    def restored(self, make: Callable[[], Training]) -> Training:
        """A training that stands as far on as a checkpoint allows; `make` makes a fresh one."""
        for path in (self._path, self._before):
            checkpoint = self._load(path)
            if checkpoint is None:
                continue
            training = make()
            with contextlib.suppress(
                LookupError, TypeError, ValueError, AttributeError, RuntimeError
            ):
                state = checkpoint.state["training"]
                training.restore(Snapshot(dict(checkpoint.tensors), state))
                if path == self._path:
                    self.begin = Begin(**checkpoint.state["begin"])
                else:
                    self.begin = Begin(len(state["curve"]), state["seconds"])
                return training
        return make()

    def save_if_due(self, training: Training) -> None:
        """Keep a long training from time to time."""
        if time.monotonic() - self._saved >= SAVE_SECONDS:
            self._save(training)

    def close(self, training: Training) -> None:
        """Keep the training if another trial may go on with it; remove what nobody needs now."""
        if self._needed and training.result().status in ("running", "ok"):
            self._save(training)
        else:
            remove(self._path)
        if self._before is not None:
            remove(self._before)

    def _load(self, path: Path | None) -> Checkpoint | None:
        if path is None or not path.exists():
            return None
        try:
            found = load_checkpoint(path)
            fits = found.state["of"] == self._training
            return (
                found if fits and len(found.state["training"]["curve"]) <= self._fidelity else None
            )
        except (FileError, KeyError, TypeError):
            return None

    def _save(self, training: Training) -> None:
        tensors, state = training.snapshot()
        begin = {"epochs": self.begin.epochs, "seconds": self.begin.seconds}
        kept = {"of": self._training, "begin": begin, "training": state}
        with contextlib.suppress(FileError, OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            save_checkpoint(self._path, tensors, kept)
        self._saved = time.monotonic()
