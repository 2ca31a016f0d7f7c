"""Recipes: everything that decides a training but the cell and the seed, as a TOML file.

A recipe names the task, the model's settings and the training's settings. There are other kinds of
recipes for other work (`BaseRecipe`), which all are read in the same way; a name is that of one
recipe, of one kind. `extends` names another recipe, packaged or a file beside it, whose values hold
where this one says nothing:

    description = "My cell search's last step, shorter"
    extends = "darts-ptb-training"

    [training]
    epochs = 100
    average_after = "none"

"none" stands for "no value" in tables, since TOML has none. A folder of text that is beside the
recipe's file is found from everywhere, and so is a file of code that a `kind` names
(`mine.py:Mine`).
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_args, overload

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, ValidationError, create_model
from typing_extensions import Self

from cellwright.base.bounds import KEPT
from cellwright.base.errors import shown
from cellwright.base.paths import from_anywhere
from cellwright.base.validation import first_problem
from cellwright.data import KNOWN
from cellwright.data.registry import TAGGED
from cellwright.runs.errors import RecipeError, RunError
from cellwright.runs.recipe_errors import explain
from cellwright.runs.recipe_files import (
    NoRecipeError,
    check_kind,
    find_recipe,
    names_in,
    override,
    read_packaged,
    read_table,
    taken_from,
    with_places,
)
from cellwright.runs.recipe_text import NONE
from cellwright.runs.recipe_text import recipe_to_toml as recipe_to_toml
from cellwright.tasks.registry import TaskError, TaskKind, is_built_in, placed, task_kind
from cellwright.tasks.settings import TaskSettings
from cellwright.training.settings import TrainingSettings

DEFAULT_TASK = "language"
"""What a recipe is about that does not say."""

_OWN = ("name", "description", "extends")
"""What a recipe does not take over from the one that it extends."""


class LooseSettings(BaseModel):
    """A table whose settings are a plug-in's, which nobody has asked for yet."""

    model_config = ConfigDict(extra="allow", frozen=True)


class BaseRecipe(BaseModel):
    """What recipes of every kind have: settings that are complete and checked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: ClassVar[str] = "training"
    """Its kind: where those are that come with cellwright (`recipe_files.KINDS`)."""

    name: str = Field("recipe", description="what people call it; the file's name unless said")
    description: str = Field("", description="what it is for, in a line")
    task: SerializeAsAny[TaskSettings]

    @classmethod
    def typed(cls, kind: TaskKind) -> dict[str, Any]:
        """The fields whose settings depend on the task, and what they are for a kind of task."""
        return {"task": kind.settings}

    @classmethod
    def completed(cls, tables: dict[str, Any]) -> dict[str, Any]:
        """What a file says, with what follows from it; before anything is looked at."""
        return tables

    def on(self, data: str | None, folder: str | None = None) -> Self:
        """The same on other data, or as it is if none is named.

        Files and folders are named by paths that hold in any working directory.
        """
        wanted = self.task.data if data is None else data
        changes = {"data": placed(self.task, wanted)}
        if folder is not None:
            changes["folder"] = str(from_anywhere(folder))
        task = self.task.model_copy(update=changes).from_anywhere()
        return self.model_copy(update={"task": task})


class Recipe(BaseRecipe):
    """How to train a cell."""

    model: SerializeAsAny[LooseSettings]
    training: TrainingSettings

    @classmethod
    def typed(cls, kind: TaskKind) -> dict[str, Any]:
        """Task and model."""
        return {"task": kind.settings, "model": kind.model_settings}


AnyRecipe = TypeVar("AnyRecipe", bound=BaseRecipe)


class Draft:
    """Tables on the way to a recipe, and where each value was said last."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[tuple[str, ...], str] = {}

    def take(self, table: Mapping[str, Any], origin: str) -> None:
        """Take over what a later file or setting says."""
        self._merge(self.values, table, origin, ())

    def _merge(
        self, into: dict[str, Any], table: Mapping[str, Any], origin: str, at: tuple[str, ...]
    ) -> None:
        for key, value in table.items():
            path = (*at, key)
            self.origins[path] = origin
            if isinstance(value, dict):
                before = into.get(key)
                whole = path[0] == "tune" and len(path) == 3  # how one setting varies
                if not isinstance(before, dict) or whole or _other_kind(before, value):
                    into[key] = {}
                self._merge(into[key], value, origin, path)
            else:
                into[key] = value

    def recipe(self, kind: type[AnyRecipe], name: str, whole: str) -> AnyRecipe:
        """The recipe, or an error that says all that is wrong."""
        tables = {
            key: None if value == NONE and _may_be_none(kind, key) else _with_nones(value)
            for key, value in self.values.items()
        }
        tables = kind.completed(tables)
        kind = self._for_its_task(kind, tables, whole)
        for key, field in kind.model_fields.items():
            if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
                tables.setdefault(key, {})
        try:
            return kind.model_validate({"name": name, **tables}, strict=True)
        except ValidationError as error:
            raise RecipeError(explain(error, kind, tables, self.origins, whole)) from None

    def _for_its_task(
        self, kind: type[AnyRecipe], tables: dict[str, Any], whole: str
    ) -> type[AnyRecipe]:
        task = tables.setdefault("task", {})
        name = task.setdefault("kind", DEFAULT_TASK) if isinstance(task, dict) else DEFAULT_TASK
        where = self.origins.get(("task", "kind"), whole)
        if not isinstance(name, str):
            raise RecipeError(f"{where}: task.kind should name a task, not {shown(name)}")
        try:
            return for_task(kind, task_kind(name))
        except TaskError as error:
            raise RecipeError(f"{where}: task.kind: {error}") from None


