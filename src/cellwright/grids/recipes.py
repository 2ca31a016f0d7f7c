"""Recipes for grids: the stages of a whole experiment, as a TOML file.

    description = "Does ENAS beat an LSTM that was tuned as carefully?"
    seeds = 3

    [stages.lstm]
    kind = "tune"
    recipe = "tune-sentences-laptop"
    trials = 30
    cells = ["lstm"]
    row = {RNN = "LSTM"}
    column = "SICK-R"

    [stages.search]
    kind = "search"
    recipe = "enas-sick-r-laptop"
    like = "lstm"
    cells = 10

    [stages.enas]
    kind = "tune"
    recipe = "tune-sentences-laptop"
    trials = 30
    cells_of = ["search"]
    row = {RNN = "ENAS"}
    column = "SICK-R"

| kind | a stage of it | gives |
|---|---|---|
| `tune` | tunes a training, with cells as a choice | the best settings and cell |
| `search` | searches for cells, with the settings of a `tune` stage if it is `like` one | cells |
| `draw` | draws cells of a space at random | cells |
| `train` | trains cells as they are | cells |

What has a `row` and a `column` stands in the grid's table: its best cell, or of `tune` the best
settings, trained from `seeds` fresh seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from cellwright.base.bounds import KEPT, Count, CountFromZero, up_to
from cellwright.base.errors import UserError, did_you_mean, shown
from cellwright.cell.named import said_cell
from cellwright.compare.contenders import read_request
from cellwright.runs.errors import RecipeError
from cellwright.runs.recipe_files import names_in
from cellwright.runs.recipe_text import NONE, as_toml
from cellwright.runs.recipes import gathered, load_recipe
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.search.recipe_kinds import is_study
from cellwright.search.studies.baseline import SUFFIX
from cellwright.search.studies.recipes import load_study_recipe
from cellwright.search.tuning.recipes import load_tune_recipe
from cellwright.search.tuning.table import TunedCell
from cellwright.spaces import space

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$"
"""Of a stage: it names folders and studies."""

MOST_STAGES = 1000

MOST_ERRORS = 10
"""That are said at once."""


def _listed(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Cells = Annotated[tuple[TunedCell, ...], BeforeValidator(_listed)]


class _Stage(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Fields that name other stages, and of which kinds these have to be."""

    def others(self) -> Iterator[tuple[str, str]]:
        """The stages that this one stands on: by which field, and their names."""
        for field in self.needs:
            value = getattr(self, field)
            names = value if isinstance(value, tuple) else () if value is None else (value,)
            yield from ((field, name) for name in names)


class _Shown(_Stage):
    """A stage that has a place in the table."""

    row: dict[str, str] = Field({}, description="what its row says, a word for each heading")
    column: str = Field("", description="which column it is in, such as the data")

    @model_validator(mode="after")
    def _both(self) -> _Shown:
        if bool(self.row) != bool(self.column):
            raise ValueError("row and column go together")
        return self


_GIVERS = ("search", "draw", "train")


class TuneStage(_Shown):
    """Tunes a training; cells are a choice like others."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"cells_of": _GIVERS}

    kind: Literal["tune"]
    recipe: str
    trials: Count | None = None
    cells: Cells = ()
    cells_of: Names = ()
    seed: CountFromZero = 0
    baseline: bool = Field(False, description="then draw settings at random at the same cost")
    settings: dict[str, Any] = {}


class SearchStage(_Stage):
    """Searches for cells."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"like": ("tune",)}

    kind: Literal["search"]
    recipe: str
    like: str | None = None
    cells: Annotated[Count, up_to(1000)] = 1
    trials: Count | None = None
    seed: CountFromZero = 0
    baseline: bool = Field(False, description="of a study: then search at random at the same cost")
    settings: dict[str, Any] = {}


class DrawStage(_Stage):
    """Draws cells at random."""

    kind: Literal["draw"]
    cells: str
    seed: CountFromZero = 0

    @model_validator(mode="after")
    def _can_be_drawn(self) -> DrawStage:
        name, _, settings = read_request(self.cells)
        space(name, **settings)
        return self


class TrainStage(_Shown):
    """Trains cells as they are."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"cells_of": _GIVERS, "like": ("tune",)}

    kind: Literal["train"]
    recipe: str = ""
    like: str | None = None
    cells: Cells = ()
    cells_of: Names = ()
    parameters: str | Count | None = None
    settings: dict[str, Any] = {}


Stage = Annotated[TuneStage | SearchStage | DrawStage | TrainStage, Field(discriminator="kind")]


class GridRecipe(BaseModel):
    """A whole experiment."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    folder: ClassVar[str] = "grids"

    name: str = "grid"
    description: str = ""
    seeds: Annotated[Count, up_to(1000)] = Field(3, description="of what stands in the table")
    baseline: dict[str, str] = Field({}, description="the row that others are held against")
    stages: dict[Annotated[str, Field(pattern=NAME)], Stage] = Field(
        min_length=1, max_length=MOST_STAGES
    )

    @model_validator(mode="after")
    def _stands(self, info: ValidationInfo) -> GridRecipe:
        before: dict[str, str] = {}
        for name, stage in self.stages.items():
            _check_others(name, stage, before, self.stages)
            if info.context != KEPT:
                _check_stage(name, stage)
            before[name] = stage.kind
            if name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in self.stages:
                other = name.removesuffix(SUFFIX)
                raise ValueError(
                    f"stages.{name}: so would a random search beside {other} be called; choose "
                    "another name"
                )
        _check_places(self.stages)
        rows = [stage.row for stage in self.stages.values() if isinstance(stage, _Shown)]
        if self.baseline and self.baseline not in rows:
            raise ValueError(f"baseline: no stage has the row {shown(self.baseline)}")
        return self


