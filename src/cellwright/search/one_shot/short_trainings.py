"""The short trainings by which a search chooses: one after the other, or side by side.

A search that has several threads has as many of them at once, each on a thread of its own: for
trainings that have nothing to do with each other that is faster than threads within each. What
comes out is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal

from cellwright.base.cores import cores
from cellwright.base.signals import stop_requests
from cellwright.base.threads import threads_for
from cellwright.cell import Cell
from cellwright.runs.curves import curve_of
from cellwright.runs.errors import RunError, Stopped
from cellwright.runs.folder import RunFolder
from cellwright.runs.lost_files import or_move_away
from cellwright.runs.run import Run, fresh_run, reopen
from cellwright.runs.runner import Event, train
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.search.one_shot.halving import Rung
from cellwright.search.one_shot.proposals import Proposal
from cellwright.training.results import best_of
from cellwright.trials.batch import Batch
from cellwright.trials.executors import Call, Executor
from cellwright.trials.executors.choosing import executor_by_name
from cellwright.trials.run_jobs import stop_is_passed_on, wait_until_free

_SAVE_SECONDS = 30.0
"""How long trainings that are stopped may take to save where they are."""


@dataclass(frozen=True)
class Tried:
    """What happened to one of the trainings that go on side by side.

    `loss` is that of a training that has ended, `message` says why one has to be tried again.
    """

    proposal: Proposal
    kind: Literal["begun", "ended", "again"]
    epochs: int
    loss: float = math.nan
    message: str = ""


class ChoiceWatcher:
    """Who is told while candidates are trained. This one says nothing."""

    def retraining(
        self, folder: RunFolder, resumed: bool
    ) -> AbstractContextManager[Callable[[Event], None] | None]:
        """Entered for each short training, if one follows the other; what it gives is called with
        each event."""
        return nullcontext()

    def choosing(
        self, folder: SearchFolder, plan: Sequence[Rung], workers: int
    ) -> AbstractContextManager[Callable[[Tried], None] | None]:
        """Entered for all of them, if they are side by side; what it gives is called with each
        event."""
        return nullcontext()


Train = Callable[[Sequence[Proposal], int], list[float]]
"""Trains some candidates up to an epoch, and gives their losses."""


@contextmanager
def short_trainings(
    folder: SearchFolder, plan: Sequence[Rung], watcher: ChoiceWatcher, checkpoint: float
) -> Iterator[Train]:
    """What trains the candidates of a search, as many at once as the search has threads."""
    workers = min(folder.info.threads, cores(), plan[0].cells)
    if workers > 1:
        with (
            watcher.choosing(folder, plan, workers) as told,
            stop_requests() as stop,
            executor_by_name("local", workers=workers) as executor,
        ):
            yield _SideBySide(folder, executor, told or _ignore, lambda: stop.signal, checkpoint)
        return

    def one_by_one(proposals: Sequence[Proposal], epochs: int) -> list[float]:
        with threads_for(1):
            runs = [
                retrained(folder, each, epochs, watcher.retraining, checkpoint)
                for each in proposals
            ]
        return [loss_at(run, epochs) for run in runs]

    yield one_by_one


class _SideBySide:
    """Trains candidates in processes."""

    def __init__(
        self,
        folder: SearchFolder,
        executor: Executor,
        told: Callable[[Tried], None],
        stopped: Callable[[], int | None],
        checkpoint: float,
    ) -> None:
        self._folder, self._executor, self._told = folder, executor, told
        self._stopped, self._checkpoint = stopped, checkpoint

    def __call__(self, proposals: Sequence[Proposal], epochs: int) -> list[float]:
        """Train some of them up to an epoch; their losses."""
        calls = {each: self._call(each, epochs) for each in proposals}
        batch = Batch(calls, self._executor, alone=False)
        while not batch.is_over:
            signal = self._stopped()
            if signal is not None:
                self._executor.cancel(_SAVE_SECONDS)
                raise Stopped(self._folder.path, signal, self._folder.go_on)
            for happened in batch.move_on():
                proposal = happened.key
                if happened.kind == "failed":
                    self._executor.cancel(_SAVE_SECONDS)
                    where = self._folder.retraining_path(proposal.seed, proposal.number)
                    raise RunError(f"{where}: {happened.message or happened.ending}")
                assert happened.kind != "stopped"  # by a person; here only we hear that
                ended = happened.kind == "ended"
                loss = self._loss(proposal, epochs) if ended else math.nan
                self._told(Tried(proposal, happened.kind, epochs, loss, happened.message))
        return [self._loss(each, epochs) for each in proposals]

    def _call(self, proposal: Proposal, epochs: int) -> Call:
        return Call(
            "cellwright.search.one_shot.short_trainings:retrain_candidate",
            {
                "folder": str(self._folder.path.absolute()),
                "seed": proposal.seed,
                "number": proposal.number,
                "cell": proposal.cell.to_json(),
                "epochs": epochs,
                "checkpoint": self._checkpoint,
            },
        )

    def _loss(self, proposal: Proposal, epochs: int) -> float:
        run = self._folder.retraining(proposal.seed, proposal.number)
        assert run is not None
        return loss_at(run, epochs)


def retrain_candidate(
    folder: str, seed: int, number: int, cell: str, epochs: int, checkpoint: float
) -> None:
    """Train a candidate up to an epoch, in a process of its own."""
    search = SearchFolder.open(folder)
    proposal = Proposal(seed, number, "", Cell.from_json(cell))
    wait_until_free(search.retraining_path(seed, number))
    with threads_for(1), stop_is_passed_on():
        retrained(search, proposal, epochs, ChoiceWatcher().retraining, checkpoint)


def retrained(
    folder: SearchFolder,
    proposal: Proposal,
    epochs: int,
    watched: Callable[[RunFolder, bool], AbstractContextManager[Callable[[Event], None] | None]],
    checkpoint: float,
) -> RunFolder:
    """Train a candidate up to an epoch, from where it is.

    Raises:
        Stopped: Ctrl-C was pressed; the folder has everything.
        RunError: its folder is another cell's, or damaged.
    """
    seed, number = proposal.seed, proposal.number
    there = folder.retraining(seed, number)
    recipe = folder.info.recipe.short_training()
    if there is not None:
        if there.info.cell.id != proposal.cell.id:
            raise RunError(
                f"{there.path} is of another cell than candidate {number} of seed {seed}, "
                f"{proposal.cell.id}; move it away"
            )
        goes_on = epochs < recipe.training.epochs  # else it has to come to its end
        if there.ended or (goes_on and len(curve_of(there)) >= epochs):
            return there
    run: Run
    if there is not None:
        with or_move_away(there.path, f"'{folder.go_on}'"):
            run = reopen(there.path)
    else:
        path = folder.retraining_path(seed, number)
        run = fresh_run(proposal.cell, recipe, seed, path=path, backend=folder.info.backend)
    with watched(run.folder, there is not None) as watch:
        train(
            run.folder,
            run.training,
            watch=watch,
            checkpoint_seconds=checkpoint,
            pause_after=epochs,
        )
    return run.folder


def loss_at(run: RunFolder, epochs: int) -> float:
    """The best loss of a run up to an epoch; infinite where there is none."""
    best = best_of(curve_of(run)[:epochs])
    return math.inf if best is None else best.valid


def _ignore(event: Tried) -> None:
    pass