def _may_be_none(kind: type[BaseModel], key: str) -> bool:
    field = kind.model_fields.get(key)
    return field is not None and type(None) in get_args(field.annotation)


def _with_nones(value: Any) -> Any:
    """A table with `None` for "none"; what is no table stays as it is."""
    if not isinstance(value, dict):
        return value
    return {key: None if v == NONE else _with_nones(v) for key, v in value.items()}


@functools.lru_cache(maxsize=64)
def for_task(kind: type[AnyRecipe], task: TaskKind) -> type[AnyRecipe]:
    """The class of recipes of a kind, for a kind of task: its settings are known."""
    fields: dict[str, Any] = {name: (what, ...) for name, what in kind.typed(task).items()}
    return create_model(kind.__name__, __base__=kind, **fields)


def recipe_from_json(kind: type[AnyRecipe], values: Any) -> AnyRecipe:
    """A recipe from its JSON values, as work on disk has them.

    The settings of a plug-in's task stay as they are, so that nobody else's code runs because a
    file was looked at; `opened` checks them.

    Raises:
        ValueError: the values are no recipe's.
    """
    if isinstance(values, kind):
        return values
    task = values.get("task") if isinstance(values, dict) else None
    name = task.get("kind") if isinstance(task, dict) else None
    if isinstance(name, str) and is_built_in(name):
        kind = for_task(kind, task_kind(name))
    found: AnyRecipe = kind.model_validate(values, context=KEPT)
    return found


def opened(recipe: AnyRecipe) -> AnyRecipe:
    """The recipe with the settings of its task checked, also if that is a plug-in's.

    Raises:
        TaskError: the plug-in is not to be had.
        RunError: its settings are not what the plug-in knows.
    """
    kind = task_kind(recipe.task.kind)
    if isinstance(recipe.task, kind.settings):
        return recipe
    found = for_task(type(recipe), kind)
    try:
        checked: AnyRecipe = found.model_validate(recipe.model_dump(), context=KEPT)
    except ValidationError as error:
        raise RunError(f"the recipe {recipe.name}: {first_problem(error)}") from None
    return checked


