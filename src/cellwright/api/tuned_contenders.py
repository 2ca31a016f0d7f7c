"""Contenders of a comparison, each tuned first with the same number of trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellwright.api.studying import Where
from cellwright.api.tuning import tuned
from cellwright.api.watching import Watcher
from cellwright.base.amounts import duration
from cellwright.base.errors import refused
from cellwright.compare.contenders import Contender, told_apart
from cellwright.compare.plan import check_place
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import Recipe
from cellwright.search.studies.recipes import LimitSettings, RetrySettings
from cellwright.search.tuning.recipes import TuneRecipe
from cellwright.trials.executors import Limits
from cellwright.trials.retries import Retries
from cellwright.trials.store import find_study, has_study, open_store

STORE, FOLDER = BESIDE = "tuning.db", "tuning"
"""What a comparison's folder has of it: the store, and what each study found."""


def tuned_contenders(
    contenders: Sequence[Contender],
    recipe: TuneRecipe,
    trials: int,
    folder: Path,
    where: Where,
    told: Watcher,
) -> tuple[list[Contender], Recipe]:
    """The contenders, each with the best settings of so many trials; and the recipe they vary.

    What has been tuned before is not tuned again.

    Args:
        contenders: the cells.
        recipe: what is tuned.
        trials: of each cell.
        folder: of the comparison.
        where: trials run.
        told: who is told how it goes.

    Raises:
        RunError: no trial of a cell has a value.
    """
    if recipe.tune.task:
        raise RunError(
            "cells are compared on the same task, so nothing of it can vary: leave out tune.task"
        )
    check_place(folder, BESIDE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused("make", folder, error) from None
    found = []
    cells = told_apart(contenders)
    _check_trials(folder, [one.label for one in cells], trials)
    for one in cells:
        told.note(f"tuning {one.label}")
        own = recipe.model_copy(update={"tune": recipe.tune.with_cells((one.cell,))})
        best = tuned(
            own,
            name=one.label,
            store=str(folder / STORE),
            out=folder / FOLDER,
            trials=trials,
            where=where,
            told=told,
        )
        if best.best_recipe is None:
            why = best.failures[0] if best.failures else best.status
            raise RunError(
                f"no trial of {one.label} has a value, so it cannot be compared; once that is put "
                f"right, compare in another folder: {why}"
            )
        cost = f"tuned by {best.ledger.trials:,} trials in {duration(best.ledger.seconds)}"
        source = f"{one.source}; {cost}" if one.source else cost
        found.append(replace(one, source=source, recipe=best.best_recipe))
    return found, recipe.child_recipe()


def with_limits(recipe: TuneRecipe, limits: Limits, retries: Retries) -> TuneRecipe:
    """The recipe with the limits of a comparison, where these are said."""
    said: dict[str, Any] = {}
    if limits != Limits():
        memory = None if limits.memory is None else limits.memory / 1e9
        said["limits"] = LimitSettings(seconds=limits.seconds, gigabytes=memory)
    if retries != Retries():
        said["retries"] = RetrySettings(failures=retries.failures, losses=retries.losses)
    return recipe.model_copy(update=said)


def _check_trials(folder: Path, labels: Sequence[str], trials: int) -> None:
    """Say so if cells were tuned with another number of trials: others may be best then, and what
    was trained with the best of fewer would not belong beside them."""
    if not (folder / STORE).exists():
        return
    with open_store(folder / STORE) as store:
        for label in labels:
            before = find_study(store, label).target if has_study(store, label) else trials
            if before != trials:
                raise RunError(
                    f"{folder} has cells that were tuned with {before} trials each, not {trials}; "
                    "choose another folder with -o"
                )
