"""The cells that are trained: what each search found and others, in models of the same size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from cellwright.cell import Cell
from cellwright.compare.contenders import Contender, contender, draw
from cellwright.compare.sensitivity.grid import Grid, Point
from cellwright.compare.widths import fitting_width, size
from cellwright.runs.recipes import Recipe
from cellwright.search.one_shot.space import searched_space
from cellwright.tasks.task import Task


@dataclass(frozen=True)
class Cells:
    """What is trained, and whose it is, by the ids of cells.

    Two points may have the same cell, which is trained once.

    Args:
        parameters: that each model has at most.
        found: what the search of each point found, by the point's label.
        random: the cells that were drawn from the space of each point.
        against: cells from elsewhere.
        contenders: each cell once, with the width of its model.
    """

    parameters: int
    found: Mapping[str, str]
    random: Mapping[str, tuple[str, ...]]
    against: tuple[str, ...]
    contenders: tuple[Contender, ...]


def random_cells(grid: Grid, number: int, seed: int) -> dict[str, list[Cell]]:
    """So many cells of the space of each point that can learn, by the point's label.

    Raises:
        UserError: there is no such space, or it has too few cells.
    """
    if number == 0:
        return {}
    return {
        point.label: [one.cell for one in draw(searched_space(point.recipe.search), number, seed)]
        for point in grid.points
    }


def make_cells(
    grid: Grid,
    found: Mapping[str, Cell],
    random: Mapping[str, Sequence[Cell]],
    against: Sequence[Cell],
    task: Task[Any],
    recipe: Recipe,
    parameters: int | None,
    labels: Mapping[str, str] = MappingProxyType({}),
) -> Cells:
    """The cells with the widths of their models.

    Args:
        grid: the searches.
        found: the cell of each, by the point's label.
        random: cells of the same spaces.
        against: cells from elsewhere.
        task: of the trainings.
        recipe: of the trainings.
        parameters: that each model has at most; unless said as many as that of the cell that was
            found with the recipe's own setting has, at the width that `recipe` has.
        labels: those that cells have had, by their ids: one that two points found is called by the
            first of them, which another value may come before.

    Raises:
        RunError: a model cannot be so small.
    """
    most = size(found[grid.base.label], task, recipe) if parameters is None else parameters
    known: dict[str, Contender] = {}

    def add(label: str, cell: Cell, source: str) -> str:
        if cell.id not in known:
            width = fitting_width(cell, task, recipe, most)
            one = contender(cell, labels.get(cell.id, label), f"{source}; width {width:,}")
            known[cell.id] = replace(one, width=width)
        return cell.id

    ids = {point.label: add(*_named(point, found[point.label])) for point in grid.points}
    drawn = {
        point.label: tuple(
            add(f"{point.label}-random-{number}", cell, f"drawn with {point.words}")
            for number, cell in enumerate(random.get(point.label, ()), 1)
        )
        for point in grid.points
    }
    beside = tuple(add("", cell, cell.name or cell.id) for cell in against)
    return Cells(most, ids, drawn, beside, tuple(known.values()))


def _named(point: Point, cell: Cell) -> tuple[str, Cell, str]:
    return point.label, cell, f"found with {point.words}"
