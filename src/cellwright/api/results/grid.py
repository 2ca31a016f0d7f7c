"""What a whole experiment has given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.api.results.shown import Cost, Shown
from cellwright.grids.results import GridFigures, StageResult


@dataclass(frozen=True, repr=False)
class GridFound(Shown):
    """The results of all stages; `report` is a page, with every table as a file beside it."""

    path: Path
    figures: GridFigures
    report: Path

    def __getitem__(self, stage: str) -> StageResult:
        """What a stage has given, by its name."""
        return self.figures.results[stage]

    @property
    def status(self) -> str:
        """ "ok", or that some trials or trainings failed."""
        failed = [name for name, one in self.figures.results.items() if one.failures]
        return f"failures in {', '.join(failed)}" if failed else "ok"

    @property
    def cost(self) -> Cost:
        """Of all stages together."""
        results = self.figures.results.values()
        return Cost(sum(one.seconds + one.training for one in results))

    @property
    def title(self) -> str:
        """Name, and how many stages there are."""
        many = len(self.figures.results)
        return f"grid {self.figures.recipe.name}: {many} stages, {self.status}"

    def rows(self) -> list[dict[str, Any]]:
        """One for each result in the table; values are the metric's."""
        found = []
        for row, column, one in self.figures.placed:
            costs = self.figures.costs(one)
            found.append(
                {
                    **dict(row),
                    "column": column,
                    "valid": None if one.valid is None else one.valid.mean,
                    "test": None if one.test is None else one.test.mean,
                    "test deviation": None if one.test is None else one.test.deviation,
                    "against the baseline": self.figures.against_baseline(row, column),
                    "parameters": one.parameters,
                    "search seconds": costs.search,
                    "tuning seconds": costs.tuning,
                    "training seconds": costs.training,
                }
            )
        return found
