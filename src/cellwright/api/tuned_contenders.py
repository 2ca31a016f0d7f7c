"""Contenders of a comparison, each tuned first with the same number of trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cellwright.api.studying import Where
from cellwright.api.tuning import tuned
from cellwright.api.watching import Watcher
from cellwright.base.amounts import duration
from cellwright.compare.contenders import Contender, told_apart
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import Recipe
from cellwright.search.tuning.recipes import TuneRecipe

STORE, FOLDER = "tuning.db", "tuning"
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
    if not folder.exists():
        folder.mkdir(parents=True)
    found = []
    for one in told_apart(contenders):
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
            raise RunError(f"no trial of {one.label} has a value, so it cannot be compared: {why}")
        cost = f"tuned by {best.ledger.trials:,} trials in {duration(best.ledger.seconds)}"
        source = f"{one.source}; {cost}" if one.source else cost
        found.append(replace(one, source=source, recipe=best.best_recipe))
    return found, recipe.child_recipe()
