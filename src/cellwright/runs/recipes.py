"""Recipes: everything that decides a training but the cell and the seed, as a TOML file.

A recipe names the data, the model's settings and the training's settings. There are other kinds of
recipes for other work (`BaseRecipe`), which all are read in the same way. `extends` names another
recipe, packaged or a file beside it, whose values hold where this one says nothing:

    description = "My cell search's last step, shorter"
    extends = "darts-ptb"

    [training]
    epochs = 100
    average_after = "none"

"none" stands for "no value" in tables, since TOML has none. A folder of text that is beside the
recipe's file is found from everywhere.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cellwright.base.errors import did_you_mean, reason, shown
from cellwright.data import KNOWN
from cellwright.models.settings import ModelSettings
from cellwright.runs.errors import RecipeError
from cellwright.runs.recipe_errors import explain
from cellwright.runs.recipe_text import NONE
from cellwright.runs.recipe_text import recipe_to_toml as recipe_to_toml
from cellwright.training.settings import TrainingSettings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

MOST_BYTES = 2**20
"""The largest file that is read as a recipe."""

_OWN = ("name", "description", "extends")
"""What a recipe does not take over from the one that it extends."""


class BaseRecipe(BaseModel):
    """What recipes of every kind have: settings that are complete and checked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: ClassVar[tuple[str, ...]] = ("recipes",)
    """Where in the package those that come with cellwright are."""

    name: str = Field("recipe", description="what people call it; the file's name unless said")
    description: str = Field("", description="what it is for, in a line")
    data: str = Field(
        "builtin", min_length=1, description="a corpus by name, or a folder with its text"
    )


class Recipe(BaseRecipe):
    """How to train a cell."""

    model: ModelSettings
    training: TrainingSettings


AnyRecipe = TypeVar("AnyRecipe", bound=BaseRecipe)


class _Draft:
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
                if not isinstance(before, dict) or _other_kind(before, value):
                    into[key] = {}
                self._merge(into[key], value, origin, path)
            else:
                into[key] = value

    def recipe(self, kind: type[AnyRecipe], name: str, whole: str) -> AnyRecipe:
        """The recipe, or an error that says all that is wrong."""
        tables = {key: _with_nones(value) for key, value in self.values.items()}
        for key, field in kind.model_fields.items():
            if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
                tables.setdefault(key, {})
        try:
            return kind.model_validate({"name": name, **tables}, strict=True)
        except ValidationError as error:
            raise RecipeError(explain(error, kind, tables, self.origins, whole)) from None


def _with_nones(value: Any) -> Any:
    """A table with `None` for "none"; what is no table stays as it is."""
    if not isinstance(value, dict):
        return value
    return {key: None if v == NONE else _with_nones(v) for key, v in value.items()}


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
    draft = _Draft()
    label, name = _load(str(name_or_path), None, draft, (), kind)
    for text in overrides:
        draft.take(_override(text), f"the setting {shown(text)}")
    return draft.recipe(kind, name, label)


def recipe_names(kind: type[BaseRecipe] = Recipe) -> list[str]:
    """The recipes of a kind that come with cellwright."""
    files = _packaged(kind).iterdir()
    return sorted(file.name[:-5] for file in files if file.name.endswith(".toml"))


def _packaged(kind: type[BaseRecipe]) -> Traversable:
    return resources.files("cellwright").joinpath(*kind.folder)


def _other_kind(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a table says that it is of another kind, whose settings are others."""
    return "kind" in before and after.get("kind", before["kind"]) != before["kind"]


def _load(
    wanted: str,
    beside: Path | None,
    draft: _Draft,
    within: tuple[str, ...],
    kind: type[BaseRecipe],
) -> tuple[str, str]:
    """Take a recipe, after those that it extends, into the draft; how to call its file, and it."""
    path = _find(wanted, beside, recipe_names(kind))
    label = wanted if path is None else str(path)
    where = f"recipe {wanted!r}" if path is None else label
    if label in within:
        raise RecipeError(f"{where} extends itself: {' → '.join((*within, label))}")
    table = read_table(_packaged(kind) / f"{wanted}.toml" if path is None else path, where)
    parent = table.pop("extends", None)
    if parent is not None:
        if not isinstance(parent, str):
            raise RecipeError(f"{where}: extends should name a recipe, not {shown(parent)}")
        try:
            _load(parent, None if path is None else path.parent, draft, (*within, label), kind)
        except _NoRecipeError as error:
            raise RecipeError(f"{where}: extends: {error}") from None
        for own in _OWN:
            draft.values.pop(own, None)
    data = table.get("data")
    if path is not None and isinstance(data, str) and data not in KNOWN:
        folder = path.parent / data
        table["data"] = str(folder) if data and _is_folder(folder) else data
    draft.take(table, where)
    name = wanted if path is None else path.stem
    return where, str(table.get("name", name))


class _NoRecipeError(RecipeError):
    """There is no recipe of a name."""


def _find(wanted: str, beside: Path | None, packaged: Sequence[str]) -> Path | None:
    """The file of a recipe; None for a packaged one."""
    if wanted in packaged:
        return None
    if "\0" in wanted:
        raise RecipeError(f"{wanted!r} is not a file name")
    path = Path(wanted).expanduser()
    path = path if beside is None else beside / path
    if path.suffix == ".toml" or len(Path(wanted).parts) > 1 or _is_file(path):
        return path.resolve()
    hint = did_you_mean(wanted, packaged) or f"; there are {', '.join(packaged)}"
    raise _NoRecipeError(
        f"unknown recipe {shown(wanted)}{hint} (and there is no file of that name)"
    )


def _is_file(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):  # a name that no file can have
        return path.is_file()
    return False


def _is_folder(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return path.is_dir()
    return False


def read_table(path: Path | Traversable, where: str) -> dict[str, Any]:
    """The tables of a recipe's file, before anything in them is looked at."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise _NoRecipeError(f"there is no recipe {where}") from None
    except OSError as error:
        raise RecipeError(f"cannot read {where}: {reason(error)}") from None
    if len(data) > MOST_BYTES:
        raise RecipeError(f"{where}: larger than {MOST_BYTES:,} bytes, which no recipe is")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise RecipeError(f"{where}, line {line}: not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RecipeError(f"{where} is not TOML: {error}") from None


def _override(text: str) -> dict[str, Any]:
    """A setting as the nested tables that a file would say it with.

    >>> _override("training.optimizer=adam")
    {'training': {'optimizer': 'adam'}}
    """
    key, equals, written = text.partition("=")
    names = [name.strip() for name in key.split(".")]
    if not equals or not all(names):
        raise RecipeError(f"a setting looks like training.epochs=3, not {shown(text)}")
    written = written.strip()
    try:
        parsed = tomllib.loads(f"value = {written}")
        value: Any = parsed["value"] if len(parsed) == 1 else written
    except (tomllib.TOMLDecodeError, RecursionError):
        value = written
    for name in reversed(names):
        value = {name: value}
    assert isinstance(value, dict)
    return value
