"""Where recipes are: those that come with cellwright, by kind and name, and files.

| folder | recipes for | used by |
|---|---|---|
| `training` | a training | `cellwright train CELL --recipe NAME` |
| `search` | a one-shot search | `cellwright search NAME` |
| `grids` | a whole experiment | `cellwright grid NAME` |
| `tuning` | a study over settings | `cellwright tune NAME` |
| `studies` | a study over cells | `cellwright search NAME` |

A name is that of one recipe, of one kind.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.base.errors import did_you_mean, reason, shown
from cellwright.base.plugins import placed_from
from cellwright.base.regular_files import open_regular
from cellwright.cell.zoo import zoo
from cellwright.runs.errors import RecipeError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

MOST_BYTES = 2**20
"""The largest file that is read as a recipe."""

MOST_DEPTH = 20
"""How many tables and lists may be within each other, far more than any recipe has."""


@dataclass(frozen=True)
class RecipeKind:
    """What recipes of a folder are for.

    Args:
        noun: what they decide.
        command: how they are used.
        marks: tables that only such recipes have; of two kinds with the same one the first counts.
    """

    noun: str
    command: str
    marks: tuple[str, ...]


KINDS = {
    "training": RecipeKind("a training", "cellwright train CELL --recipe", ("training",)),
    "search": RecipeKind("a one-shot search", "cellwright search", ("search",)),
    "tuning": RecipeKind("tuning", "cellwright tune", ("tune",)),
    "grids": RecipeKind("a grid", "cellwright grid", ("stages",)),
    "studies": RecipeKind("a study", "cellwright search", ("method", "space")),
}
"""The kinds of recipes, by their folder."""


class NoRecipeError(RecipeError):
    """There is no recipe of a name."""


def names_in(folder: str) -> list[str]:
    """The recipes of a kind that come with cellwright."""
    return list(_names_in(folder))


@cache
def _names_in(folder: str) -> tuple[str, ...]:
    files = _packaged(folder).iterdir()
    return tuple(sorted(file.name[:-5] for file in files if file.name.endswith(".toml")))


def find_recipe(wanted: str, beside: Path | None, folder: str) -> Path | None:
    """The file of a recipe; None for a packaged one.

    Args:
        wanted: a name or a path.
        beside: the folder that a path starts from; the working directory unless said.
        folder: the kind of the recipe.

    Raises:
        NoRecipeError: there is none of that name, or one of another kind.
    """
    packaged = names_in(folder)
    if wanted in packaged:
        return None
    if "\0" in wanted:
        raise RecipeError(f"{wanted!r} is not a file name")
    path = Path(wanted).expanduser()
    path = path if beside is None else beside / path
    if path.suffix == ".toml" or len(Path(wanted).parts) > 1 or _is_file(path):
        return Path(os.path.realpath(path))  # `resolve` raises where links go in circles
    hint = did_you_mean(wanted, packaged) or f"; there are {', '.join(packaged)}"
    for other in KINDS:
        if other != folder and wanted in names_in(other):
            raise NoRecipeError(_of_another_kind(repr(wanted), wanted, other, folder) + hint)
    raise NoRecipeError(f"unknown recipe {shown(wanted)}{hint} (and there is no file of that name)")


def check_kind(tables: Mapping[str, Any], folder: str, where: str, wanted: str) -> None:
    """Say so if these are the tables of a recipe of another kind.

    Args:
        tables: of the recipe, and of those that it extends.
        folder: the kind that it should be of.
        where: how to call its file.
        wanted: what the user called it.

    Raises:
        RecipeError: they are.
    """
    found = next((kind for kind in KINDS if _has_a_mark(tables, kind)), folder)
    if found != folder:
        raise RecipeError(_of_another_kind(where, wanted, found, folder))


def read_packaged(name: str, folder: str) -> dict[str, Any]:
    """The tables of a recipe that comes with cellwright."""
    return deepcopy(_packaged_table(name, folder))


@cache  # what is checked with many settings, as tuning does, is read many times
def _packaged_table(name: str, folder: str) -> dict[str, Any]:
    return read_table(_packaged(folder) / f"{name}.toml", f"recipe {name!r}")


def read_table(path: Path | Traversable, where: str) -> dict[str, Any]:
    """The tables of a recipe's file, before anything in them is looked at."""
    try:
        with open_regular(path) if isinstance(path, Path) else path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise NoRecipeError(f"there is no recipe {where}") from None
    except OSError as error:
        raise RecipeError(f"cannot read {where}: {reason(error)}") from None
    if len(data) > MOST_BYTES:
        raise RecipeError(f"{where}: larger than {MOST_BYTES:,} bytes, which no recipe is")
    try:
        tables = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise RecipeError(f"{where}, line {line}: not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{where} is not TOML: {error}") from None
    except RecursionError:
        raise RecipeError(_too_deep(where)) from None
    except ValueError:  # Python reads no integer of more digits than it would write
        raise RecipeError(f"{where}: a number has thousands of digits") from None
    if _is_too_deep(tables):
        raise RecipeError(_too_deep(where))
    return tables