def load_grid_recipe(name_or_path: str | Path, overrides: Sequence[str] = ()) -> GridRecipe:
    """A packaged recipe by its name, or a TOML file by its path (see `load_recipe`).

    Raises:
        RecipeError: no such recipe, or something in it is wrong.
    """
    draft, label, name = gathered(name_or_path, overrides, GridRecipe.folder)
    values = {"name": name, **without_nones(draft.values)}
    try:
        return GridRecipe.model_validate(values)
    except ValidationError as error:
        raise RecipeError("\n".join(f"{label}: {line}" for line in _problems(error))) from None


def without_nones(table: Mapping[str, Any]) -> dict[str, Any]:
    """Tables without settings that are "none": those are as if they had not been said."""
    return {
        key: without_nones(value) if isinstance(value, dict) else value
        for key, value in table.items()
        if value != NONE
    }


def grid_recipe_names() -> list[str]:
    """The grids that come with cellwright."""
    return names_in(GridRecipe.folder)


def _problems(error: ValidationError) -> Iterator[str]:
    """What is wrong with a grid, for people; a line each."""
    kinds: dict[str, type[_Stage]] = {
        "tune": TuneStage, "search": SearchStage, "draw": DrawStage, "train": TrainStage,
    }  # fmt: skip
    for found in error.errors(include_url=False)[:MOST_ERRORS]:
        path = list(map(str, found["loc"]))
        kind = kinds.get(path.pop(2)) if len(path) > 2 and path[2] in kinds else None
        key, message = ".".join(path), str(found["msg"]).removeprefix("Value error, ")
        if found["type"] == "extra_forbidden":
            known = (kind or GridRecipe).model_fields
            hint = did_you_mean(path[-1], known) or f"; there are {', '.join(known)}"
            yield f"unknown key {key!r}{hint}"
        elif found["type"].startswith("union_tag"):
            yield f"{key}.kind should be one of {', '.join(kinds)}"
        elif found["type"] == "missing":
            yield f"{key} is missing"
        elif message.startswith("Input should be"):
            allowed = message.removeprefix("Input should be ")
            yield f"{key} should be {allowed}, not {shown(found['input'])}"
        else:
            yield f"{key}: {message}" if key else message


def overrides_of(settings: Mapping[str, Any]) -> list[str]:
    """Settings as recipes take them."""
    return [f"{key}={as_toml(value)}" for key, value in settings.items()]


def trials_of(stage: Stage) -> int:
    """How many trials a stage will have: those that it says, or its recipe's; 0 without any."""
    if isinstance(stage, TuneStage):
        return stage.trials or load_tune_recipe(stage.recipe, overrides_of(stage.settings)).trials
    if isinstance(stage, SearchStage) and is_study(stage.recipe):
        return stage.trials or load_study_recipe(stage.recipe, overrides_of(stage.settings)).trials
    return 0


def _check_places(stages: Mapping[str, _Stage]) -> None:
    """No two stages stand in the same place of the table."""
    known: dict[tuple[frozenset[tuple[str, str]], str], str] = {}
    for name, stage in stages.items():
        if isinstance(stage, _Shown) and stage.row:
            other = known.setdefault((frozenset(stage.row.items()), stage.column), name)
            if other != name:
                raise ValueError(f"stages.{name} has the same row and column as {other}")


def _check_others(
    name: str, stage: _Stage, before: Mapping[str, str], stages: Mapping[str, _Stage]
) -> None:
    for field, other in stage.others():
        if other not in before:
            late = "; it comes later" if other in stages else did_you_mean(other, before)
            raise ValueError(f"stages.{name}.{field}: no stage {shown(other)} before it{late}")
        if before[other] not in stage.needs[field]:
            wanted = " or ".join(stage.needs[field])
            raise ValueError(
                f"stages.{name}.{field}: {other} is of the kind {before[other]}, and should be of "
                f"{wanted}"
            )


def _check_stage(name: str, stage: _Stage) -> None:
    """Say now what would be said after hours: that a recipe or a setting is wrong."""
    try:
        if isinstance(stage, TuneStage):
            if not (stage.cells or stage.cells_of):
                raise UserError("it has no cells: say cells, or cells_of")
            load_tune_recipe(stage.recipe, overrides_of(stage.settings))
        elif isinstance(stage, SearchStage):
            load = load_study_recipe if is_study(stage.recipe) else load_search_recipe
            load(stage.recipe, overrides_of(stage.settings))
            if stage.like is not None and is_study(stage.recipe):
                raise UserError("like is for one-shot searches, and this recipe is a study")
            if stage.trials is not None and not is_study(stage.recipe):
                raise UserError("trials is for studies, and this recipe is a one-shot search")
            if stage.baseline and not is_study(stage.recipe):
                raise UserError(
                    "baseline is for studies, and this recipe is a one-shot search: set a stage "
                    "beside it that draws cells"
                )
        elif isinstance(stage, TrainStage):
            if not (stage.cells or stage.cells_of):
                raise UserError("it has no cells: say cells, or cells_of")
            if not stage.row:
                raise UserError("what is trained stands in the table: say row and column")
            if isinstance(stage.parameters, str):
                said_cell(stage.parameters)
            if bool(stage.recipe) == bool(stage.like):
                raise UserError("it is trained by a recipe, or like a stage that tunes: say one")
            if stage.recipe:
                load_recipe(stage.recipe, overrides_of(stage.settings))
    except UserError as error:
        raise ValueError(f"stages.{name}: {error}") from None
