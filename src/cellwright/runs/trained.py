"""Trained models: the best weights of a run, and what they are worth on data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.base.errors import UserError
from cellwright.base.progress import Progress
from cellwright.models.cell_model import CellModel
from cellwright.runs.errors import RunError
from cellwright.runs.folder import BEST, RUNS, RunFolder
from cellwright.runs.kept import restored_task
from cellwright.runs.lost_files import no_weights
from cellwright.runs.recipes import opened
from cellwright.runs.run import task_of
from cellwright.tasks.registry import open_task
from cellwright.tasks.task import Part, Score, Task


@dataclass(frozen=True)
class Trained:
    """A run's model with its best weights, and the task that it was trained on.

    Where the data is not at hand, `task` is what the run has kept of it: enough to read other data
    as the model does. `absent` says why then.
    """

    folder: RunFolder
    model: CellModel[Any]
    task: Task[Any]
    epoch: int
    absent: str | None = None

    def check_data(self) -> None:
        """Say so if the run's own data is asked for, and is not at hand.

        Raises:
            RunError: it is not.
        """
        if self.absent is not None:
            why, *details = self.absent.splitlines()
            line = (
                f"{self.folder.path} can be used without its data, but not measured on it: {why}; "
                "--data (in Python data=) says where it is now, and for language models may name "
                "any text"
            )
            raise RunError("\n".join([line, *details]))

    def score(self, part: Part = "valid") -> Score:
        """What the model is worth on a part of the data, measured as training does after each
        epoch."""
        self.check_data()
        size = self.folder.info.recipe.training.evaluation_batch
        return self.task.measure(self.model, self.task.ordered(part, size))


def load_trained(
    path: Path | str,
    *,
    runs: Path = RUNS,
    data: str | None = None,
    alone: bool = False,
    progress: Progress | None = None,
) -> Trained:
    """A run's model with the weights of its best epoch.

    The folder is enough, if the task keeps what it needs (`kept.py`).

    Args:
        path: the run's folder, or its name in `runs`.
        runs: where runs are.
        data: where the data of the run may be found too, if it has moved.
        alone: do not look for the data, if the folder is enough.
        progress: called while data is read for the first time.

    Raises:
        RunError: it is not a run, or has no weights yet; or the run has kept nothing of its data,
            and that is not what it was: the numbers of the words in its weights would be others.
    """
    folder = RunFolder.open(path, runs)
    checkpoint, cell, info = folder.best(), folder.cell(), folder.info
    if checkpoint is None:
        raise no_weights(folder)
    if checkpoint.state.get("run", info.id) != info.id:
        raise RunError(f"{folder.path / BEST} belongs to another run")
    task, absent = _own_task(folder, data, alone, progress)
    model = task.model(cell, opened(info.recipe).model, backend=info.backend)
    try:
        model.load_state_dict(dict(checkpoint.tensors))
        epoch = int(checkpoint.state["epoch"])
    except (KeyError, RuntimeError) as error:
        first = str(error).splitlines()[0]
        raise RunError(f"{folder.path / BEST} does not fit the run: {first}") from None
    return Trained(folder, model, task, epoch, absent)


def _own_task(
    folder: RunFolder, data: str | None, alone: bool, progress: Progress | None
) -> tuple[Task[Any], str | None]:
    """The run's task, with its data where it was, or at `data`; else without it, and why."""
    recipe = folder.info.recipe
    if alone and (kept := restored_task(folder)) is not None:
        return kept, "it was not looked for"
    if data is not None:
        there = open_task(opened(recipe).on(data).task, progress)
        if there.fingerprint == folder.info.data.fingerprint:
            return there, None
    try:
        return task_of(folder, recipe, progress), None
    except UserError as error:
        kept = restored_task(folder)
        if kept is None:
            raise
        return kept, str(error)
