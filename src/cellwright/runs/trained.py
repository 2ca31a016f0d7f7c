"""Trained models: the best weights of a run, and what they are worth on data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.base.progress import Progress
from cellwright.models.cell_model import CellModel
from cellwright.runs.errors import RunError
from cellwright.runs.folder import BEST, RUNS, RunFolder
from cellwright.runs.lost_files import no_weights
from cellwright.runs.recipes import opened
from cellwright.runs.run import task_of
from cellwright.tasks.registry import open_task
from cellwright.tasks.task import Part, Score, Task


@dataclass(frozen=True)
class Trained:
    """A run's model with its best weights, and the task that it was trained on."""

    folder: RunFolder
    model: CellModel[Any]
    task: Task[Any]
    epoch: int

    def score(self, part: Part = "valid") -> Score:
        """What the model is worth on a part of the data, measured as training does after each
        epoch."""
        size = self.folder.info.recipe.training.evaluation_batch
        return self.task.measure(self.model, self.task.ordered(part, size))


def load_trained(
    path: Path | str,
    *,
    runs: Path = RUNS,
    data: str | None = None,
    progress: Progress | None = None,
) -> Trained:
    """A run's model with the weights of its best epoch.

    Args:
        path: the run's folder, or its name in `runs`.
        runs: where runs are.
        data: where the data of the run may be found too, if it has moved.
        progress: called while data is read for the first time.

    Raises:
        RunError: it is not a run, has no weights yet, or its data is not what it was: the numbers
            of the words in its weights would be others.
    """
    folder = RunFolder.open(path, runs)
    checkpoint, cell, info = folder.best(), folder.cell(), folder.info
    if checkpoint is None:
        raise no_weights(folder)
    if checkpoint.state.get("run", info.id) != info.id:
        raise RunError(f"{folder.path / BEST} belongs to another run")
    task = _own_task(folder, data, progress)
    model = task.model(cell, opened(info.recipe).model, backend=info.backend)
    try:
        model.load_state_dict(dict(checkpoint.tensors))
        epoch = int(checkpoint.state["epoch"])
    except (KeyError, RuntimeError) as error:
        first = str(error).splitlines()[0]
        raise RunError(f"{folder.path / BEST} does not fit the run: {first}") from None
    return Trained(folder, model, task, epoch)


def _own_task(folder: RunFolder, data: str | None, progress: Progress | None) -> Task[Any]:
    """The run's task, with its data where it was, or at `data`."""
    recipe = folder.info.recipe
    if data is not None:
        there = open_task(opened(recipe).on(data).task, progress)
        if there.fingerprint == folder.info.data.fingerprint:
            return there
    return task_of(folder, recipe, progress)
