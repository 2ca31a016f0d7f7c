"""What people hand to the front door, as the rest of the system takes it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cellwright.base.errors import UserError, shown
from cellwright.base.plugins import place_of
from cellwright.cell import Cell
from cellwright.cell.named import named_cell
from cellwright.runs.recipe_text import as_toml
from cellwright.runs.recipes import BaseRecipe, Recipe, load_recipe
from cellwright.runs.suggestion import FIRST, suggested_recipe

Settings = Mapping[str, Any] | Sequence[str]
"""`{"model.hidden": 64}`, or as a command takes them, `["model.hidden=64"]`."""

TaskSource = str | Mapping[str, Any]
"""Data by name or folder, or the table `[task]` of a recipe."""


def as_cell(cell: Cell | str | Path) -> Cell:
    """A cell, by its name in the zoo, or from a file in any of the formats.

    >>> as_cell("gru").name
    'gru'

    Raises:
        UserError: there is no such cell, or the file has none or several.
    """
    if isinstance(cell, Cell):
        return cell
    if not isinstance(cell, str | Path):
        raise UserError(
            f"a cell is a Cell, a name of the zoo or a file, not a {type(cell).__name__}"
        )
    return named_cell(cell)


def as_size(parameters: int | Cell | str | Path | None) -> int | Cell | None:
    """How large models may be: so many parameters, or as a cell's model is.

    Raises:
        UserError: it is neither.
    """
    if isinstance(parameters, bool) or (isinstance(parameters, int) and parameters < 1):
        raise UserError(f"parameters are a number from 1 on, or a cell, not {shown(parameters)}")
    if isinstance(parameters, str) and re.fullmatch(r"[0-9_]{1,15}", parameters):
        return as_size(int(parameters.replace("_", "") or 0))
    return parameters if parameters is None or isinstance(parameters, int) else as_cell(parameters)


def overrides(settings: Settings | None, **more: Any) -> list[str]:
    """Settings as `load_recipe` takes them; `more` are those that have a value.

    >>> overrides({"model.hidden": 64, "training.clip": None}, epochs=3)
    ['model.hidden=64', 'training.clip="none"', 'training.epochs=3']
    """
    if isinstance(settings, str):
        raise UserError(f"settings are a dictionary or a list, not the word {shown(settings)}")
    if isinstance(settings, Mapping):
        found = [f"{key}={_written(value)}" for key, value in settings.items()]
    else:
        found = list(settings or ())
    named = {"epochs": "training.epochs"}
    found += [f"{named[key]}={_written(value)}" for key, value in more.items() if value is not None]
    return found


def data_and_task(task: TaskSource | None) -> tuple[str | None, list[str]]:
    """The data that a task names, and the settings that it says beside that.

    >>> data_and_task("ptb"), data_and_task({"kind": "language", "bptt": 20})
    (('ptb', []), (None, ['task.kind="language"', 'task.bptt=20']))
    """
    if task is None or isinstance(task, str):
        return task, []
    if not isinstance(task, Mapping):
        raise UserError(f"a task is data by name, or a dictionary, not {shown(task)}")
    rest = [f"task.{key}={_written(value)}" for key, value in task.items() if key != "data"]
    return task.get("data"), rest


def training_recipe(
    recipe: str | Path | Recipe | None, data: str | None, settings: Sequence[str], progress: Any
) -> tuple[Recipe, bool]:
    """The recipe that was named, or else one for this much data; and whether it was suggested."""
    if isinstance(recipe, BaseRecipe):
        if settings:
            raise UserError("settings go before those of a recipe by name; this one is complete")
        return recipe, False
    if recipe is not None:
        return load_recipe(recipe, settings), False
    if any(setting.startswith("task.kind=") for setting in settings):
        return load_recipe(FIRST, settings), True
    return suggested_recipe(data, settings, progress), True


def _written(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, type):  # a method or a task of one's own, as `method.kind`
        value = place_of(value)
    if value is not None and not isinstance(value, str | int | float | list | tuple | Path | dict):
        raise UserError(f"a setting is a number, a word or a list, not {shown(value)}")
    return as_toml(value)
