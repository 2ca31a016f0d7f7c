"""Runs that are ready: a new one from a cell and a recipe, or an old one from its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from cellwright.base.progress import Progress
from cellwright.base.seeds import checked_seed
from cellwright.cell import Cell
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RUNS, RunFolder
from cellwright.runs.info import describe
from cellwright.runs.kept import files_to_keep, hashes, keep_now
from cellwright.runs.lost_files import check_complete
from cellwright.runs.recipes import BaseRecipe, Recipe, opened
from cellwright.runs.runner import train
from cellwright.runs.work_folder import WorkFolder
from cellwright.tasks.registry import open_task
from cellwright.tasks.task import Task
from cellwright.training.results import Result
from cellwright.training.training import Training


@dataclass(frozen=True)
class Run:
    """A run that is ready for `train(run.folder, run.training)`."""

    folder: RunFolder
    training: Training
    task: Task[Any]


def fresh_run(
    cell: Cell,
    recipe: Recipe,
    seed: int = 0,
    *,
    data: str | None = None,
    data_folder: Path | None = None,
    runs: Path = RUNS,
    path: Path | None = None,
    backend: str = "auto",
    progress: Progress | None = None,
) -> Run:
    """Make a run's folder, after everything that could be wrong was looked at.

    Args:
        cell: the cell to train.
        recipe: how to train it.
        seed: decides everything that is drawn.
        data: data by name or folder, in place of the recipe's.
        data_folder: where data of that name is, if not in the usual places.
        runs: where the folder is made, under a name that says what it is.
        path: the folder itself, instead.
        backend: of the engine.
        progress: called while data is read for the first time.
    """
    if any(node.op == "mix" for node in cell.nodes):
        raise RunError(
            f"the cell {cell.name or cell.id} is a supernet: its mix nodes take their weights from "
            "a search; derive a cell from it and train that"
        )
    seed = checked_seed(seed)
    recipe = opened(recipe).on(data, None if data_folder is None else str(data_folder))
    task = open_task(recipe.task, progress)
    training = Training(cell, task, recipe.model, recipe.training, seed, backend)
    kept = files_to_keep(task, recipe.task)
    info = describe(cell, task, recipe, seed, backend, torch.get_num_threads(), hashes(kept))
    return Run(RunFolder.create(info, cell, kept, runs=runs, path=path), training, task)


def reopen(path: Path | str, *, runs: Path = RUNS, progress: Progress | None = None) -> Run:
    """A run from its folder, ready to go on.

    Raises:
        RunError: it is not a run, has ended, lacks a file, or its data is not what it was.
    """
    folder = RunFolder.open(path, runs)
    folder.refuse_ended()
    check_complete(folder)
    cell, info = folder.cell(), folder.info
    recipe = opened(info.recipe)
    task = task_of(folder, recipe, progress)
    training = Training(cell, task, recipe.model, recipe.training, info.seed, info.backend)
    keep_now(folder, task)
    return Run(folder, training, task)


def resume(
    path: Path | str, *, runs: Path = RUNS, progress: Progress | None = None, **how: Any
) -> Result:
    """Go on with a run, to its end; `how` is passed on to `train`."""
    run = reopen(path, runs=runs, progress=progress)
    return train(run.folder, run.training, **how)


def task_of(
    folder: WorkFolder[Any], recipe: BaseRecipe, progress: Progress | None = None
) -> Task[Any]:
    """The task that a run, or a search, was made with.

    Raises:
        DataError: its data is not there.
        RunError: it is other data now, which the weights may not fit, or is read in another way.
    """
    about = folder.info.data
    task = open_task(opened(recipe).task, progress)
    if task.fingerprint != about.fingerprint:
        raise RunError(
            f"{folder.path} was trained on other data than {recipe.task.data} has now; "
            f"it was\n{about.description}\nand is\n{task.describe()}"
        )
    now = hashes(files_to_keep(task, recipe.task))
    for name, digest in about.kept.items():
        if now.get(name, digest) != digest:
            raise RunError(
                f"{folder.path} has kept {name}, which would be another now: what its model was "
                "trained with has changed"
            )
    return task
