"""Every number of every settings class has bounds; settings of work that was begun have none."""

from __future__ import annotations

import math
from typing import Any, get_args

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from cellwright.base.bounds import KEPT
from cellwright.models.settings import AwdSettings, OneLayerSettings
from cellwright.runs.recipes import Recipe, load_recipe, recipe_from_json
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.one_shot.recipes import SearchRecipe
from cellwright.search.sharing.settings import SharingSettings
from cellwright.search.studies.recipes import (
    LimitSettings,
    PoolSettings,
    RetrySettings,
    StudyRecipe,
    TextSettings,
)
from cellwright.tasks.language.settings import LanguageSettings
from cellwright.training.settings import TrainingSettings

CLASSES: list[type[BaseModel]] = [
    AwdSettings, DifferentiableSettings, LanguageSettings, LimitSettings, OneLayerSettings,
    PoolSettings, RetrySettings, SearchRecipe, SharingSettings, StudyRecipe, TextSettings,
    TrainingSettings,
]  # fmt: skip


def numbers() -> list[tuple[str, str, bool]]:
    """Class, field, and whether it is a whole number."""
    found = []
    for kind in CLASSES:
        for name, field in kind.model_fields.items():
            types = {field.annotation, *get_args(field.annotation)}
            types |= {inner for one in types for inner in get_args(one)}  # Annotated[int, …] | None
            if int in types or float in types:
                found.append((kind.__name__, name, int in types))
    return found


@pytest.mark.parametrize(("kind", "name", "whole"), numbers())
def test_no_number_is_without_bounds(kind: str, name: str, whole: bool):
    [settings] = [each for each in CLASSES if each.__name__ == kind]
    field = settings.model_fields[name]
    one: Any = TypeAdapter(field.rebuild_annotation())
    for value in (10**23, -1) if whole else (math.inf, -math.inf, math.nan, 1e39):
        with pytest.raises(ValidationError):
            one.validate_python(value)


def test_there_are_many():
    assert len(numbers()) > 80


def test_work_that_was_begun_without_bounds_still_opens():
    values = load_recipe("laptop").model_dump(mode="json")
    values["training"] |= {"learning_rate": math.inf, "epochs": 10**23}
    found = recipe_from_json(Recipe, values)
    assert (found.training.learning_rate, found.training.epochs) == (math.inf, 10**23)
    with pytest.raises(ValidationError, match="should be at most 1,000,000"):
        TrainingSettings.model_validate({"epochs": 10**23})
    assert TrainingSettings.model_validate({"epochs": 10**23}, context=KEPT).epochs == 10**23
