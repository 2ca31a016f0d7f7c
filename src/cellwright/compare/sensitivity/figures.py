"""What came out: the figures of every point, for reports and programs (`points.json`, `.csv`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps
from cellwright.base.statistics import Spread
from cellwright.compare.export import csv_text, spread_columns, spread_values
from cellwright.compare.plan import Plan
from cellwright.compare.results import Standing
from cellwright.compare.sensitivity.contenders import Cells
from cellwright.compare.sensitivity.grid import Axis, Grid, Point

FORMAT = "cellwright-sensitivity-points/1"


@dataclass(frozen=True)
class PointFigures:
    """A point: how its search ended, and the cells that belong to it."""

    point: Point
    search: str
    found: Standing
    random: tuple[Standing, ...]

    @property
    def random_valid(self) -> Spread | None:
        """The spread over the random cells, each of which counts with its mean over the seeds."""
        return Spread.of([one.valid.mean for one in self.random if one.valid is not None])


@dataclass(frozen=True)
class Figures:
    """All of it; `points` by their labels."""

    plan: Plan
    grid: Grid
    parameters: int
    points: Mapping[str, PointFigures]
    against: tuple[Standing, ...]

    def along(self, axis: Axis) -> list[tuple[int, PointFigures]]:
        """The points of an axis by their values."""
        return [(value, self.points[point.label]) for value, point in self.grid.along(axis)]

    def best(self, axis: Axis) -> int | None:
        """The value of the best mean on the validation data; None if no point has a result."""
        sign = -1 if self.plan.metric.higher_is_better else 1
        means = [
            (sign * one.found.valid.mean, value)
            for value, one in self.along(axis)
            if one.found.valid is not None
        ]
        return min(means)[1] if means else None


def figures(
    plan: Plan,
    grid: Grid,
    cells: Cells,
    standings: Sequence[Standing],
    searches: Mapping[str, str],
) -> Figures:
    """Put together what was trained and how each point's search ended."""
    by_id = {one.contender.cell.id: one for one in standings}
    points = {
        point.label: PointFigures(
            point,
            searches[point.label],
            by_id[cells.found[point.label]],
            tuple(by_id[id] for id in cells.random[point.label]),
        )
        for point in grid.points
    }
    return Figures(plan, grid, cells.parameters, points, tuple(by_id[id] for id in cells.against))


def write_points(found: Figures) -> None:
    """Write all figures into the folder."""
    folder = found.plan.folder
    text = dumps(as_json(found), indent=2)
    write_whole(folder / "points.json", text.encode("utf-8", "backslashreplace") + b"\n")
    write_whole(folder / "points.csv", csv_text(rows(found)))


def rows(found: Figures) -> list[dict[str, Any]]:
    """A flat row for each point, then for each of the cells beside them."""
    table = [_row(one) for one in found.points.values()]
    nothing = dict.fromkeys(table[0])
    return [*table, *({**nothing, **_standing_row(one)} for one in found.against)]


def as_json(found: Figures) -> dict[str, Any]:
    """All figures as JSON values; those of every training are in the comparison's results."""
    metric = found.plan.metric
    return {
        "format": FORMAT,
        "search": found.grid.recipe.name,
        "training": found.plan.recipe.name,
        "metric": {"name": metric.name, "higher_is_better": metric.higher_is_better},
        "parameters": found.parameters,
        "seeds": list(found.plan.seeds),
        "recipe": found.grid.base.label,
        "vary": [
            {
                "setting": axis.setting,
                "values": list(axis.values),
                "points": [one.point.label for _, one in found.along(axis)],
                "best": found.best(axis),
            }
            for axis in found.grid.axes
        ],
        "points": [
            {
                "label": one.point.label,
                "counts": dict(one.point.counts),
                "search": one.search,
                "found": _standing(one.found),
                "random": [_standing(each) for each in one.random],
            }
            for one in found.points.values()
        ],
        "against": [_standing(one) for one in found.against],
    }


def _standing(one: Standing) -> dict[str, Any]:
    return {
        **_cell(one),
        "valid": spread_values(one.valid),
        "test": spread_values(one.test),
    }


def _standing_row(one: Standing) -> dict[str, Any]:
    return {
        **_cell(one),
        **spread_columns("valid", one.valid),
        **spread_columns("test", one.test),
    }


def _cell(one: Standing) -> dict[str, Any]:
    return {
        "label": one.label,
        "cell": one.contender.cell.id,
        "width": one.contender.width,
        "parameters": one.parameters,
    }


def _row(one: PointFigures) -> dict[str, Any]:
    return {
        "point": one.point.label,
        **dict(one.point.counts),
        "search": one.search,
        **_standing_row(one.found),
        "random_cells": len(one.random),
        **spread_columns("random_valid", one.random_valid),
    }
