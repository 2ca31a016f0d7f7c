"""Recipes for tuning: a training, and which of its settings vary, as a TOML file.

    description = "An LSTM for my pairs, tuned"
    training = "blm-sick-r-laptop"
    trials = 60

    [tune.training]
    learning_rate = {low = 1e-4, high = 1e-2, log = true}

They are read as those for trainings are (`cellwright.runs.recipes`); `search/tuning/table.py` says
what `[tune]` may have. A trial is a training as the recipe that `training` names says, but for what
varies and what stands under `task`, from a seed of its own, for `method.epochs` epochs, or as many
as that recipe has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, ValidationInfo, field_validator

from cellwright.base.bounds import KEPT
from cellwright.base.errors import did_you_mean, shown
from cellwright.runs.errors import RecipeError
from cellwright.runs.recipe_text import as_toml
from cellwright.runs.recipes import load_recipe, recipe_names
from cellwright.search.studies.recipes import MethodSettings, TrialsRecipe
from cellwright.search.tuning.table import TuneTable
from cellwright.spaces import Interval, Options, Tuned, Varied
from cellwright.spaces.tuned import CELL, times_of
from cellwright.trials.trial import SEED

METHODS = ("tpe", "random", "hyperband", "asynchronous-hyperband")
"""The methods that can draw settings; the last two end trials early that are behind."""


class TuneRecipe(TrialsRecipe):
    """A study over settings."""

    folder: ClassVar[str] = "tuning"

    method: MethodSettings = Field(
        MethodSettings.model_validate({"kind": "tpe"}), description="who chooses"
    )
    tune: TuneTable

    @classmethod
    def completed(cls, tables: dict[str, Any]) -> dict[str, Any]:
        """With the task of the training, where the recipe says nothing else of it."""
        training, own = tables.get("training"), tables.get("task", {})
        if not isinstance(training, str) or not isinstance(own, dict):
            return tables
        task = load_recipe(training).task.model_dump(mode="json")
        if own.get("kind", task["kind"]) == task["kind"]:
            tables = {**tables, "task": {**task, **own}}
        return tables

    @field_validator("method", mode="before")
    @classmethod
    def _usual(cls, method: Any) -> Any:
        return {"kind": "tpe", **method} if isinstance(method, dict) else method

    @field_validator("method")
    @classmethod
    def _can_tune(cls, method: MethodSettings) -> MethodSettings:
        if method.kind not in METHODS:
            hint = did_you_mean(method.kind, METHODS)
            raise ValueError(
                f"settings are tuned by {', '.join(METHODS)}, not by {shown(method.kind)}{hint}"
            )
        return method

    @field_validator("tune")
    @classmethod
    def _fits_the_training(cls, tune: TuneTable, info: ValidationInfo) -> TuneTable:
        if "training" in info.data and info.context != KEPT:
            _check_settings(tune.space(), info.data["training"])
        return tune

    @property
    def epochs(self) -> int:
        """How many epochs the longest trials have: the method's, or the training recipe's."""
        if "epochs" in self.method.settings:
            return self.method.epochs
        return self.child_recipe().training.epochs


def load_tune_recipe(name_or_path: str | Path, overrides: Sequence[str] = ()) -> TuneRecipe:
    """A packaged recipe by its name, or a TOML file by its path (see `load_recipe`)."""
    return load_recipe(name_or_path, overrides, TuneRecipe)


def tune_recipe_names() -> list[str]:
    """The recipes for tuning that come with cellwright."""
    return recipe_names(TuneRecipe)


def _check_settings(space: Tuned, training: str) -> None:
    """Try every value of a list, and both ends of a range, on the training recipe; and whatever
    conditions decide about together with all that then applies.

    Raises:
        ValueError: there is no such setting, it cannot have such a value, or it cannot vary.
    """
    by_name = {each.name: each for each in space.varied}
    for name, why in _FIXED.items():
        if name in by_name:
            raise ValueError(f"{name} cannot vary: {why}")
    for each in space.varied:
        if each.name != SEED:
            for value in _tried(each, by_name):
                _try(training, {**_condition(each, by_name), each.name: value})
    deciding = {name for each in space.varied for name in each.when or ()} | {"model.kind"}
    first = {name: _first(options) for name, options in space.choices().items()}
    for name in deciding & first.keys() - {CELL, SEED}:
        options = space.choices()[name]
        for value in options if isinstance(options, tuple) else (options.low, options.high):
            _try(training, space.drawn({**first, name: value}).settings)


_FIXED = {
    "training.epochs": "how many epochs a trial has is said with method.epochs",
    "task.kind": "values of different tasks do not compare",
    "task.data": "values of different data do not compare",
    "task.metric": "values of different metrics do not compare",
}
"""Settings that are the same in all trials, and why."""


def _try(training: str, settings: Mapping[str, Any]) -> None:
    """Read the training recipe with these settings."""
    own = {name: value for name, value in settings.items() if name != SEED}
    kinds = sorted(own, key=lambda name: not name.endswith(".kind"))  # which begin a table anew
    texts = [f"{name}={as_toml(own[name])}" for name in kinds]
    try:
        load_recipe(training, texts)
    except RecipeError as error:
        said = str(error).splitlines()[0]
        for text in texts:
            said = said.removeprefix(f"the setting {shown(text)}: ")
        with_others = ", ".join(name for name in own if name not in said)
        beside = f" beside {with_others}" if with_others else ""
        raise ValueError(f"{said} (in {training}, which is tuned{beside})") from None


def _first(options: Options) -> Any:
    return options[0] if isinstance(options, tuple) else options.low


def _tried(varied: Varied, by_name: Mapping[str, Varied]) -> Iterator[Any]:
    if varied.tied_to is not None:
        for value in _tried(by_name[varied.tied_to], by_name):
            yield times_of(value, varied.times)
    elif isinstance(varied.options, Interval):
        yield from (varied.options.low, varied.options.high)
    else:
        yield from varied.options


def _condition(varied: Varied, by_name: Mapping[str, Varied]) -> dict[str, Any]:
    """Values of other settings with which a setting is varied."""
    found: dict[str, Any] = {}
    if varied.tied_to is not None:
        found |= _condition(by_name[varied.tied_to], by_name)
    for name, wanted in (varied.when or {}).items():
        if name not in (SEED, CELL):
            found |= {**_condition(by_name[name], by_name), name: wanted[0]}
    return found
