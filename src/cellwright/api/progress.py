"""What people see of work that they began from Python: lines on a terminal, or in a notebook.

Where neither is there, in a script whose output goes to a file, nothing is shown unless it asks for
`everywhere()`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cellwright.api.watching import Watch, Watcher
from cellwright.base.amounts import duration
from cellwright.base.errors import UserError
from cellwright.base.progress import Progress
from cellwright.compare.plan import Plan
from cellwright.compare.running import Event as CompareEvent
from cellwright.compare.running import missing
from cellwright.runs.folder import RunFolder
from cellwright.search.one_shot.folder import SearchFolder, SeedFolder
from cellwright.search.one_shot.halving import Rung
from cellwright.search.studies.start import Prepared
from cellwright.tasks.metric import Metric
from cellwright.trials.executors import Executor
from cellwright.trials.outcome import OK, Outcome
from cellwright.trials.store import Ledger, Store
from cellwright.trials.study import AttemptFailed, StoreBack, StoreLost, TrialFinished


def chosen(watcher: Watcher | None, progress: bool) -> Watcher:
    """Who is told: the watcher that was given, one that shows, or nobody."""
    if watcher is not None:
        return watcher
    show = _screen() if progress else None
    return Watcher() if show is None else Lines(show)


def everywhere() -> Watcher:
    """A watcher that shows work in any case: elsewhere, a line for each epoch or trial."""
    return Lines(_screen() or _Plain())


class Lines(Watcher):
    """Shows work as one line that changes, and a line that stays for each epoch or trial."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def note(self, text: str) -> None:
        self._screen.keep(text)

    def warn(self, text: str) -> None:
        self._screen.keep(text)

    @contextmanager
    def reading(self) -> Iterator[Progress]:
        def show(what: str, done: int, total: int) -> None:
            share = f" {100 * done // total} %" if total else ""
            self._screen.change(f"{what}{share}")

        try:
            yield show
        finally:
            self._screen.change("")

    @contextmanager
    def training(self, folder: RunFolder, resumed: bool) -> Iterator[Watch]:
        info = folder.info
        name = info.cell.name or info.cell.id
        begin = "going on in" if resumed else "into"
        self._screen.keep(f"{name} on {info.data.name}: {begin} {folder.path}")
        yield self._epochs(info.metric, f"of {info.recipe.training.epochs}")
        self._screen.change("")

    @contextmanager
    def searching(self, folder: SeedFolder, resumed: bool) -> Iterator[Watch]:
        info = folder.info
        begin = "going on in" if resumed else "into"
        self._screen.keep(f"{info.recipe.name} on {info.data.name}: {begin} {folder.path}")
        yield self._epochs(info.metric, "")
        self._screen.change("")

    def searched(self, folder: SeedFolder) -> None:
        from cellwright.report.search_pictures import draw_search

        try:
            draw_search(folder)
        except UserError as error:
            self.note(f"no pictures: {error}")

    @contextmanager
    def retraining(self, folder: RunFolder, resumed: bool) -> Iterator[Watch]:
        with self.training(folder, resumed) as watch:
            yield watch

    @contextmanager
    def choosing(self, folder: SearchFolder, plan: Sequence[Rung], workers: int) -> Iterator[Watch]:
        metric, total, ended = folder.info.metric, sum(rung.cells for rung in plan), 0

        def watch(event: Any) -> None:
            nonlocal ended
            proposal = event.proposal
            line = f"candidate {proposal.number} of seed {proposal.seed} ({proposal.origin})"
            if event.kind != "ended":
                self._screen.change(f"{line}: {event.kind}")
                return
            ended += 1
            epochs = f"{event.epochs} epoch{'' if event.epochs == 1 else 's'}"
            came = f"{metric.name} {metric.shown(event.loss)} after {epochs}"
            self._screen.keep(f"{line}: {came}   ({ended} of {total})")

        yield watch
        self._screen.change("")

    @contextmanager
    def studying(
        self, prepared: Prepared, store: Store, executor: Executor, target: int
    ) -> Iterator[Watch]:
        metric, ended = prepared.task.metric, 0
        self._screen.keep(f"{prepared.name}: {target} trials, kept in {store.title}")

        def watch(event: Any) -> None:
            nonlocal ended
            if isinstance(event, StoreLost | StoreBack):
                self._screen.keep(event.message)
            if isinstance(event, AttemptFailed) and not event.again:
                why = (event.message or event.ending).splitlines()[0]
                self._screen.keep(f"trial {event.number} failed: {why}")
            if not isinstance(event, TrialFinished):
                return
            ended += 1
            outcome = Outcome.from_json(event.outcome)
            fine = outcome.status == OK
            came = f"{metric.name} {metric.shown(outcome.value)}" if fine else outcome.status
            self._screen.change(f"trial {event.number}: {came}   ({ended} ended here)")

        yield watch
        self._screen.change("")

    def baseline_begins(self, prepared: Prepared, cost: Ledger) -> None:
        self._screen.keep(f"random search at the same cost, {cost.epochs:,} epochs")

    def planned(self, plan: Plan) -> None:
        total, todo = len(plan.runs), len(missing(plan))
        there = "" if todo == total else f", {total - todo} of them done before"
        self._screen.keep(f"{total} trainings{there}, into {plan.folder}")

    @contextmanager
    def comparing(self, plan: Plan, workers: int) -> Iterator[Watch]:
        total = len(plan.runs)
        ended = total - len(missing(plan))

        def watch(event: CompareEvent | None) -> None:
            nonlocal ended
            if event is None:
                return
            line = f"{event.label}, seed {event.seed}: {event.kind}"
            if event.kind in ("ended", "failed"):
                ended += 1
                self._screen.keep(f"{line}{_figures(plan, event)}   ({ended} of {total})")
            else:
                self._screen.change(line)

        yield watch
        self._screen.change("")

    def _epochs(self, metric: Metric, of: str) -> Watch:
        def watch(event: Any) -> None:
            if event.ends_epoch:
                record = getattr(event, "record", event)
                self._screen.keep(
                    f"epoch {event.epoch:>4} {of}  train {metric.train_shown(record.train):>9}  "
                    f"valid {metric.shown(record.valid):>9}  {duration(record.seconds):>10}"
                )
            else:
                name = metric.name if metric.is_learned_from else "loss"
                self._screen.change(
                    f"epoch {event.epoch}, step {event.step:,} of {event.steps:,}, "
                    f"{name} {metric.train_shown(event.loss)}"
                )

        return watch


