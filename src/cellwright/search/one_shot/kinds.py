"""What all one-shot searches have in common, and which object a recipe's settings mean.

DARTS, I-DARTS and ESS (`cellwright.search.gradient.search`), ENAS and random search with shared
weights (`cellwright.search.sharing`) are such searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from cellwright.cell import Cell
from cellwright.runs.runner import AnyEvent, Work
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.one_shot.recipes import SearchRecipe
from cellwright.tasks.task import Task
from cellwright.training.results import StepDone


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


def make_search(recipe: SearchRecipe, task: Task[Any], seed: int, backend: str = "auto") -> Search:
    """The search that a recipe means, before its first step."""
    settings = recipe.search
    if isinstance(settings, DifferentiableSettings):
        from cellwright.search.gradient.search import DifferentiableSearch

        return DifferentiableSearch(task, recipe.model, settings, seed, backend)
    from cellwright.search.sharing.enas import SharingSearch

    return SharingSearch(task, recipe.model, settings, seed, backend)