def with_settings(recipe: Recipe, settings: Mapping[str, Any]) -> Recipe:
    """The recipe with other values of some settings, by names as `training.learning_rate`.

    >>> with_settings(load_recipe("laptop"), {"training.epochs": 3}).training.epochs
    3

    Raises:
        RunError: there is no such setting, or it cannot have that value.
    """
    draft = Draft()
    draft.take(recipe.model_dump(mode="json"), recipe.name)
    changes: dict[str, Any] = {}
    for name, value in settings.items():
        table, _, key = name.partition(".")
        changes.setdefault(table, {})[key] = value
    draft.take(changes, "settings")  # another kind of model begins with nothing
    try:
        return opened(recipe_from_json(Recipe, draft.values))
    except ValidationError as error:
        raise RunError(f"the recipe {recipe.name}: {first_problem(error)}") from None


@overload
def load_recipe(name_or_path: str | Path, overrides: Sequence[str] = ...) -> Recipe: ...


@overload
def load_recipe(
    name_or_path: str | Path, overrides: Sequence[str], kind: type[AnyRecipe]
) -> AnyRecipe: ...


def load_recipe(
    name_or_path: str | Path,
    overrides: Sequence[str] = (),
    kind: type[BaseRecipe] = Recipe,
) -> BaseRecipe:
    """A packaged recipe by its name, or a TOML file by its path.

    >>> load_recipe("laptop", ["training.epochs=3"]).training.epochs
    3

    Args:
        name_or_path: a name of `recipe_names()`, or a file.
        overrides: settings that go before the recipe's, such as `training.epochs=3`. The value is
            TOML, where a word needs no quotes.
        kind: of which kind the recipe is; one for a training unless said.

    Raises:
        RecipeError: no such recipe, or something in it (or in what it extends) is wrong.
    """
    draft, label, name = gathered(name_or_path, overrides, kind.folder)
    return draft.recipe(kind, name, label)


def gathered(
    name_or_path: str | Path, overrides: Sequence[str], folder: str
) -> tuple[Draft, str, str]:
    """All that a recipe of a kind says, and those that it extends; how to call its file, and it.

    Raises:
        RecipeError: no such recipe, or it is of another kind, or a file is no TOML.
    """
    draft, wanted = Draft(), str(name_or_path)
    label, name = _load(wanted, None, draft, (), folder)
    check_kind(draft.values, folder, label, wanted)
    for text in overrides:
        draft.take(with_places(override(text)), f"the setting {shown(text)}")
    return draft, label, name


def recipe_names(kind: type[BaseRecipe] = Recipe) -> list[str]:
    """The recipes of a kind that come with cellwright."""
    return names_in(kind.folder)


def _other_kind(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a table says that it is of another kind, whose settings are others."""
    return "kind" in before and after.get("kind", before["kind"]) != before["kind"]


def _load(
    wanted: str,
    beside: Path | None,
    draft: Draft,
    within: tuple[str, ...],
    folder: str,
) -> tuple[str, str]:
    """Take a recipe, after those that it extends, into the draft; how to call its file, and it."""
    path = find_recipe(wanted, beside, folder)
    label = wanted if path is None else str(path)
    where = f"recipe {wanted!r}" if path is None else label
    if label in within:
        raise RecipeError(f"{where} extends itself: {' → '.join((*within, label))}")
    table = read_packaged(wanted, folder) if path is None else read_table(path, where)
    parent = taken_from(table, where)
    if parent is not None:
        try:
            _load(parent, None if path is None else path.parent, draft, (*within, label), folder)
        except NoRecipeError as error:
            raise RecipeError(f"{where}: extends: {error}") from None
        for own in _OWN:
            draft.values.pop(own, None)
    task = table.get("task")
    if path is not None and isinstance(task, dict) and isinstance(data := task.get("data"), str):
        text = path.parent / data
        if data and data not in (*KNOWN, *TAGGED) and _is_folder(text):
            table["task"] = {**task, "data": str(text)}
    said = {key: value for key, value in table.items() if key != "extends"}
    draft.take(said if path is None else with_places(said, path.parent), where)
    name = wanted if path is None else path.stem
    return where, str(table.get("name", name))


def _is_folder(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return path.is_dir()
    return False
