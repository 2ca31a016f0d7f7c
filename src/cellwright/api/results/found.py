"""What a one-shot search found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cellwright.api.results.shown import Cost, Shown
from cellwright.base.amounts import duration
from cellwright.cell import Cell
from cellwright.cell.draw import svg
from cellwright.search.one_shot.choosing import Candidate, choice_seconds, search_seconds
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.tasks.metric import Metric
from cellwright.training.advice import advice


@dataclass(frozen=True, repr=False)
class Found(Shown):
    """What a one-shot search found, in its folder; of the `candidates` the first was chosen."""

    folder: SearchFolder
    candidates: tuple[Candidate, ...]

    @property
    def path(self) -> Path:
        """Where everything is kept."""
        return self.folder.path

    @cached_property
    def cell(self) -> Cell:
        """The cell that came out."""
        return self.folder.found()

    @property
    def metric(self) -> Metric:
        """What its losses are shown as."""
        return self.folder.info.metric

    @property
    def status(self) -> str:
        """ "ok", or what went wrong with the seed whose cell was chosen."""
        return self.candidates[0].status

    @cached_property
    def curve(self) -> list[dict[str, Any]]:
        """The record of each epoch of that seed's search."""
        records = self.folder.seed_folder(self.candidates[0].seed).metrics()
        return [record for record in records if record.get("kind") == "epoch"]

    @property
    def advice(self) -> str | None:
        """What to change if it diverged; None if it did not."""
        rate = self.folder.info.recipe.search.learning_rate
        return advice(self.candidates[0].status, "search", rate)

    @property
    def cost(self) -> Cost:
        """Of all seeds, and of the choice among what they found."""
        seconds = self.search_seconds + self.choice_seconds
        figures = self.folder.seed_folder(self.candidates[0].seed).figures()
        return Cost(seconds, figures["parameters"], figures["peak_memory"])

    @property
    def search_seconds(self) -> float:
        """The time that the searches of all seeds took."""
        return search_seconds(self.candidates)

    @property
    def choice_seconds(self) -> float:
        """The time that the choice among the candidates took, by training them."""
        return choice_seconds(self.candidates)

    @property
    def title(self) -> str:
        """Recipe, data, status and cell."""
        info = self.folder.info
        where = f"{info.recipe.name} on {Path(info.data.name).name}"
        return f"{where}: {self.status}, found {self.cell.id} in {duration(self.cost.seconds)}"

    def rows(self) -> list[dict[str, Any]]:
        """One for each candidate, the chosen one first; values are the metric's.

        "seconds" are those of its training and, of what a seed found, those of the search.
        """
        value = self.metric.value
        return [
            {
                "seed": one.seed,
                "candidate": one.origin,
                "cell": one.cell_id,
                "status": one.status,
                "while searching": value(one.supernet),
                "retrained": None if one.retrained is None else value(one.retrained),
                "epochs": one.epochs,
                "seconds": one.seconds * (one.number == 1) + one.retraining_seconds,
            }
            for one in self.candidates
        ]

    def _picture(self) -> str | None:
        return svg.render(self.cell)
