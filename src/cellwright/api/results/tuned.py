"""What tuning found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.api.results.shown import Cost, Shown
from cellwright.cell import Cell
from cellwright.tasks.metric import Metric
from cellwright.trials.store import Ledger

if TYPE_CHECKING:
    from cellwright.runs.recipes import Recipe
    from cellwright.search.tuning.recipes import TuneRecipe
    from cellwright.search.tuning.results import TunedTrial


@dataclass(frozen=True, repr=False)
class TuningFound(Shown):
    """The best settings, and all trials; `folder` has them as files."""

    name: str
    metric: Metric
    ledger: Ledger
    random: Ledger | None
    folder: Path | None
    recipe: TuneRecipe
    trials: tuple[TunedTrial, ...]
    best: tuple[TunedTrial, ...]
    """Those with a value, the best first."""
    best_recipe: Recipe | None
    """How to train as the best trial was trained."""
    importance: Mapping[str, float] = field(default_factory=dict)
    """How much of the differences each setting explains; empty where too few trials ended."""
    failures: tuple[str, ...] = ()
    """Why trials failed, if some did; a line for each reason."""

    @property
    def status(self) -> str:
        """ "ok"; "failed" if all trials did; "diverged" if no trial has a value otherwise."""
        if self.best:
            return "ok"
        return "failed" if self.ledger.failed == self.ledger.trials else "diverged"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Of the best trial, those that were varied."""
        return self.best[0].settings if self.best else {}

    @property
    def cell(self) -> Cell | None:
        """Of the best trial."""
        return self.best[0].cell if self.best else None

    @property
    def cost(self) -> Cost:
        """Of all trials together."""
        first = self.best[0].record if self.best else None
        return Cost(
            self.ledger.seconds,
            None if first is None else first.parameters,
            None if first is None else first.peak_memory,
        )

    @property
    def title(self) -> str:
        """Name, number of trials, and the best of them."""
        what = f"tuning {self.name}: {self.ledger.trials:,} trials"
        if not self.best:
            why = f": {self.failures[0]}" if self.failures else ""
            return f"{what}, {self.status}{why}"
        return f"{what}, best {self.metric.name} {self.metric.shown(self.best[0].loss)}"

    def rows(self) -> list[dict[str, Any]]:
        """One for each trial; values are the metric's."""
        return [self._row(trial) for trial in self.trials]

    def _row(self, trial: TunedTrial) -> dict[str, Any]:
        record, value = trial.record, self.metric.value
        has_value = trial.loss == trial.loss
        return {
            "trial": record.number,
            "status": record.status or record.state,
            "valid": value(trial.loss) if has_value else None,
            "test": value(trial.test) if trial.test == trial.test else None,
            "epochs": record.fidelity,
            "parameters": record.parameters,
            "seconds": record.seconds,
            "seed": trial.seed,
            "cell": trial.cell.name,
            **{name: each for name, each in trial.settings.items() if name != "seed"},
        }

    def _shown_rows(self) -> list[dict[str, Any]]:
        return [self._row(trial) for trial in self.best[:10]]
