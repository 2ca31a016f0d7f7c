"""`comparison.json`: its values as they are written, each looked at when they are read."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cellwright.base.json_values import loads
from cellwright.base.validation import Count, first_problem
from cellwright.runs.earlier import info_of_today
from cellwright.runs.recipes import Recipe, recipe_from_json
from cellwright.tasks.metric import Metric

FORMAT, EARLIER = "cellwright-comparison/2", "cellwright-comparison/1"


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)


RecipeEntry = Annotated[Recipe, BeforeValidator(lambda value: recipe_from_json(Recipe, value))]


class CellEntry(_Strict):
    """A cell of the file. Its label names files, and none of them may be elsewhere."""

    label: str = Field(pattern=r"^\w[\w.-]{0,99}$")
    id: str
    source: str
    width: int | None = Field(None, ge=1)
    recipe: RecipeEntry | None = None


class _DataEntry(_Strict):
    fingerprint: str
    description: str


class PlanValues(_Strict):
    """All of it."""

    recipe: RecipeEntry
    metric: Metric
    data: _DataEntry
    cells: list[CellEntry] = Field(min_length=1)
    seeds: list[Count] = Field(min_length=1)
    threads: int = Field(ge=1, lt=2**15)


def plan_values(text: bytes) -> PlanValues:
    """What a file says.

    Raises:
        ValueError: it is something else; the message says what.
    """
    value = loads(text)
    if isinstance(value, dict) and value.get("format") == EARLIER:
        value = {**info_of_today(value), "format": FORMAT, "threads": 1}
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise ValueError(f"this version reads {FORMAT!r}")
    try:
        return PlanValues.model_validate(value)
    except ValidationError as error:
        raise ValueError(first_problem(error)) from None
