"""What a study found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.api.results.shown import Cost, Shown
from cellwright.cell import Cell
from cellwright.cell.draw import svg
from cellwright.tasks.metric import Metric
from cellwright.trials.store import (
    Ledger,
    Store,
    Study,
    TrialRecord,
    best_trials,
    cell_of,
    failure_reasons,
    find_study,
    list_trials,
)

if TYPE_CHECKING:
    from cellwright.search.studies.final import FinalResult
    from cellwright.search.studies.recipes import StudyRecipe

_SHOWN = 10
"""Trials that a notebook shows, the best ones."""


@dataclass(frozen=True, repr=False)
class StudyFound(Shown):
    """What a study found; `folder` has the best cell, its picture and the ledger."""

    name: str
    metric: Metric
    ledger: Ledger
    random: Ledger | None
    folder: Path | None
    recipe: StudyRecipe
    cell: Cell | None
    trials: tuple[TrialRecord, ...] = ()
    best: tuple[TrialRecord, ...] = ()
    failures: tuple[str, ...] = ()
    """Why trials failed, if some did; a line for each reason."""
    random_failures: tuple[str, ...] = ()
    """The same of the random search."""
    final: FinalResult | None = None
    """The comparison at the end, if the recipe has one; `cell` is its winner then."""

    @classmethod
    def read(
        cls,
        store: Store,
        study: Study,
        ledger: Ledger,
        random: Ledger | None,
        folder: Path | None,
        recipe: StudyRecipe,
        final: FinalResult | None = None,
    ) -> StudyFound:
        """What is in the store now."""
        cell = None if ledger.best is None else cell_of(store, study, ledger.best)
        if final is not None and final.winner is not None:
            cell = final.winner.cell
        return cls(
            study.name,
            study.metric,
            ledger,
            random,
            folder,
            recipe,
            cell,
            tuple(list_trials(store, study)),
            tuple(best_trials(store, study, _SHOWN)),
            _failures(store, ledger),
            _failures(store, random),
            final,
        )

    @property
    def status(self) -> str:
        """ "ok"; "failed" if all trials did, for the reasons in `failures`; "diverged" if no trial
        has a value though not all failed."""
        if self.ledger.best is not None:
            return "ok"
        return "failed" if self.ledger.failed == self.ledger.trials else "diverged"

    @property
    def curve(self) -> list[float]:
        """The best value so far after each trial that has one; the metric's."""
        best: float | None = None
        found: list[float] = []
        better = max if self.metric.higher_is_better else min
        for trial in self.trials:
            if trial.value is not None and trial.status == "ok":
                value = self.metric.value(trial.value)
                best = value if best is None else better(best, value)
                found.append(best)
        return found

    @property
    def cost(self) -> Cost:
        """Of all trials together."""
        best = self.ledger.best
        return Cost(
            self.ledger.seconds,
            None if best is None else best.parameters,
            None if best is None else best.peak_memory,
        )

    @property
    def title(self) -> str:
        """Name, number of trials, and the best of them."""
        what = f"study {self.name}: {self.ledger.trials:,} trials"
        if self.ledger.value is None:
            why = f": {self.failures[0]}" if self.failures else ""
            return f"{what}, no cell: {self.status}{why}"
        return f"{what}, best {self.metric.name} {self.metric.shown(self.ledger.value)}"

    def rows(self) -> list[dict[str, Any]]:
        """One for each trial; values are the metric's."""
        return [self._row(trial) for trial in self.trials]

    def _row(self, trial: TrialRecord) -> dict[str, Any]:
        value, test = self.metric.value, trial.measures.get("test")
        return {
            "trial": trial.number,
            "cell": trial.cell_id,
            "status": trial.status or trial.state,
            "valid": None if trial.value is None else value(trial.value),
            "test": None if test is None else value(test),
            "epochs": trial.fidelity,
            "parameters": trial.parameters,
            "seconds": trial.seconds,
        }

    def _picture(self) -> str | None:
        return None if self.cell is None else svg.render(self.cell)

    def _shown_rows(self) -> list[dict[str, Any]]:
        return [self._row(trial) for trial in self.best]


def _failures(store: Store, ledger: Ledger | None) -> tuple[str, ...]:
    if ledger is None or not ledger.failed:
        return ()
    return tuple(failure_reasons(store, find_study(store, ledger.study)))
