"""The evaluator that really trains: a task's model around a trial's cell.

`train_trial` is what `run_study` hands to an executor, by its name:

    Call("cellwright.trials.evaluator:train_trial", {"recipe": "laptop", "threads": 1})

How long a trial trains is its fidelity and nothing else: the `epochs` of the recipe are not
looked at. The learning rate of an epoch follows from the epoch's number (`decay`, `decay_after`),
averaging and patience from the losses so far, and segments and dropout masks from the seed and
the epoch. So the first three epochs of nine are the same as all epochs of three, bit for bit,
and a trial that goes on from another's checkpoint ends where one from the beginning does.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cellwright.base.errors import shown
from cellwright.base.threads import threads_for
from cellwright.cell import Cell
from cellwright.engine.probe import dead_reason
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import (
    Recipe,
    load_recipe,
    opened,
    recipe_from_json,
    with_settings,
)
from cellwright.tasks.registry import file_hash, open_task, task_kind
from cellwright.tasks.task import Task
from cellwright.training.results import EpochDone, EpochRecord, best_of
from cellwright.training.training import Training
from cellwright.trials.checkpoints import Begin, Keeper
from cellwright.trials.outcome import OK, Outcome, epochs_begun
from cellwright.trials.trial import SEED

VALUES = ("best", "last")
"""What a trial's value can be: the loss of the epoch that validated best, or of the last."""

_FOREVER = 10**9


def train_trial(
    trial: Mapping[str, Any],
    *,
    recipe: str | Mapping[str, Any],
    overrides: Sequence[str] = (),
    value: str = "best",
    most: Mapping[str, int] | None = None,
    fingerprint: str | None = None,
    code: str | None = None,
    threads: int | None = None,
    backend: str = "auto",
    checkpoints: str | None = None,
    longest: int | None = None,
) -> dict[str, Any]:
    """Train a trial's cell for its fidelity's number of epochs, with its seed.

    Args:
        trial: as `Trial.to_json` writes it. `info["continues"]` may name an earlier trial of the
            same cell and seed; its checkpoint is used if it is there and intact. `info["settings"]`
            are settings of the recipe that this trial has otherwise, and maybe its `seed`.
        recipe: the training recipe, by its name or file, or as its JSON values. Its data is read
            once in each process.
        overrides: settings that go before those of a recipe by name, such as "model.hidden=64".
        value: "best" or "last", see `VALUES`.
        most: the most items of "train", "valid" and "test" that are used, such as words; what is
            not named is used whole (`Task.limited`).
        fingerprint: of the data that the study was begun with. Other data, on another machine
            perhaps, is an error then.
        code: the hash of the task's file that the study was begun with, if it comes from one.
            Another content is an error then.
        threads: how many to compute with, since sums may depend on it; as many as the process has
            unless said.
        backend: of the engine.
        checkpoints: a folder of this study, made if it is not there, in which trainings are kept:
            long ones from time to time, so that an attempt that is cut short is not begun anew,
            and with `longest` those that ended, for trials that go on with them. Nothing but time
            is lost if the folder is.
        longest: how many epochs the method's longest trials have; shorter ones may be gone on
            with. Without it nobody ever goes on with a trial.

    Returns:
        an outcome as JSON values, with the curves "train", "test" and "seconds" (of each epoch)
        beside the validation losses, `parameters` and `peak_memory`.
        The status is "ok", or "exploded" or "loss is nan" where the training diverged. A cell that
        cannot learn is not trained; its status is "dead" and the reason. `test` is
        of the epoch that the value is of. `epochs` and `cost`, in seconds, are what this trial
        trained itself; `begun_at` is the number of epochs that it took over from another.

    Raises:
        UserError: an argument is wrong, or the data is other data.
    """
    if value not in VALUES:
        raise RunError(f"a trial's value is one of {', '.join(VALUES)}, not {shown(value)}")
    own = dict(trial.get("info", {}).get("settings", {}))
    seed = int(own.pop(SEED, trial["seed"]))
    given = recipe_of(recipe, overrides)
    if code is not None and file_hash(given.task.kind) != code:
        raise RunError(
            f"the task's file, of {given.task.kind}, is not what the study was begun with"
        )
    task = _task(given.task.model_dump_json())
    if fingerprint is not None and task.fingerprint != fingerprint:
        raise RunError(
            f"the data of {given.task.data} is not what the study was begun with; it is now\n"
            f"{task.describe()}"
        )
    how = with_settings(given, own) if own else given
    task = _task(how.task.model_dump_json())
    cell, epochs = Cell.from_json(trial["cell"]), int(trial["fidelity"])
    reason = dead_reason(cell)
    if reason is not None:
        nothing = {"epochs": 0, "begun_at": 0}
        return Outcome(math.nan, f"dead: {reason}", measures=nothing).to_json()
    settings = how.training.model_copy(update={"epochs": _FOREVER})
    part = task.limited(most) if most else task

    def make() -> Training:
        return Training(cell, part, how.model, settings, seed, backend)

    with threads_for(threads):
        if checkpoints is None:
            training, begin = make(), Begin()
            _train(training, epochs, None)
        else:
            tables = [how.task, how.model, how.training]
            same = [*(table.model_dump() for table in tables), task.fingerprint, most, backend]
            keeper = Keeper(Path(checkpoints), {**trial, "seed": seed}, [*same, threads], longest)
            training, begin = keeper.restored(make), keeper.begin
            _train(training, epochs, keeper)
            keeper.close(training)
    return _outcome(training, value, begin).to_json()


