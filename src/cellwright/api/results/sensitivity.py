"""What cells are worth that a search finds in smaller and larger spaces."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.api.results.comparison import Comparison
from cellwright.api.results.shown import Cost, Shown
from cellwright.compare.failures import Failure
from cellwright.compare.sensitivity.figures import Figures, rows
from cellwright.report.drawing import PlotError
from cellwright.report.sensitivity import best_words, sensitivity


@dataclass(frozen=True, repr=False)
class Sensitivity(Shown):
    """A recipe's search with its settings varied; `comparison` has the trainings."""

    figures: Figures
    comparison: Comparison

    @property
    def path(self) -> Path:
        """Where everything is kept."""
        return self.comparison.path

    @property
    def report(self) -> Path:
        """A page with everything."""
        return self.comparison.report

    @property
    def parameters(self) -> int:
        """That each model has at most."""
        return self.figures.parameters

    @property
    def best(self) -> dict[str, int | None]:
        """The value of each setting that has the best mean on the validation data."""
        return {axis.setting: self.figures.best(axis) for axis in self.figures.grid.axes}

    @property
    def status(self) -> str:
        """ "ok", or what is missing of the trainings."""
        return self.comparison.status

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Trainings that came to nothing."""
        return self.comparison.failures

    @property
    def cost(self) -> Cost:
        """Of all trainings together; the searches say their own."""
        return self.comparison.cost

    @property
    def words(self) -> list[str]:
        """What can be said, and what has to be known before it is believed."""
        return [*best_words(self.figures), *self.comparison.words]

    @property
    def title(self) -> str:
        """What did best."""
        return " ".join(best_words(self.figures)) or "No cell has a result."

    def rows(self) -> list[dict[str, Any]]:
        """One for each point, then one for each cell beside them; values are the metric's."""
        return rows(self.figures)

    def _picture(self) -> str | None:
        try:
            drawn = sensitivity(self.figures)
        except PlotError:
            return None
        return None if drawn is None else drawn.decode()
