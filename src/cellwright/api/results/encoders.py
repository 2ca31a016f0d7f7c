"""Frozen language models that encode sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.api.results.shown import Cost, Shown
from cellwright.api.results.suite import SuiteComparison
from cellwright.cell import Cell
from cellwright.compare.encoders.figures import EncoderFigures
from cellwright.compare.failures import Failure
from cellwright.report.encoders.tables import ranked
from cellwright.report.encoders.words import outcome, remarks


@dataclass(frozen=True, repr=False)
class EncoderComparison(Shown):
    """Language models as encoders, the best flat mean first; `heads` has the trainings on all
    tasks."""

    figures: EncoderFigures
    heads: SuiteComparison

    @property
    def report(self) -> Path:
        """A page that leads to those of the tasks."""
        return self.heads.report

    @property
    def path(self) -> Path:
        """Where everything is kept."""
        return self.heads.path

    @property
    def missing(self) -> Mapping[str, str]:
        """Why there is nothing of some tasks, by their labels."""
        return self.heads.missing

    @property
    def cell(self) -> Cell | None:
        """That of the best model; None if there is no result of any."""
        known = {one.label: one.cell for one in self.figures.encoders}
        return next((known[label] for label in ranked(self.figures) if label in known), None)

    @property
    def status(self) -> str:
        """ "ok", or what is missing of the first task that is not."""
        return self.heads.status

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Trainings that came to nothing; their labels have the task's before the encoder's."""
        return self.heads.failures

    @property
    def cost(self) -> Cost:
        """Of all trainings together; those of the language models are not counted."""
        return self.heads.cost

    @property
    def words(self) -> list[str]:
        """What can be said, and what has to be known before it is believed."""
        return [*outcome(self.figures), *remarks(self.figures)]

    @property
    def title(self) -> str:
        """Which model is the best encoder."""
        return outcome(self.figures)[0]

    def rows(self) -> list[dict[str, Any]]:
        """One for each model and baseline, the best first: its measures by name, and of a model
        its perplexity on the validation text."""
        found = self.figures
        known = {one.label: one.perplexity for one in found.encoders}
        return [
            {
                "encoder": label,
                "perplexity": known.get(label),
                **{str(each): found.value(label, each) for each in found.measures},
            }
            for label in ranked(found)
        ]
