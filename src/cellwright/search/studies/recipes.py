"""Recipes for studies: a space, a method, and how each trial's cell is trained, as a TOML file.

    description = "Evolution on my text"
    training = "laptop"
    trials = 100

    [task]
    data = "my-text"

    [space]
    kind = "fenas"
    nodes = 9

    [method]
    kind = "aging-evolution"
    population = 20
    sample = 5
    epochs = 4
    initial = ["fenas-lstm"]

    [child.model]
    hidden = 32

They are read as those for trainings are (`cellwright.runs.recipes`). A trial is trained as the
recipe that `training` names says, but for the settings under `child`, and for as many epochs as
the method asks. The cell that was found is then trained as `training` says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from cellwright.base.bounds import Count, CountFromZero, Positive, up_to
from cellwright.base.errors import UserError
from cellwright.cell.zoo import zoo
from cellwright.runs.errors import RecipeError
from cellwright.runs.recipes import BaseRecipe, Recipe, load_recipe, recipe_names
from cellwright.search.blackbox.methods import check_settings, method_kind
from cellwright.search.found_training import TrainingName, training_recipe
from cellwright.spaces import Space, space
from cellwright.trials.study.driver import MOST_TRIALS

Items = Annotated[int, Field(ge=1), up_to(10**12)]
"""How much of the data."""

WINDOW = 4
"""How many trials are open in a study that has to come out the same every time, unless said."""

NEEDS_POOL = ("bayesian-optimization", "smac")
"""The methods that choose among cells with features."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Kind(BaseModel):
    """A kind, and settings that this kind has."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: str = Field(min_length=1)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that are not left to the kind."""
        return dict(self.__pydantic_extra__ or {})


class SpaceSettings(_Kind):
    """Where cells come from: a space by name, with its settings."""

    @model_validator(mode="after")
    def _exists(self) -> SpaceSettings:
        self.build()
        return self

    def build(self) -> Space:
        """The space itself."""
        return space(self.kind, **self.settings)


class MethodSettings(_Kind):
    """Who chooses: a method by name, or a class of one's own by its place (`mine.py:Mine`), with
    its settings but for the seed."""

    @model_validator(mode="after")
    def _exists(self) -> MethodSettings:
        kind = method_kind(self.kind)
        if "seed" in self.settings:
            raise ValueError("the seed is no setting of a recipe: say it with --seed")
        if "space" in self.settings:
            raise ValueError("the space has a table of its own, [space]")
        check_settings(kind, self.settings)
        return self

    @property
    def epochs(self) -> int:
        """How many epochs the longest trials have."""
        own = self.settings.get("epochs", method_kind(self.kind).epochs)
        if isinstance(own, bool) or not isinstance(own, int):
            raise RecipeError(f"method.epochs must be a whole number, not {own!r}")
        return own


class PoolSettings(_Table):
    """Cells of the space, drawn once, with graph2vec features, that the method chooses among."""

    cells: Count = Field(1000, description="how many different ones are drawn")
    dimensions: Annotated[Count, up_to(1000)] = Field(10, description="of the features")


class ChildSettings(_Table):
    """What is different in the training of a trial."""

    model: dict[str, Any] = Field({}, description="settings of the model")
    training: dict[str, Any] = Field({}, description="settings of the training")

    def overrides(self) -> list[str]:
        """The settings as `load_recipe` takes them."""
        parts = {"model": self.model, "training": self.training}
        return [
            f"{part}.{key}={_toml(value)}"
            for part, table in parts.items()
            for key, value in table.items()
        ]


class TextSettings(_Table):
    """How much of the data a trial reads, from the beginning of each part; none: all of it."""

    train: Items | None = Field(None, description="items of the training data, such as words")
    valid: Items | None = Field(None, description="items of the validation data, such as words")
    test: Items | None = Field(None, description="items of the test data, such as words")

    def limits(self) -> dict[str, int] | None:
        """The parts that are not read whole."""
        return {part: most for part, most in self.model_dump().items() if most is not None} or None


class LimitSettings(_Table):
    """What a trial may take; none: no limit."""

    seconds: Annotated[float, Field(gt=0), up_to(1e9)] | None = Field(
        None, description="of the wall clock"
    )
    gigabytes: Positive | None = Field(None, description="of memory")


class RetrySettings(_Table):
    """How often a trial may come to nothing before it has failed."""

    failures: CountFromZero = Field(2, description="crashes, errors and limits that were passed")
    losses: CountFromZero = Field(10, description="machines and drivers that vanished")


class BudgetSettings(_Table):
    """What the study may spend before it begins no more trials; none: only `trials` ends it."""

    minutes: Annotated[float, Field(gt=0), up_to(1e7)] | None = Field(
        None, description="of the wall clock, with those of the final comparison"
    )
    epochs: Annotated[Count, up_to(10**9)] | None = Field(
        None, description="of training in all trials; the same trials every time"
    )


