"""How what a search finds is trained: the recipe that the search's own recipe names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo

from cellwright.base.bounds import KEPT
from cellwright.runs.errors import RecipeError
from cellwright.runs.recipes import Recipe, load_recipe
from cellwright.tasks.settings import TaskSettings


def _is_there(name: str, info: ValidationInfo) -> str:
    """Say so if a new recipe names a training that is not to be had, and not after the search.

    A search that was begun is still read once its training's file is gone.
    """
    if info.context != KEPT:
        load_recipe(name)
    return name


TrainingName = Annotated[str, Field(min_length=1), AfterValidator(_is_there)]
"""The recipe, by name or file, with which a recipe for a search trains."""


def training_recipe(name: str, task: TaskSettings, overrides: Sequence[str] = ()) -> Recipe:
    """The recipe of that name, which has to be for the search's task.

    Raises:
        RecipeError: there is no such recipe, something in it is wrong, or it is for another task.
    """
    recipe = load_recipe(name, overrides)
    if recipe.task.kind != task.kind:
        raise RecipeError(
            f"the search is for the task {task.kind!r}, and its training, {name}, is for "
            f"{recipe.task.kind!r}: say a recipe for the same task with training = ..."
        )
    return recipe
