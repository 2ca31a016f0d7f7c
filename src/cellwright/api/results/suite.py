"""Cells that were trained on every task of a suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cellwright.api.results.comparison import Comparison
from cellwright.api.results.shown import Cost, Shown
from cellwright.cell import Cell
from cellwright.compare.failures import Failure
from cellwright.compare.suites.figures import SuiteFigures, rows
from cellwright.report.suites.words import outcome, remarks


@dataclass(frozen=True, repr=False)
class SuiteComparison(Shown):
    """Cells on many tasks, the best average first; `report` is a page that leads to those of the
    tasks, and `comparisons` has the comparison on each, by the task's label."""

    figures: SuiteFigures
    comparisons: Mapping[str, Comparison]
    report: Path

    @property
    def path(self) -> Path:
        """Where everything is kept."""
        return self.figures.folder

    @property
    def missing(self) -> Mapping[str, str]:
        """Why there is nothing of some tasks, by their labels."""
        return self.figures.missing

    @property
    def cell(self) -> Cell | None:
        """The cell that has the best validation average; None if no cell has one."""
        first = self.figures.cells[0]
        if self.figures.average(first, "valid") is None:
            return None
        return self.figures.tasks[0].of(first).contender.cell

    @property
    def status(self) -> str:
        """ "ok", or what is missing of the first task that is not."""
        bad = ((label, one.status) for label, one in self.comparisons.items() if one.status != "ok")
        return next((f"{label}: {status}" for label, status in bad), "ok")

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Trainings that came to nothing; their labels have the task's before the cell's."""
        return tuple(
            replace(failure, label=f"{label}/{failure.label}")
            for label, one in self.comparisons.items()
            for failure in one.failures
        )

    @property
    def cost(self) -> Cost:
        """Of all trainings together."""
        costs = [one.cost for one in self.comparisons.values()]
        memory = max((c.peak_memory for c in costs if c.peak_memory is not None), default=None)
        return Cost(sum(cost.seconds for cost in costs), None, memory)

    @property
    def words(self) -> list[str]:
        """What can be said, and what has to be known before it is believed."""
        return [*outcome(self.figures), *remarks(self.figures)]

    @property
    def title(self) -> str:
        """Which cell has the best average."""
        return outcome(self.figures)[0]

    def rows(self) -> list[dict[str, Any]]:
        """One for each cell, the best first: averages and scores, with their deviations."""
        return rows(self.figures)
