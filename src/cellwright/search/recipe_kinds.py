"""Recipes of searches, whichever kind they are of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cellwright.base.errors import did_you_mean, shown
from cellwright.runs.errors import RecipeError
from cellwright.tasks.registry import kind_of_data

AUTO = "auto"
"""The recipe for those who want a good cell. Of tasks other than language it is `auto-TASK`."""


def for_data(wanted: str | Path, data: str | None) -> str | Path:
    """The recipe that a name stands for on some data: of `auto` that of the data's task."""
    kind = kind_of_data(data) if wanted == AUTO else None
    return wanted if kind is None or kind.name == "language" else f"{AUTO}-{kind.name}"


def is_study(wanted: str | Path) -> bool:
    """Whether a recipe, by name or file, is one for a study and not for a one-shot search.

    A file is what it extends; one that extends nothing is a study if it has a `method`.

    Raises:
        RecipeError: there is none of that name, it is for a training, or its file is no TOML.
    """
    return _is_study(str(wanted), None, ())


def described() -> list[tuple[str, str, str]]:
    """Name, data and purpose of every recipe that comes with cellwright."""
    from cellwright.search.one_shot.recipes import load_search_recipe, search_recipe_names
    from cellwright.search.studies.recipes import load_study_recipe, study_recipe_names

    recipes: list[Any] = [load_search_recipe(name) for name in search_recipe_names()]
    recipes += [load_study_recipe(name) for name in study_recipe_names()]
    return [(recipe.name, recipe.task.data, recipe.description) for recipe in recipes]


def _is_study(wanted: str, beside: Path | None, within: tuple[Path, ...]) -> bool:
    from cellwright.runs.recipe_files import (
        NoRecipeError,
        find_recipe,
        names_in,
        read_table,
        taken_from,
    )
    from cellwright.runs.recipes import recipe_names
    from cellwright.search.one_shot.recipes import SearchRecipe, search_recipe_names
    from cellwright.search.studies.recipes import study_recipe_names

    one_shot, studies = search_recipe_names(), study_recipe_names()
    if wanted in one_shot or wanted in studies:
        return wanted in studies
    try:
        path = find_recipe(wanted, beside, SearchRecipe.folder)
    except NoRecipeError:
        others = (*recipe_names(), *names_in("tuning"), *names_in("grids"))
        if wanted in others:  # of another kind, and so it is said
            raise
        known = sorted([*one_shot, *studies])
        hint = did_you_mean(wanted, known) or f"; there are {', '.join(known)}"
        raise NoRecipeError(
            f"unknown recipe {shown(wanted)}{hint} (and there is no file of that name)"
        ) from None
    assert path is not None  # those that come with cellwright were found above
    table = read_table(path, str(path))
    parent = taken_from(table, str(path))
    if path in within:
        raise RecipeError(f"{path} extends itself")
    if parent is not None:
        try:
            return _is_study(parent, path.parent, (*within, path))
        except NoRecipeError as error:
            raise RecipeError(f"{path}: extends: {error}") from None
    return "method" in table
