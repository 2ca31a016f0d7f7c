"""What a study found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.api.results.shown import Cost, Shown
from cellwright.cell import Cell
from cellwright.cell.draw import svg
from cellwright.tasks.metric import Metric
from cellwright.trials.store import Ledger, Store, Study, best_trials, list_trials, read_cell

if TYPE_CHECKING:
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
    trials: Sequence[Mapping[str, Any]] = field(default=())
    best: Sequence[Mapping[str, Any]] = field(default=())

    @classmethod
    def read(
        cls,
        store: Store,
        study: Study,
        ledger: Ledger,
        random: Ledger | None,
        folder: Path | None,
        recipe: StudyRecipe,
    ) -> StudyFound:
        """What is in the store now."""
        value = study.metric.value

        def row(trial: Any) -> dict[str, Any]:
            test = trial.measures.get("test")
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

        cell = None if ledger.best is None else read_cell(store, ledger.best.cell_id)
        return cls(
            study.name, study.metric, ledger, random, folder, recipe, cell,
            tuple(map(row, list_trials(store, study))),
            tuple(map(row, best_trials(store, study, _SHOWN))),
        )  # fmt: skip

    @property
    def status(self) -> str:
        """ "ok", or that no trial has a value."""
        return "ok" if self.ledger.best is not None else "no trial has a value"

    @property
    def curve(self) -> list[float]:
        """The best value so far after each trial that has one; the metric's."""
        best, found = None, []
        better = max if self.metric.higher_is_better else min
        for row in self.trials:
            if row["valid"] is not None and row["status"] == "ok":
                best = row["valid"] if best is None else better(best, row["valid"])
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
            return f"{what}, none of which has a value"
        return f"{what}, best {self.metric.name} {self.metric.shown(self.ledger.value)}"

    def rows(self) -> list[dict[str, Any]]:
        """One for each trial; values are the metric's."""
        return [dict(row) for row in self.trials]

    def _picture(self) -> str | None:
        return None if self.cell is None else svg.render(self.cell)

    def _shown_rows(self) -> list[dict[str, Any]]:
        return [dict(row) for row in self.best]
