"""Tuning the settings of a training."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cellwright.api.inputs import Settings, as_cell, overrides
from cellwright.api.progress import chosen
from cellwright.api.results.tuned import TuningFound
from cellwright.api.studying import Where, Worked, worked_on
from cellwright.api.watching import Watcher
from cellwright.base.errors import UserError
from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps
from cellwright.base.optional import MissingPackageError
from cellwright.base.progress import Progress
from cellwright.cell import Cell
from cellwright.runs.cell_file import write_cell
from cellwright.runs.recipes import Recipe, recipe_to_toml
from cellwright.search.studies.folder import LEDGER, study_folder
from cellwright.search.studies.found import STUDIES
from cellwright.search.studies.start import Prepared
from cellwright.search.tuning.recipes import TuneRecipe, load_tune_recipe
from cellwright.search.tuning.results import (
    TunedTrial,
    best_recipe,
    importance,
    ranked,
    read_tuned,
)
from cellwright.search.tuning.start import prepare_tuning
from cellwright.spaces import Tuned
from cellwright.trials.evaluator import recipe_of
from cellwright.trials.store import failure_reasons

RECIPE, TRIALS = "best.toml", "trials.csv"
PICTURES = ("history.svg", "slices.svg", "parallel.svg")


def tune(
    recipe: str | Path | TuneRecipe,
    cells: Sequence[str | Path | Cell] = (),
    data: str | None = None,
    *,
    settings: Settings | None = None,
    seed: int = 0,
    name: str | None = None,
    out: Path | str | None = None,
    trials: int | None = None,
    minutes: float | None = None,
    baseline: bool = False,
    store: str | None = None,
    executor: str = "local",
    address: str | None = None,
    workers: int | None = None,
    threads: int | None = None,
    watcher: Watcher | None = None,
    progress: bool = True,
) -> TuningFound:
    """Look for the settings with which a cell, or one of several, learns best.

    A study is kept in a store; the same call goes on with it, and no trial that has ended is run
    again.

    Args:
        recipe: for tuning, by name or file.
        cells: to choose among, in place of the recipe's.
        data: by name or folder, in place of the recipe's.
        settings: that go before the recipe's, as `{"method.startup": 10}`.
        seed: decides everything that is drawn.
        name: of the study.
        out: where folders are for what studies found: `studies` unless said.
        trials: how many in all; the recipe's number unless said.
        minutes: the time that it may take.
        baseline: then draw settings at random at the same cost.
        store: a file, or the URL of a PostgreSQL database.
        executor: "local", "ray" or "in-process".
        address: of a Ray cluster.
        workers: how many trials at once.
        threads: to compute with, of each trial.
        watcher: who is told how it goes, in place of what is shown.
        progress: show how it goes, on a terminal or in a notebook.

    Raises:
        UserError: something that was given is wrong.
        KeyboardInterrupt: Ctrl-C was pressed; everything is saved.
    """
    told = chosen(watcher, progress)
    changes = overrides(settings)
    if minutes is not None:
        changes.append(f"budget.minutes={minutes}")
    if isinstance(recipe, TuneRecipe):
        if changes:
            raise UserError("settings go before those of a recipe by name; this one is complete")
        how = recipe
    else:
        how = load_tune_recipe(recipe, changes)
    how = how.on(data)
    if cells:
        own = tuple(as_cell(cell) for cell in cells)
        how = how.model_copy(update={"tune": how.tune.with_cells(own)})
    where = Where(executor=executor, address=address, workers=workers, threads=threads)
    place = STUDIES if out is None else Path(out)
    return tuned(
        how,
        seed,
        name=name,
        store=store,
        out=place,
        trials=trials,
        baseline=baseline,
        where=where,
        told=told,
    )


def tuned(
    recipe: TuneRecipe,
    seed: int = 0,
    *,
    name: str | None,
    store: str | None,
    out: Path,
    trials: int | None,
    where: Where,
    told: Watcher,
    baseline: bool = False,
) -> TuningFound:
    """What `tune` does, once it is settled what is tuned."""

    def ready(progress: Progress | None) -> Prepared:
        return prepare_tuning(recipe, seed, name=name, threads=where["threads"], progress=progress)

    with worked_on(recipe, ready, store, out, trials, where, told) as done:
        return _found(recipe, done, out, baseline)


def _found(recipe: TuneRecipe, done: Worked, out: Path, baseline: bool) -> TuningFound:
    ledger, random = done.ledgers(baseline)
    space = recipe.tune.space()
    trials = read_tuned(done.store, done.study, space)
    best = ranked(trials)
    reasons = tuple(failure_reasons(done.store, done.study)) if ledger.failed else ()
    folder = study_folder(done.store, done.study, out)
    found = TuningFound(
        done.study.name,
        done.study.metric,
        ledger,
        random,
        folder,
        recipe,
        tuple(trials),
        tuple(best),
        best_recipe(_trained(done), best[0], done.study.name) if best else None,
        _importance(space, trials, done.told),
        reasons,
    )
    _write(found, folder)
    _draw(found, space, done, folder)
    done.say_folder(folder, out)
    return found


def _trained(done: Worked) -> Recipe:
    """The recipe that all trials had, as the study was begun with it."""
    return recipe_of(done.study.evaluation["arguments"]["recipe"])


def _importance(space: Tuned, trials: Sequence[TunedTrial], told: Watcher) -> dict[str, float]:
    """How much each setting mattered; nothing, which is said, where a package is missing."""
    try:
        return importance(space, trials)
    except (MissingPackageError, ImportError) as error:
        told.warn(f"how much settings mattered is not known: {error}")
        return {}


def _write(found: TuningFound, folder: Path) -> None:
    """The best settings, every trial, and what it cost, as files."""
    if found.best_recipe is not None and found.cell is not None:
        write_whole(folder / RECIPE, recipe_to_toml(found.best_recipe).encode())
        write_cell(folder / "best.json", found.cell)
        found.cell.draw(folder / "best.svg")
    write_whole(folder / TRIALS, _csv(found.rows()))
    both = {
        "study": found.ledger.to_json(),
        "random": None if found.random is None else found.random.to_json(),
        "importance": dict(found.importance),
    }
    write_whole(folder / LEDGER, dumps(both, indent=2).encode() + b"\n")


def _csv(rows: list[dict[str, Any]]) -> bytes:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _draw(found: TuningFound, space: Tuned, done: Worked, folder: Path) -> None:
    """Pictures; what cannot be drawn is said, and loses nothing."""
    from cellwright.report.study_plots import draw_studies, read_series
    from cellwright.report.tuning import parallel, slices

    def history() -> None:
        draw_studies([read_series(done.store, done.study, found.name)], folder / PICTURES[0])

    def of_settings(file: str, draw: Callable[..., bytes]) -> None:
        write_whole(folder / file, draw(space, found.trials, found.metric))

    try:
        if found.best:
            history()
            of_settings(PICTURES[1], slices)
            of_settings(PICTURES[2], parallel)
    except UserError as error:
        done.told.warn(f"no pictures: {error}")
