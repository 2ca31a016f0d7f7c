"""Searching for a cell, whichever way the recipe says."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from cellwright.api.inputs import Settings, overrides
from cellwright.api.progress import chosen
from cellwright.api.results import Found, StudyFound
from cellwright.api.studying import Where, Worked, worked_on
from cellwright.api.watching import Watch, Watcher, say_dead, say_differences
from cellwright.base.cores import check_at_once
from cellwright.base.errors import UserError
from cellwright.base.progress import Progress
from cellwright.base.threads import threads_for
from cellwright.search.one_shot.folder import SEARCHES, SearchFolder
from cellwright.search.one_shot.recipes import SearchRecipe, load_search_recipe
from cellwright.search.one_shot.searching import run_search
from cellwright.search.recipe_kinds import for_data, is_study
from cellwright.search.studies.final import FinalResult, run_final
from cellwright.search.studies.found import STUDIES, write_found
from cellwright.search.studies.recipes import StudyRecipe, load_study_recipe
from cellwright.search.studies.start import Prepared, prepare


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
        where = Where(executor=executor, address=address, workers=workers, threads=threads)
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


def _refuse(options: dict[str, Any], what: str) -> None:
    given = [name for name, value in options.items() if value]
    if given:
        raise UserError(f"this recipe is {what}: leave out {', '.join(given)}")


def _one_shot(folder: SearchFolder, told: Watcher, checkpoint_seconds: float) -> Found:
    candidates = run_search(folder, told, checkpoint_seconds=checkpoint_seconds)
    found = Found(folder, tuple(candidates))
    say_dead(found.cell, "the cell that the search derived", told)
    return found


def _study(
    recipe: StudyRecipe,
    seed: int,
    name: str | None,
    store: str | None,
    out: Path,
    trials: int | None,
    baseline: bool,
    where: Where,
    told: Watcher,
) -> StudyFound:
    def ready(progress: Progress | None) -> Prepared:
        return prepare(recipe, seed, name=name, threads=where["threads"], progress=progress)

    with worked_on(recipe, ready, store, out, trials, where, told) as done:
        final = _final(recipe, done, told)
        ledger, random = done.ledgers(baseline)
        folder = write_found(done.store, done.study, ledger, random, out, final)
        done.say_folder(folder, out)
        return StudyFound.read(done.store, done.study, ledger, random, folder, recipe, final)


def _final(recipe: StudyRecipe, done: Worked, told: Watcher) -> FinalResult | None:
    """The comparison at the end, if the recipe has one."""
    settings = recipe.final
    if settings is None:
        return None
    told.note(
        f"the best {settings.cells} beside {', '.join(settings.against)}, from "
        f"{settings.seeds} fresh seeds each"
    )

    def watched(final: Prepared, target: int) -> AbstractContextManager[Watch | None]:
        return told.studying(final, done.store, done.executor, target)

    seconds = done.clock.for_all()
    return run_final(
        settings, done.prepared, done.store, done.executor, seconds=seconds, watched=watched
    )
