"""From a recipe for tuning and a seed to a study that runs."""

from __future__ import annotations

from cellwright.base.progress import Progress
from cellwright.search.blackbox.methods import method
from cellwright.search.studies.start import Prepared, evaluator, study_name
from cellwright.search.tuning.recipes import TuneRecipe


def prepare_tuning(
    recipe: TuneRecipe,
    seed: int = 0,
    *,
    name: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Prepared:
    """Make the method and the evaluator that a recipe describes.

    Args:
        recipe: of the tuning.
        seed: decides everything that is drawn.
        name: of the study; recipe and seed unless said.
        threads: that a trial computes with, in place of the recipe's.
        progress: called while data is read for the first time.

    Raises:
        UserError: a setting of the method cannot be, a package is missing, or the data is not
            there.
    """
    called = study_name(recipe, seed) if name is None else name
    settings = {**recipe.method.settings, "epochs": recipe.epochs}
    chosen = method(recipe.method.kind, recipe.tune.space(), seed=seed, **settings)
    call, task = evaluator(recipe, called, threads, progress)
    return Prepared(recipe, called, seed, chosen, call, task)
