"""Working on a study, whatever its trials differ in: its workers, clock, random search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from cellwright.api.watching import Watch, Watcher
from cellwright.base.names import file_stem
from cellwright.base.progress import Progress
from cellwright.search.studies.baseline import read_baseline, run_baseline
from cellwright.search.studies.folder import check_writable
from cellwright.search.studies.recipes import TrialsRecipe
from cellwright.search.studies.start import Prepared, make_executor, run_prepared
from cellwright.trials.executors import Executor
from cellwright.trials.executors.choosing import check_choice
from cellwright.trials.store import (
    Ledger,
    Store,
    Study,
    find_study,
    has_study,
    open_store,
    read_ledger,
)
from cellwright.trials.store.patience import Patience
from cellwright.trials.study import Budget, GaveUpError
from cellwright.trials.study.source import other_code

STORE = "studies.db"
"""Where studies are kept unless said."""


class Where(TypedDict):
    """Where trials run: on which executor, how many at once, with how many threads each."""

    executor: str
    address: str | None
    workers: int | None
    threads: int | None


class Clock:
    """How much of a recipe's minutes is left, those of earlier calls included."""

    def __init__(self, recipe: TrialsRecipe, before: float) -> None:
        self._recipe, self._begun = recipe, time.monotonic() - before

    def for_trials(self) -> float | None:
        """Seconds until no more trials are begun."""
        return self._left(self._recipe.trial_seconds())

    def for_all(self) -> float | None:
        """Seconds until nothing more is begun."""
        minutes = self._recipe.budget.minutes
        return self._left(None if minutes is None else 60 * minutes)

    def _left(self, seconds: float | None) -> float | None:
        return None if seconds is None else max(0.0, seconds - time.monotonic() + self._begun)


@dataclass(frozen=True)
class Worked:
    """A study whose trials have ended, while its store and its workers are still there."""

    prepared: Prepared
    store: Store
    executor: Executor
    study: Study
    clock: Clock
    told: Watcher

    def ledgers(self, baseline: bool) -> tuple[Ledger, Ledger | None]:
        """What it cost, and the same of its random search, which runs first if it is wanted."""
        ledger = read_ledger(self.store, self.study)
        random = read_baseline(self.store, self.prepared.name)
        if baseline and ledger.failed == ledger.trials:
            self.told.warn("there is no random search: whatever was trained failed")
        elif baseline:
            self.told.baseline_begins(self.prepared, ledger)
            with _Turns(self.store, self.executor, self.told) as turns:
                random = self._baseline(ledger, turns)
        return ledger, random

    def say_folder(self, folder: Path | None, out: Path) -> None:
        """Say so if what was found is not where one would look for it."""
        usual = out / file_stem(self.study.name, "study")
        if folder is not None and folder != usual:
            self.told.note(f"{usual} is of another study, so what was found is in {folder}")

    def _baseline(self, cost: Ledger, turns: _Turns) -> Ledger | None:
        """The random search. What the study found is not lost if nothing works there."""
        prepared, unit = self.prepared, self.prepared.recipe.baseline
        try:
            return run_baseline(
                prepared, self.store, self.executor, cost, unit=unit, watch=turns.next
            )
        except GaveUpError as error:
            self.told.warn(str(error))
            return read_baseline(self.store, prepared.name)


class _Turns(ExitStack):
    """A random search, whose number of trials is settled turn by turn."""

    def __init__(self, store: Store, executor: Executor, told: Watcher) -> None:
        super().__init__()
        self._store, self._executor, self._told = store, executor, told

    def next(self, random: Prepared, target: int) -> Watch | None:
        """The next turn."""
        self.close()
        return self.enter_context(self._told.studying(random, self._store, self._executor, target))


@contextmanager
def worked_on(
    recipe: TrialsRecipe,
    prepare: Callable[[Progress | None], Prepared],
    store: str | None,
    out: Path,
    trials: int | None,
    where: Where,
    told: Watcher,
) -> Iterator[Worked]:
    """A study, once it has its trials.

    Args:
        recipe: of the study.
        prepare: makes it ready, while data is read for the first time.
        store: where it is kept; `STORE` unless said.
        out: where what is found will be written.
        trials: how many it shall have; the recipe's number unless said.
        where: its trials run.
        told: who is told how it goes.
    """
    threads, workers, address = where["threads"], where["workers"], where["address"]
    each = recipe.threads if threads is None else threads
    check_choice(where["executor"], threads=each, workers=workers, address=address)
    with told.reading() as reading:
        prepared = prepare(reading)
    target = recipe.trials if trials is None else trials
    check_writable(out)
    with (
        make_executor(
            where["executor"], recipe, address=address, workers=workers, threads=threads
        ) as executor,
        open_store(store or STORE) as opened,
        opened.patient(Patience(told=lambda event: told.warn(event.message))),
    ):
        _say_other_code(prepared, opened, told)
        clock = Clock(recipe, _wall(opened, prepared.name))
        budget = Budget(recipe.budget.epochs, clock.for_trials(), least=1)
        prepared = replace(prepared, budget=budget)
        with told.studying(prepared, opened, executor, target) as watch:
            run_prepared(prepared, opened, executor, trials=target, watch=watch)
        study = find_study(opened, prepared.name)
        yield Worked(prepared, opened, executor, study, clock, told)


def _say_other_code(prepared: Prepared, store: Store, told: Watcher) -> None:
    """Say that a method's file has changed since the study was begun that goes on now."""
    source = prepared.method.source
    if source is None or not has_study(store, prepared.name):
        return
    if other_code(find_study(store, prepared.name).search, prepared.method.state()):
        told.warn(
            f"{source} has another content than when study {prepared.name!r} was begun: it goes on "
            "if the new one asks for the same trials"
        )


def _wall(store: Store, name: str) -> float:
    """The time that a study has taken so far."""
    return read_ledger(store, find_study(store, name)).wall if has_study(store, name) else 0.0
