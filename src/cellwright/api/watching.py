"""Who is told while work goes on.

`Watcher` says nothing. `cellwright.api.progress` shows work on a terminal or in a notebook, and the
commands have watchers of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from cellwright.base.progress import Progress
from cellwright.cell import Cell
from cellwright.compare.plan import Plan
from cellwright.engine.probe import dead_reason
from cellwright.runs.folder import RunFolder
from cellwright.runs.runner import Event
from cellwright.runs.work_folder import WorkFolder
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.search.one_shot.searching import Watcher as SearchWatcher
from cellwright.search.studies.start import Prepared
from cellwright.trials.executors import Executor
from cellwright.trials.store import Ledger, Store

Watch = Callable[[Any], None]


class Watcher(SearchWatcher):
    """Told of everything; what a method gives is entered while the work goes on.

    Beside these methods it has those for one-shot searches: `searching`, `searched`, `retraining`,
    `choosing`.
    """

    def note(self, text: str) -> None:
        """Something that people should know."""

    def warn(self, text: str) -> None:
        """Something that people should know before they trust what comes out."""

    def reading(self) -> AbstractContextManager[Progress | None]:
        """Entered while data is made ready."""
        return nullcontext()

    def training(
        self, folder: RunFolder, resumed: bool
    ) -> AbstractContextManager[Callable[[Event], None] | None]:
        """Entered for a training; what it gives is called with each event."""
        return nullcontext()

    def opened(self, folder: SearchFolder, resumed: bool) -> None:
        """Called when a one-shot search has its folder, before it begins or goes on."""

    def studying(
        self, prepared: Prepared, store: Store, executor: Executor, target: int
    ) -> AbstractContextManager[Watch | None]:
        """Entered for the trials of a study; what it gives is called with each event."""
        return nullcontext()

    def baseline_begins(self, prepared: Prepared, cost: Ledger) -> None:
        """Called before the random search at the same cost."""

    def stage(self, number: int, total: int, what: str, left: float | None) -> None:
        """Called when a stage of a grid begins; `left` are the seconds that the whole will take."""

    def planned(self, plan: Plan) -> None:
        """Called when it is settled what is compared, before anything is trained."""

    def comparing(self, plan: Plan, workers: int) -> AbstractContextManager[Watch | None]:
        """Entered for the trainings of a comparison; what it gives is called with each event."""
        return nullcontext()


def say_differences(folder: WorkFolder[Any], told: Watcher) -> None:
    """Say what is not as it was when work was begun that goes on now."""
    for difference in folder.info.differences():
        told.warn(f"{difference}: the last bits may come out differently")


def say_dead(cell: Cell, what: str, told: Watcher) -> None:
    """Say so if a cell cannot learn.

    Args:
        cell: the cell.
        what: what to call it.
        told: who is told.
    """
    reason = dead_reason(cell)
    if reason is not None:
        told.warn(f"{what} cannot learn: {reason}")
