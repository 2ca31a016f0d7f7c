"""Models of the same size: the width at which a cell's model has at most so many parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cellwright.base.bounds import MOST
from cellwright.cell import Cell
from cellwright.compare.contenders import Contender
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import Recipe
from cellwright.tasks.task import Task
from cellwright.training.size import parameter_count

WIDTH = "hidden"
"""The setting of models that is their width."""

ALONG = "embedding"
"""One that grows with it where a model has both, so that the model keeps its shape."""


def width_of(recipe: Recipe) -> int:
    """How wide a recipe's models are.

    Raises:
        RunError: they have no width that could be another one.
    """
    width = getattr(recipe.model, WIDTH, None)
    if not isinstance(width, int) or isinstance(width, bool):
        raise RunError(
            f"the models of {recipe.name} have no setting model.{WIDTH}, a width that could be "
            "fitted to a number of parameters"
        )
    return width


def with_width(recipe: Recipe, width: int) -> Recipe:
    """The recipe with models of another width."""
    changes = {WIDTH: width}
    along = getattr(recipe.model, ALONG, None)
    if isinstance(along, int):
        changes[ALONG] = max(1, round(along * width / width_of(recipe)))
    return recipe.model_copy(update={"model": recipe.model.model_copy(update=changes)})


def size(cell: Cell, task: Task[Any], recipe: Recipe) -> int:
    """How many parameters the recipe's model around a cell has."""
    return parameter_count(partial(task.model, cell, recipe.model))


def same_size(
    contenders: Sequence[Contender], task: Task[Any], recipe: Recipe, most: int | Cell
) -> tuple[Contender, ...]:
    """Contenders with the largest widths at which their models have no more parameters than said.

    Args:
        contenders: those that have a width of their own keep it.
        task: what the models are for.
        recipe: of the trainings.
        most: parameters, or the cell whose model has as many, at the recipe's own width.

    Raises:
        RunError: a model cannot be so small.
    """
    parameters = size(most, task, recipe) if isinstance(most, Cell) else most
    return tuple(
        one
        if one.width is not None
        else replace(one, width=fitting_width(one.cell, task, recipe, parameters))
        for one in contenders
    )


def fitting_width(cell: Cell, task: Task[Any], recipe: Recipe, most: int) -> int:
    """The largest width at which the recipe's model around a cell has at most so many parameters.

    Args:
        cell: the cell.
        task: what the model is for.
        recipe: of the training; its own width is where one begins to look.
        most: parameters.

    Raises:
        RunError: the narrowest model has more, or the widest has no more.
    """

    def fits(width: int) -> bool:
        return size(cell, task, with_width(recipe, width)) <= most

    low, high = 0, max(1, width_of(recipe))
    while fits(high):
        if high == MOST:
            raise RunError(
                f"the models of {recipe.name} have no more than {most:,} parameters at any width "
                f"(model.{WIDTH})"
            )
        low, high = high, min(2 * high, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    if low == 0:
        narrow = size(cell, task, with_width(recipe, 1))
        raise RunError(
            f"a model around {cell.name or cell.id} has {narrow:,} parameters at a width of 1, and "
            f"should have {most:,} at most: allow more parameters"
        )
    return low