class FinalSettings(_Table):
    """The comparison at the end: the best cells of the study beside others, from fresh seeds."""

    seeds: Annotated[Count, up_to(1000)] = Field(3, description="that each cell is trained from")
    cells: Annotated[Count, up_to(100)] = Field(2, description="of the study, its best")
    against: tuple[str, ...] = Field(("lstm", "gru"), description="cells of the zoo beside them")
    share: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.4, description="of budget.minutes that is kept for it"
    )

    @field_validator("against", mode="before")
    @classmethod
    def _as_tuple(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("against")
    @classmethod
    def _in_the_zoo(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            zoo[name]
        return names


class TrialsRecipe(BaseRecipe):
    """What recipes have whose work is trials: of cells, of settings, or of both."""

    training: TrainingName = Field(
        "laptop", description="the recipe to train with, children and what is found"
    )
    trials: Annotated[int, Field(ge=1), up_to(MOST_TRIALS)] = Field(description="how many in all")
    value: Literal["best", "last"] = Field(
        "best", description="which epoch's validation loss is a trial's value"
    )
    threads: Annotated[Count, up_to(1000)] = Field(1, description="that each trial computes with")
    window: Count | None = Field(
        None, description="tell outcomes in order, so many trials open; none: as they come"
    )
    give_up_after: Count | None = Field(
        20, description="failed trials in a row that end the study; none: never"
    )
    baseline: Literal["epochs", "seconds"] = Field(
        "epochs", description="what a random search beside it spends as much of"
    )
    method: MethodSettings
    text: TextSettings = TextSettings.model_validate({})
    limits: LimitSettings = LimitSettings.model_validate({})
    budget: BudgetSettings = BudgetSettings.model_validate({})
    retries: RetrySettings = RetrySettings.model_validate({})

    def window_of_budget(self) -> int | None:
        """The window; a study that is measured in epochs has one, so that it is the same again."""
        return WINDOW if self.window is None and self.budget.epochs is not None else self.window

    def trial_seconds(self) -> float | None:
        """How long trials may be begun."""
        return None if self.budget.minutes is None else 60 * self.budget.minutes

    @property
    def epochs(self) -> int:
        """How many epochs the longest trials have."""
        return self.method.epochs

    def child_recipe(self) -> Recipe:
        """How a trial is trained, but for the number of epochs."""
        return self._on_own_task(training_recipe(self.training, self.task))

    def _on_own_task(self, recipe: Recipe) -> Recipe:
        """A training recipe with what this recipe says of the task."""
        own = {name: getattr(self.task, name) for name in self.task.model_fields_set}
        return recipe.model_copy(update={"task": recipe.task.model_copy(update=own)})


class StudyRecipe(TrialsRecipe):
    """A search that trains cell by cell."""

    folder: ClassVar[str] = "studies"

    space: SpaceSettings
    child: ChildSettings = ChildSettings.model_validate({})
    final: FinalSettings | None = Field(None, description="a comparison at the end; none: none")
    pool: PoolSettings | None = Field(
        None, description="cells to choose among, for methods on features", validate_default=True
    )

    @field_validator("child")
    @classmethod
    def _trains(cls, child: ChildSettings, info: ValidationInfo) -> ChildSettings:
        if "epochs" in child.training:
            raise ValueError("how many epochs a child has is said with method.epochs")
        if "training" in info.data:
            load_recipe(info.data["training"], child.overrides())
        return child

    @field_validator("pool")
    @classmethod
    def _has_features(cls, pool: PoolSettings | None, info: ValidationInfo) -> PoolSettings | None:
        chosen = info.data.get("method")
        if pool is None and chosen is not None and chosen.kind in NEEDS_POOL:
            raise ValueError(
                f"method {chosen.kind!r} chooses among cells with features, so the recipe needs "
                "a table [pool]"
            )
        return pool

    def trial_seconds(self) -> float | None:
        """How long trials may be begun; the rest of the minutes is for the final comparison."""
        seconds = super().trial_seconds()
        return (
            seconds if seconds is None or self.final is None else seconds * (1 - self.final.share)
        )

    def child_recipe(self) -> Recipe:
        """How a trial's cell is trained, but for the number of epochs."""
        return self._on_own_task(training_recipe(self.training, self.task, self.child.overrides()))


def load_study_recipe(name_or_path: str | Path, overrides: Sequence[str] = ()) -> StudyRecipe:
    """A packaged recipe by its name, or a TOML file by its path (see `load_recipe`).

    >>> load_study_recipe("fenas-ptb").method.settings["population"]
    100
    """
    return load_recipe(name_or_path, overrides, StudyRecipe)


def study_recipe_names() -> list[str]:
    """The recipes for studies that come with cellwright."""
    return recipe_names(StudyRecipe)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        raise UserError(f"the settings under child are numbers and words, not {value!r}")
    return '"none"' if value is None else json.dumps(value)
