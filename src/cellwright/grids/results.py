"""What the stages of a grid have given, and the table that they make together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellwright.base.statistics import Finding, Spread, difference
from cellwright.cell import Cell
from cellwright.grids.recipes import GridRecipe, SearchStage, Stage, TrainStage, TuneStage
from cellwright.runs.recipes import Recipe
from cellwright.tasks.metric import Metric

Row = tuple[tuple[str, str], ...]
"""What a row of the table says, under each heading."""


@dataclass(frozen=True)
class StageResult:
    """What a stage has given.

    Args:
        name: of the stage.
        stage: what it was to do.
        cells: that it gives to others.
        seconds: that its search or its tuning took, all trials together.
        trials: of tuning, or of a study.
        recipe: with the best settings, of a stage that tunes.
        settings: that were tuned, at their best.
        best: the value of the best trial on the validation data; the metric's.
        random: the same of a random search at the same cost, if there was one.
        metric: what values are of.
        cell: that stands in the table.
        valid: its values over the seeds on the validation data.
        test: on the test data.
        training: the seconds of these trainings together.
        parameters: of the model in the table.
        failures: why trials or trainings failed, if some did.
    """

    name: str
    stage: Stage
    cells: tuple[Cell, ...] = ()
    seconds: float = 0.0
    trials: int = 0
    recipe: Recipe | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    best: float | None = None
    random: float | None = None
    metric: Metric | None = None
    cell: Cell | None = None
    valid: Spread | None = None
    test: Spread | None = None
    training: float = 0.0
    parameters: int | None = None
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Costs:
    """Seconds of the searches that a result stands on, of its tuning, and of its trainings."""

    search: float
    tuning: float
    training: float


@dataclass(frozen=True)
class GridFigures:
    """A grid's results so far."""

    recipe: GridRecipe
    results: Mapping[str, StageResult]

    @property
    def placed(self) -> list[tuple[Row, str, StageResult]]:
        """What stands in the table: row, column, and the result."""
        return [
            (self._row(one.stage.row), one.stage.column, one)
            for one in self.results.values()
            if isinstance(one.stage, TuneStage | TrainStage) and one.stage.row
        ]

    @property
    def headings(self) -> list[str]:
        """What rows say."""
        stages = (
            stage
            for stage in self.recipe.stages.values()
            if isinstance(stage, TuneStage | TrainStage)
        )
        return list(dict.fromkeys(name for stage in stages for name in stage.row))

    def _row(self, said: Mapping[str, str]) -> Row:
        """A row in the order of the headings, whatever order it was written in."""
        return tuple((name, said.get(name, "")) for name in self.headings)

    @property
    def rows(self) -> list[Row]:
        """The rows, in the order of the stages."""
        return list(dict.fromkeys(row for row, _, _ in self.placed))

    @property
    def columns(self) -> list[str]:
        """The columns, in the order of the stages."""
        return list(dict.fromkeys(column for _, column, _ in self.placed))

    def at(self, row: Row, column: str) -> StageResult | None:
        """What stands in a place; of several the last."""
        found = [one for *place, one in self.placed if tuple(place) == (row, column)]
        return found[-1] if found else None

    def against_baseline(self, row: Row, column: str) -> Finding | None:
        """How a result's test values stand to the baseline's in the same column."""
        base = self._row(self.recipe.baseline)
        one, other = self.at(row, column), self.at(base, column)
        if not self.recipe.baseline or row == base or one is None or other is None:
            return None
        if one.test is None or other.test is None:
            return None
        return difference(one.test, other.test).finding

    def costs(self, result: StageResult) -> Costs:
        """What a result has cost, with what it stands on."""
        on = [self.results[name] for name in self._below(result.name) if name in self.results]
        search = sum(one.seconds for one in on if isinstance(one.stage, SearchStage))
        tuned = sum(one.seconds for one in on if isinstance(one.stage, TuneStage))
        own = result.seconds if isinstance(result.stage, TuneStage) else 0.0
        return Costs(search, tuned + own, result.training)

    def _below(self, name: str) -> Sequence[str]:
        """The stages that one stands on, directly or not."""
        found: dict[str, None] = {}
        todo = [other for _, other in self.recipe.stages[name].others()]
        while todo:
            other = todo.pop()
            if other not in found:
                found[other] = None
                todo += [each for _, each in self.recipe.stages[other].others()]
        return list(found)
