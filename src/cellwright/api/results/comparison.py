"""Cells that were trained side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.api.results.shown import Cost, Shown
from cellwright.cell import Cell
from cellwright.compare.failures import Failure
from cellwright.compare.plan import Plan
from cellwright.compare.results import Standing
from cellwright.report.comparison.curves import curves
from cellwright.report.comparison.words import outcome, remarks
from cellwright.report.drawing import PlotError
from cellwright.tasks.metric import Metric
from cellwright.training.results import EpochRecord


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Cells side by side, best first; `report` is a page with everything."""

    plan: Plan
    standings: tuple[Standing, ...]
    report: Path
    failures: tuple[Failure, ...] = ()

    @property
    def path(self) -> Path:
        """Where everything is kept."""
        return self.plan.folder

    @property
    def metric(self) -> Metric:
        """What its losses are shown as."""
        return self.plan.metric

    @property
    def cell(self) -> Cell | None:
        """The cell that did best; None if no cell has a result."""
        first = self.standings[0]
        return None if first.valid is None else first.contender.cell

    @property
    def status(self) -> str:
        """ "ok"; "failed" if all trainings did, "diverged" if no cell has a result otherwise; else
        how many trainings are missing."""
        missing = sum(len(one.missing) + len(one.failed) for one in self.standings)
        if self.cell is None:
            return "failed" if missing == len(self.plan.runs) else "diverged"
        return "ok" if not missing else f"{missing} trainings have no result"

    @property
    def curve(self) -> dict[str, list[tuple[EpochRecord, ...]]]:
        """The curves of every cell, one for each seed."""
        return {one.label: [run.result.curve for run in one.runs] for one in self.standings}

    @property
    def cost(self) -> Cost:
        """Of all trainings together."""
        results = [run.result for one in self.standings for run in one.runs]
        memory_ = max((result.peak_memory for result in results), default=None)
        return Cost(sum(result.seconds for result in results), None, memory_)

    @property
    def words(self) -> list[str]:
        """What can be said, and what has to be known before it is believed."""
        return [outcome(self.plan, self.standings), *remarks(self.plan, self.standings)]

    @property
    def title(self) -> str:
        """The outcome."""
        return outcome(self.plan, self.standings)

    def rows(self) -> list[dict[str, Any]]:
        """One for each cell, best first; values are the metric's."""
        return [
            {
                "cell": one.label,
                "parameters": one.parameters,
                "valid": None if one.valid is None else one.valid.mean,
                "valid_deviation": None if one.valid is None else one.valid.deviation,
                "test": None if one.test is None else one.test.mean,
                "test_deviation": None if one.test is None else one.test.deviation,
                "seeds": len(one.runs),
                "seconds": one.seconds,
                "peak_memory": one.peak_memory,
            }
            for one in self.standings
        ]

    def _picture(self) -> str | None:
        try:
            drawn = curves(self.plan, self.standings)
        except PlotError:
            return None
        return None if drawn is None else drawn.decode()