def recipe_of(recipe: str | Mapping[str, Any], overrides: Sequence[str] = ()) -> Recipe:
    """A training recipe by name or from JSON values.

    Raises:
        RecipeError: there is none of that name, or a setting is wrong.
        RunError: the JSON values are no recipe.
    """
    if isinstance(recipe, str):
        return load_recipe(recipe, overrides)
    if overrides:
        raise RunError("settings can go before those of a recipe by name, not of JSON values")
    try:
        return opened(recipe_from_json(Recipe, dict(recipe)))
    except ValidationError as error:
        raise RunError(f"these are not the values of a training recipe: {error}") from None


@functools.lru_cache(maxsize=4)
def _task(settings: str) -> Task[Any]:
    """A task, once for all trials of this process."""
    values = json.loads(settings)
    return open_task(task_kind(values["kind"]).settings.model_validate(values))


def _train(training: Training, epochs: int, keeper: Keeper | None) -> None:
    """Go on until so many epochs are over, or the training ends itself."""
    if len(training.result().curve) >= epochs:
        return
    for event in training.run():
        if isinstance(event, EpochDone):
            if event.record.epoch >= epochs:
                return
            if keeper is not None:
                keeper.save_if_due(training)


def _outcome(training: Training, value: str, begin: Begin) -> Outcome:
    result = training.result()
    curve = result.curve
    status = OK if result.status == "running" else result.status
    losses = tuple(record.valid for record in curve)
    begun = epochs_begun(status, losses)
    chosen = curve[-1] if value == "last" and curve else best_of(curve)
    measures: dict[str, Any] = {"epochs": begun - begin.epochs, "begun_at": begin.epochs}
    if chosen is not None and chosen.figures:
        measures["figures"] = chosen.figures
    return Outcome(
        value=math.nan if chosen is None else chosen.valid,
        status=status,
        cost=max(0.0, result.seconds - begin.seconds),
        curve=losses,
        curves={
            "train": tuple(record.train for record in curve),
            "test": tuple(record.test for record in curve),
            "seconds": _differences(curve),
        },
        parameters=result.parameters,
        peak_memory=result.peak_memory,
        test=math.nan if chosen is None else chosen.test,
        measures=measures,
    )


def _differences(curve: Sequence[EpochRecord]) -> tuple[float, ...]:
    """How long each epoch took."""
    ends = [0.0, *(record.seconds for record in curve)]
    return tuple(after - before for before, after in itertools.pairwise(ends))
