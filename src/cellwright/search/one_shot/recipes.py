"""Recipes for searches: everything that decides a search but the seed, as a TOML file.

    description = "ESS on my text, with a narrow model"
    extends = "ess-ptb-laptop"

    [task]
    data = "my-text"

    [model]
    hidden = 100

    [search]
    rounds = 3

They are read as those for trainings are (`cellwright.runs.recipes`), and packaged beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, SerializeAsAny

from cellwright.base.bounds import Count, up_to
from cellwright.runs.recipes import (
    BaseRecipe,
    LooseSettings,
    Recipe,
    load_recipe,
    recipe_names,
)
from cellwright.search.found_training import TrainingName, training_recipe
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.sharing.settings import SharingSettings
from cellwright.tasks.registry import TaskKind

MOST_CELLS = 1000


def _with_kind(values: Any) -> Any:
    """The settings of a search that does not say its kind: DARTS."""
    return {"kind": "darts", **values} if isinstance(values, dict) else values


SearchSettings = Annotated[
    Annotated[DifferentiableSettings | SharingSettings, Field(discriminator="kind")],
    BeforeValidator(_with_kind),
]
"""The settings of any search that trains one network; `kind` says which."""


class SearchRecipe(BaseRecipe):
    """How to search, and how to train what was found."""

    folder: ClassVar[str] = "search"

    training: TrainingName = Field("laptop", description="the recipe to train a found cell with")
    selection_epochs: Count = Field(
        10, description="epochs of that training, at most, by which the best candidate is chosen"
    )
    selection_cells: Annotated[int, Field(ge=1), up_to(MOST_CELLS)] = Field(
        1,
        description="cells of each seed among which is chosen by training: what it found, and from "
        "2 on cells of earlier epochs and cells that are drawn, by successive halving",
    )
    selection_eta: Annotated[int, Field(ge=2), up_to(MOST_CELLS)] = Field(
        3, description="of those candidates one in so many goes on, for so many times as long"
    )
    model: SerializeAsAny[LooseSettings]
    search: SearchSettings = DifferentiableSettings.model_validate({})

    @classmethod
    def typed(cls, kind: TaskKind) -> dict[str, Any]:
        """Task and model."""
        return {"task": kind.settings, "model": kind.model_settings}

    def chooses(self, seeds: int) -> bool:
        """Whether a search of so many seeds chooses by training what they found."""
        return seeds > 1 or self.selection_cells > 1

    def short_training(self) -> Recipe:
        """How candidates are trained, on the search's data, to choose among them.

        Raises:
            RecipeError: there is no such recipe, or it is for another task.
        """
        epochs = f"training.epochs={self.selection_epochs}"
        recipe = training_recipe(self.training, self.task, [epochs])
        return recipe.on(self.task.data, self.task.folder)


def load_search_recipe(name_or_path: str | Path, overrides: Sequence[str] = ()) -> SearchRecipe:
    """A packaged recipe by its name, or a TOML file by its path (see `load_recipe`).

    >>> load_search_recipe("ess-ptb", ["search.rounds=2"]).search.rounds
    2
    """
    return load_recipe(name_or_path, overrides, SearchRecipe)


def search_recipe_names() -> list[str]:
    """The recipes for searches that come with cellwright."""
    return recipe_names(SearchRecipe)