def taken_from(table: Mapping[str, Any], where: str) -> str | None:
    """The recipe that a recipe extends, if it extends one."""
    parent = table.get("extends")
    if parent is not None and not isinstance(parent, str):
        raise RecipeError(f"{where}: extends should name a recipe, not {shown(parent)}")
    return parent


def _is_too_deep(value: Any) -> bool:
    """Whether tables and lists are within each other more often than any recipe has it."""
    layer = [value]
    for _ in range(MOST_DEPTH + 1):
        inside: list[Any] = []
        for one in layer:
            inside += one.values() if isinstance(one, dict) else one
        layer = [one for one in inside if isinstance(one, dict | list)]
        if not layer:
            return False
    return True


def _too_deep(where: str) -> str:
    return f"{where}: more than {MOST_DEPTH} tables or lists within each other, which no recipe has"


def override(text: str) -> dict[str, Any]:
    """A setting as the nested tables that a file would say it with.

    >>> override("training.optimizer=adam")
    {'training': {'optimizer': 'adam'}}
    """
    key, equals, written = text.partition("=")
    names = [name.strip() for name in key.split(".")]
    if not equals or not all(names):
        raise RecipeError(f"a setting looks like training.epochs=3, not {shown(text)}")
    if len(names) > MOST_DEPTH:
        raise RecipeError(
            f"the setting {shown(text)} has {len(names):,} parts; one has two, as training.epochs=3"
        )
    written = written.strip()
    try:
        parsed = tomllib.loads(f"value = {written}")
        value: Any = parsed["value"] if len(parsed) == 1 else written
    except (ValueError, RecursionError):  # a word, or what no setting is
        value = written
    if _is_too_deep({"value": value}):
        value = written
    for name in reversed(names):
        value = {name: value}
    assert isinstance(value, dict)
    return value


def with_places(table: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """Tables in which a `kind` that names a file of code does so by a path that holds everywhere,
    and so does whatever else names a file: a `training`, `layer_cells` of a model, the `cells` that
    are tuned, and recipes and cells of a grid's stages.

    >>> with_places({"method": {"kind": "/home/me/mine.py:Mine"}, "trials": 3})
    {'method': {'kind': '/home/me/mine.py:Mine'}, 'trials': 3}

    Args:
        table: of a recipe's file, or of a setting.
        folder: of the file.
    """
    found = dict(table)
    for key, value in table.items():
        if isinstance(value, dict) and isinstance(value.get("kind"), str):
            found[key] = {**value, "kind": placed_from(value["kind"], folder)}
    where = folder or Path()
    if isinstance(training := table.get("training"), str):
        found["training"] = _placed_recipe(training, where)
    for key, cells in (("model", "layer_cells"), ("tune", "cells")):
        inside = found.get(key)
        if isinstance(inside, dict) and isinstance(said := inside.get(cells), list):
            placed = [_placed_cell(each, where) for each in said]
            found[key] = {**inside, cells: placed}
    if isinstance(stages := table.get("stages"), dict):
        found["stages"] = {name: _placed_stage(each, where) for name, each in stages.items()}
    return found


def _placed_stage(stage: Any, folder: Path) -> Any:
    """A stage of a grid."""
    if not isinstance(stage, dict):
        return stage
    found = dict(stage)
    if isinstance(recipe := stage.get("recipe"), str):
        found["recipe"] = _placed_recipe(recipe, folder)
    if isinstance(cells := stage.get("cells"), list):
        found["cells"] = [_placed_cell(each, folder) for each in cells]
    settings = stage.get("settings")
    if isinstance(settings, dict) and isinstance(settings.get("training"), str):
        training = _placed_recipe(settings["training"], folder)
        found["settings"] = {**settings, "training": training}
    return found


def _placed_recipe(said: str, folder: Path) -> str:
    """The path of a recipe's file; names of those that come along, and others, as they are."""
    if any(said in names_in(kind) for kind in KINDS):
        return said
    path = folder / said
    return os.path.realpath(path) if _is_file(path) else said


def _placed_cell(said: Any, folder: Path) -> Any:
    """The path of a cell's file; names of the zoo, and what is neither, as they are."""
    if not isinstance(said, str) or said in zoo:
        return said
    path = folder / said
    return os.path.realpath(path) if _is_file(path) else said


def _packaged(folder: str) -> Traversable:
    return resources.files("cellwright").joinpath("recipes", folder)


def _has_a_mark(tables: Mapping[str, Any], folder: str) -> bool:
    # A search names its training by a word; only a recipe for trainings has it as a table.
    return any(isinstance(tables.get(mark), dict) for mark in KINDS[folder].marks)


def _of_another_kind(where: str, wanted: str, found: str, folder: str) -> str:
    """What to say of a recipe that is not of the kind that was asked for."""
    it, asked = KINDS[found], KINDS[folder]
    return f"{where} is a recipe for {it.noun} ({it.command} {wanted}), not for {asked.noun}"


def _is_file(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):  # a name that no file can have
        return path.is_file()
    return False
