"""Searching for a cell, whichever way the recipe says."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellwright.api.inputs import Settings, overrides
from cellwright.api.progress import chosen
from cellwright.api.results import Found, StudyFound
from cellwright.api.watching import Watch, Watcher, say_dead, say_differences
from cellwright.base.cores import check_at_once
from cellwright.base.errors import UserError
from cellwright.base.names import file_stem
from cellwright.base.threads import threads_for
from cellwright.search.one_shot.folder import SEARCHES, SearchFolder
from cellwright.search.one_shot.recipes import SearchRecipe, load_search_recipe
from cellwright.search.one_shot.searching import run_search
from cellwright.search.recipe_kinds import for_data, is_study
from cellwright.search.studies.baseline import read_baseline, run_baseline
from cellwright.search.studies.final import FinalResult, run_final
from cellwright.search.studies.folder import check_writable
from cellwright.search.studies.found import STUDIES, write_found
from cellwright.search.studies.recipes import StudyRecipe, load_study_recipe
from cellwright.search.studies.start import Prepared, make_executor, prepare, run_prepared
from cellwright.trials.executors import Executor
from cellwright.trials.executors.choosing import check_choice
from cellwright.trials.store import Ledger, Store, find_study, has_study, open_store, read_ledger
from cellwright.trials.store.patience import Patience
from cellwright.trials.study import Budget, GaveUpError
from cellwright.trials.study.source import other_code

STORE = "studies.db"
"""Where studies are kept unless said."""


def search(
    recipe: str | Path | SearchRecipe | StudyRecipe | None = None,
    data: str | None = None,
    *,
    settings: Settings | None = None,
    seed: int = 0,
    seeds: int = 1,
    name: str | None = None,
    out: Path | str | None = None,
    resume: Path | str | None = None,
    threads: int | None = None,
    checkpoint_seconds: float = 60.0,
    trials: int | None = None,
    minutes: float | None = None,
    epochs: int | None = None,
    baseline: bool = False,
    store: str | None = None,
    executor: str = "local",
    address: str | None = None,
    workers: int | None = None,
    watcher: Watcher | None = None,
    progress: bool = True,
) -> Found | StudyFound:
    """Search for a cell.

    A one-shot search (DARTS, I-DARTS, ESS, ENAS) is kept in a folder; `resume` goes on with it. A
    study trains cell by cell and is kept in a store; the same call goes on with it.

    Args:
        recipe: of a search or a study, by name or file.
        data: by name or folder, in place of the recipe's.
        settings: that go before the recipe's, as `{"search.nodes": 4}`.
        seed: decides everything that is drawn.
        seeds: of a one-shot search, how many times; the best of what they find is chosen.
        name: of the folder, or of the study.
        out: where folders are: `searches`, or for what a study found `studies`, unless said.
        resume: the folder of a one-shot search to go on with, in place of all of the above.
        threads: to compute with; of a study, of each trial.
        checkpoint_seconds: between checkpoints of a one-shot search.
        trials: of a study, how many in all; the recipe's number unless said.
        minutes: of a study, the time that it may take, with that of the comparison at its end.
        epochs: of a study, how many epochs of training it may ask for: the same trials every time,
            whatever the number of workers, up to `recipe.window` of them.
        baseline: after a study, search at random at the same cost.
        store: of a study: a file, or the URL of a PostgreSQL database.
        executor: of a study: "local", "ray" or "in-process".
        address: of a Ray cluster.
        workers: of a study, how many trials at once.
        watcher: who is told how it goes, in place of what is shown.
        progress: show how it goes, on a terminal or in a notebook.

    Returns:
        what was found. Its `status` is "ok" if there is a cell; a study whose trials all failed
        has none, is "failed", and says why in `failures`.

    Raises:
        UserError: something that was given is wrong.
        KeyboardInterrupt: Ctrl-C was pressed; everything is saved.
    """
    told = chosen(watcher, progress)
    if resume is not None:
        if recipe is not None or settings or data is not None:
            raise UserError("a search that is resumed goes on as it was begun: leave out the rest")
        folder = SearchFolder.open(resume, SEARCHES if out is None else Path(out))
        folder.refuse_ended()
        say_differences(folder, told)
        told.opened(folder, True)
        return _one_shot(folder, told, checkpoint_seconds)
    if recipe is None:
        raise UserError("a recipe is missing, or a search to resume")
    if isinstance(recipe, str):
        recipe = for_data(recipe, data)
    changes = overrides(settings)
    if minutes is not None or epochs is not None:
        # each in place of what the recipe says of both
        changes += [f"budget.minutes={minutes or 'none'}", f"budget.epochs={epochs or 'none'}"]
    if isinstance(recipe, StudyRecipe) or (
        not isinstance(recipe, SearchRecipe) and is_study(recipe)
    ):
        _refuse({"seeds": seeds > 1}, "a study")
        study = recipe if isinstance(recipe, StudyRecipe) else load_study_recipe(recipe, changes)
        where = {"executor": executor, "address": address, "workers": workers, "threads": threads}
        place = STUDIES if out is None else Path(out)
        return _study(study.on(data), seed, name, store, place, trials, baseline, where, told)
    options = {"trials": trials, "minutes": minutes, "epochs": epochs, "baseline": baseline,
               "store": store, "address": address, "workers": workers}  # fmt: skip
    _refuse(options, "a one-shot search")
    found = recipe if isinstance(recipe, SearchRecipe) else load_search_recipe(recipe, changes)
    searches = SEARCHES if out is None else Path(out)
    if threads is not None:
        check_at_once("threads", threads)
    with threads_for(threads), told.reading() as reading:
        folder = SearchFolder.create(
            found,
            range(seed, seed + seeds),
            data=data,
            searches=searches,
            path=None if name is None else searches / name,
            progress=reading,
        )
    told.opened(folder, False)
    return _one_shot(folder, told, checkpoint_seconds)


def _baseline(
    prepared: Prepared, store: Store, executor: Executor, cost: Ledger, turns: _Turns
) -> Ledger | None:
    """The random search. What the study found is not lost if nothing works there."""
    unit = prepared.recipe.baseline
    try:
        return run_baseline(prepared, store, executor, cost, unit=unit, watch=turns.next)
    except GaveUpError as error:
        turns.told.warn(str(error))
        return read_baseline(store, prepared.name)


class _Turns(ExitStack):
    """A random search, whose number of trials is settled turn by turn."""

    def __init__(self, store: Store, executor: Executor, told: Watcher) -> None:
        super().__init__()
        self._store, self._executor, self.told = store, executor, told

    def next(self, random: Prepared, target: int) -> Watch | None:
        """The next turn."""
        self.close()
        return self.enter_context(self.told.studying(random, self._store, self._executor, target))


def _refuse(options: dict[str, Any], what: str) -> None:
    given = [name for name, value in options.items() if value]
    if given:
        raise UserError(f"this recipe is {what}: leave out {', '.join(given)}")


def _one_shot(folder: SearchFolder, told: Watcher, checkpoint_seconds: float) -> Found:
    candidates = run_search(folder, told, checkpoint_seconds=checkpoint_seconds)
    found = Found(folder, tuple(candidates))
    say_dead(found.cell, "the cell that the search derived", told)
    return found


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


def _study(
    recipe: StudyRecipe,
    seed: int,
    name: str | None,
    store: str | None,
    out: Path,
    trials: int | None,
    baseline: bool,
    where: dict[str, Any],
    told: Watcher,
) -> StudyFound:
    kind = where.pop("executor")
    each = recipe.threads if where["threads"] is None else where["threads"]
    check_choice(kind, threads=each, workers=where["workers"], address=where["address"])
    with told.reading() as reading:
        prepared = prepare(recipe, seed, name=name, threads=where["threads"], progress=reading)
    target = recipe.trials if trials is None else trials
    check_writable(out)
    with (
        make_executor(kind, recipe, **where) as executor,
        open_store(store or STORE) as opened,
        opened.patient(Patience(told=lambda event: told.warn(event.message))),
    ):
        _say_other_code(prepared, opened, told)
        clock = _Clock(recipe, _wall(opened, prepared.name))
        budget = Budget(recipe.budget.epochs, clock.for_search(), least=1)
        prepared = replace(prepared, budget=budget)
        with told.studying(prepared, opened, executor, target) as watch:
            run_prepared(prepared, opened, executor, trials=target, watch=watch)
        study = find_study(opened, prepared.name)
        final = _final(prepared, opened, executor, clock, told)
        ledger, random = read_ledger(opened, study), read_baseline(opened, prepared.name)
        if baseline and ledger.failed == ledger.trials:
            told.warn("there is no random search: whatever was trained failed")
        elif baseline:
            told.baseline_begins(prepared, ledger)
            with _Turns(opened, executor, told) as turns:
                random = _baseline(prepared, opened, executor, ledger, turns)
        folder = write_found(opened, study, ledger, random, out, final)
        usual = out / file_stem(study.name, "study")
        if folder is not None and folder != usual:
            told.note(f"{usual} is of another study, so what was found is in {folder}")
        return StudyFound.read(opened, study, ledger, random, folder, recipe, final)


class _Clock:
    """How much of the recipe's minutes is left, those of earlier calls included."""

    def __init__(self, recipe: StudyRecipe, before: float) -> None:
        self._recipe, self._begun = recipe, time.monotonic() - before

    def for_search(self) -> float | None:
        """Seconds until no more trials are begun."""
        return self._left(self._recipe.search_seconds())

    def for_final(self) -> float | None:
        """Seconds until no more trainings of the comparison are begun."""
        minutes = self._recipe.budget.minutes
        return self._left(None if minutes is None else 60 * minutes)

    def _left(self, seconds: float | None) -> float | None:
        return None if seconds is None else max(0.0, seconds - time.monotonic() + self._begun)


def _wall(store: Store, name: str) -> float:
    """The time that a study has taken so far."""
    return read_ledger(store, find_study(store, name)).wall if has_study(store, name) else 0.0


def _final(
    prepared: Prepared, store: Store, executor: Executor, clock: _Clock, told: Watcher
) -> FinalResult | None:
    """The comparison at the end, if the recipe has one."""
    settings = prepared.recipe.final
    if settings is None:
        return None
    told.note(
        f"the best {settings.cells} beside {', '.join(settings.against)}, from "
        f"{settings.seeds} fresh seeds each"
    )

    def watched(final: Prepared, target: int) -> AbstractContextManager[Watch | None]:
        return told.studying(final, store, executor, target)

    return run_final(prepared, store, executor, seconds=clock.for_final(), watched=watched)