def _figures(plan: Plan, event: CompareEvent) -> str:
    """What came out of a training that has ended."""
    run = plan.run(event.label, event.seed)
    result = None if run is None else run.result()
    if result is None:
        return ""
    shown = plan.metric.shown
    return f", {plan.metric.name} {shown(result.valid)} valid, {shown(result.test)} test"


class Screen:
    """Where lines go: those that stay, and below them one that changes."""

    def keep(self, line: str) -> None:
        """Add a line."""
        raise NotImplementedError

    def change(self, line: str) -> None:
        """Replace the last line; with an empty one, remove it."""
        raise NotImplementedError


class _Terminal(Screen):
    _ERASE = "\r\x1b[2K"

    def keep(self, line: str) -> None:
        print(f"{self._ERASE}{line}", file=sys.stderr)

    def change(self, line: str) -> None:
        width = 100
        print(f"{self._ERASE}{line[:width]}", end="", file=sys.stderr, flush=True)


class _Plain(Screen):
    def keep(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def change(self, line: str) -> None:
        pass


class _Notebook(Screen):
    """One output of the cell, shown anew; IPython is there, since we are in it."""

    def __init__(self, show: Callable[..., Any]) -> None:
        self._lines: list[str] = []
        self._handle = show({"text/plain": ""}, raw=True, display_id=True)

    def keep(self, line: str) -> None:
        self._lines.append(line)
        self._update("")

    def change(self, line: str) -> None:
        self._update(line)

    def _update(self, last: str) -> None:
        text = "\n".join([*self._lines, last]).rstrip()
        self._handle.update({"text/plain": text}, raw=True)


def _screen() -> Screen | None:
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    if running is not None and hasattr(running, "kernel"):
        return _Notebook(sys.modules["IPython"].display.display)
    return _Terminal() if sys.stderr is not None and sys.stderr.isatty() else None
