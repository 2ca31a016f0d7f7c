"""What all one-shot searches have in common, and which object a recipe's settings mean.

DARTS, I-DARTS and ESS (`cellwright.search.gradient.search`), ENAS and random search with shared
weights (`cellwright.search.sharing`) are such searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from cellwright.cell import Cell
from cellwright.engine import WeightBank
from cellwright.models.cell_model import CellModel
from cellwright.runs.runner import AnyEvent, Work
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.one_shot.recipes import SearchRecipe
from cellwright.tasks.task import Task
from cellwright.training.results import StepDone
from cellwright.training.size import check_size


class Epoch(AnyEvent, Protocol):
    """Where a search stands after an epoch."""

    @property
    def cell(self) -> Cell:
        """What it would choose now."""

    @property
    def valid(self) -> float:
        """The loss on the validation data."""

    @property
    def seconds(self) -> float:
        """Since the search began."""


class Found(Protocol):
    """What a search found."""

    @property
    def status(self) -> str:
        """`ok`, or what went wrong."""

    @property
    def cell(self) -> Cell:
        """The cell."""

    @property
    def records(self) -> Sequence[Epoch]:
        """One for each epoch."""

    @property
    def seconds(self) -> float:
        """Of the search."""

    @property
    def parameters(self) -> int:
        """Numbers that it trained."""

    @property
    def peak_memory(self) -> int:
        """Of the process, in bytes."""

    def to_json(self) -> dict[str, Any]:
        """All figures as JSON values, without the records."""


Search = Work[StepDone | Epoch, Found]


def check_search_size(recipe: SearchRecipe, task: Task[Any], seed: int) -> None:
    """Say so if a search cannot be done on this machine, before anything of it is made.

    Raises:
        NotEnoughMemoryError: it takes more memory than there is.
    """
    from cellwright.search.gradient.stages import searched_supernet
    from cellwright.search.sharing.children import Children

    settings = recipe.search

    def model() -> CellModel[Any]:
        if isinstance(settings, DifferentiableSettings):
            cell = searched_supernet(settings).cell
            return task.model(cell, recipe.model, bank=WeightBank())
        return Children(task, recipe.model, settings.space(), "auto", norm=settings.norm).model

    batch = task.batches("train", settings.batch, seed, 0)[0]
    check_size(model, batch, settings, "search")


def make_search(recipe: SearchRecipe, task: Task[Any], seed: int, backend: str = "auto") -> Search:
    """The search that a recipe means, before its first step."""
    settings = recipe.search
    if isinstance(settings, DifferentiableSettings):
        from cellwright.search.gradient.search import DifferentiableSearch

        return DifferentiableSearch(task, recipe.model, settings, seed, backend)
    from cellwright.search.sharing.enas import SharingSearch

    return SharingSearch(task, recipe.model, settings, seed, backend)
