"""How what a search finds is trained: the recipe that the search's own recipe names."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.runs.errors import RecipeError
from cellwright.runs.recipes import Recipe, load_recipe
from cellwright.tasks.settings import TaskSettings


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
