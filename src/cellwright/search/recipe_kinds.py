"""Recipes of searches, whichever kind they are of."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from cellwright.base.errors import did_you_mean, shown
from cellwright.runs.errors import RecipeError


def is_study(wanted: str | Path) -> bool:
    """Whether a recipe, by name or file, is one for a study and not for a one-shot search.

    A file is what it extends; one that extends nothing is a study if it has a `method`.

    Raises:
        RecipeError: there is none of that name.
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
    from cellwright.runs.recipes import recipe_names
    from cellwright.search.one_shot.recipes import search_recipe_names
    from cellwright.search.studies.recipes import study_recipe_names

    one_shot, studies = search_recipe_names(), study_recipe_names()
    if wanted in one_shot or wanted in studies:
        return wanted in studies
    path = Path(wanted).expanduser() if beside is None else beside / wanted
    table = _table(path)
    if "extends" in table and path not in within:
        return _is_study(str(table["extends"]), path.parent, (*within, path))
    if table:
        return "method" in table
    if wanted in recipe_names():  # what it is instead is told by who reads it
        return False
    if beside is None and path.suffix != ".toml":
        known = sorted([*one_shot, *studies])
        hint = did_you_mean(wanted, known) or f"; there are {', '.join(known)}"
        raise RecipeError(
            f"unknown recipe {shown(wanted)}{hint} (and there is no file of that name)"
        )
    return False


def _table(path: Path) -> dict[str, Any]:
    """What a file says; nothing if it says nothing that can be read, which its reader will tell."""
    from cellwright.runs.recipe_files import read_table

    with contextlib.suppress(OSError, ValueError, RecipeError):
        if path.is_file():
            return read_table(path, str(path))
    return {}
