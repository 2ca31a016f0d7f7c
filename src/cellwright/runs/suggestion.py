"""A recipe for those who name none."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.base.progress import Progress
from cellwright.runs.recipes import Recipe, load_recipe
from cellwright.tasks.registry import kind_of_data, open_task, task_kind

FIRST = "laptop"
"""What decides the task, and the data if none is named that a kind of task knows."""


def suggested_recipe(
    data: str | None, overrides: Sequence[str] = (), progress: Progress | None = None
) -> Recipe:
    """The packaged recipe that trains on this much data in minutes.

    Args:
        data: by name or folder; that of `FIRST` unless said.
        overrides: settings that go before the recipe's.
        progress: called while data is read for the first time.
    """
    first = load_recipe(_first(data), overrides).on(data)
    suggest = task_kind(first.task.kind).suggest
    if suggest is None:
        return first
    return load_recipe(suggest(open_task(first.task, progress)), overrides)


def _first(data: str | None) -> str:
    """The recipe that decides the task: that of the kind which knows the data."""
    kind = kind_of_data(data)
    return kind.first if kind is not None and kind.first else FIRST
