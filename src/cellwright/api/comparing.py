"""Comparing cells: trained alike, from the same seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cellwright.api.inputs import (
    Settings,
    TaskSource,
    as_cell,
    as_size,
    data_and_task,
    overrides,
    training_recipe,
)
from cellwright.api.progress import chosen
from cellwright.api.results import Comparison
from cellwright.api.studying import Where
from cellwright.api.tuned_contenders import BESIDE, tuned_contenders, with_limits
from cellwright.api.watching import Watcher
from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.compare.contenders import Contender, contender, dead_words, random_contenders
from cellwright.compare.failures import Failure
from cellwright.compare.plan import Plan, make_plan
from cellwright.compare.results import Standing, standings
from cellwright.compare.running import missing, train_all
from cellwright.compare.search_epochs import search_epochs
from cellwright.report.comparison.over_search import add_search
from cellwright.report.comparison.page import Section, write_report
from cellwright.report.drawing import matplotlib
from cellwright.report.paper import paper_width
from cellwright.runs.recipes import Recipe
from cellwright.search.one_shot.folder import SEARCHES, SearchFolder
from cellwright.search.tuning.recipes import load_tune_recipe
from cellwright.trials.executors import Limits
from cellwright.trials.executors.choosing import check_choice, executor_by_name
from cellwright.trials.retries import Retries

FOLDER = Path("comparison")
"""Where a comparison goes unless said."""

_NO_LIMITS, _RETRIES = Limits(), Retries()


def compare(
    cells: Sequence[Cell | Contender | str | Path],
    task: TaskSource | None = None,
    *,
    recipe: str | Path | Recipe | None = None,
    settings: Settings | None = None,
    epochs: int | None = None,
    seeds: int = 3,
    parameters: int | Cell | str | Path | None = None,
    tune: int | None = None,
    random: Sequence[str] = (),
    random_seed: int = 0,
    search: Path | str | None = None,
    every: int = 10,
    out: Path | str = FOLDER,
    executor: str = "local",
    address: str | None = None,
    workers: int | None = None,
    threads: int = 1,
    limits: Limits = _NO_LIMITS,
    retries: Retries = _RETRIES,
    command: str = "",
    pdf: str | float | None = None,
    watcher: Watcher | None = None,
    progress: bool = True,
) -> Comparison:
    """Train cells by the same recipe from the same seeds, and set them side by side.

    Ctrl-C saves everything; the same call goes on from there, and trains only what is missing.

    Args:
        cells: cells, names of the zoo, or files.
        task: what to learn, as `cw.train` takes it.
        recipe: how to train, by name or file; one that fits the data unless said.
        settings: that go before the recipe's, as `{"model.hidden": 64}`.
        epochs: of each training; the recipe's number unless said.
        seeds: how often each cell is trained: with the seeds 0, 1, ….
        parameters: that each model has at most, or the cell whose model has as many at the recipe's
            width; each cell then has the largest width that fits. The recipe's width unless said.
        tune: tune every cell with so many trials first, and train it with its best settings; the
            recipe is one for tuning then.
        random: requests for random cells of a space, as `"ess:2,nodes=4"`.
        random_seed: decides which.
        search: a one-shot search, by its folder or name: the cells that it had come to after every
            so many epochs are compared as well, and the report shows what they were worth as the
            search went on.
        every: how many epochs that is.
        out: the folder of the comparison.
        executor: where trainings run: "local", "ray" or "in-process".
        address: of a Ray cluster.
        workers: how many trainings at once; as many as there are cores for unless said.
        threads: of each training.
        limits: what an attempt at a training may take.
        retries: how often a training that fails is tried again, from its last checkpoint.
        command: what made it, for the report.
        pdf: also draw the pictures as PDF, as wide as a "column" or "page" of a paper, or so many
            inches.
        watcher: who is told how it goes, in place of what is shown.
        progress: show how it goes, on a terminal or in a notebook.

    Raises:
        UserError: something that was given is wrong. Trainings that fail are in `failures`.
        Stopped: Ctrl-C was pressed; everything is saved.
    """
    told = chosen(watcher, progress)
    width = paper_width(pdf)
    if width is not None:
        matplotlib()  # says that it is missing before minutes of work, not after
    where: dict[str, Any] = {"workers": workers, "limits": limits, "address": address}
    check_choice(executor, threads=threads, **where)
    contenders = contenders_of(cells, random, random_seed)
    along = None
    if search is not None:
        along = search_epochs(SearchFolder.open(search, SEARCHES), every)
        contenders += along.contenders
    data, about = data_and_task(task)
    if tune is not None:
        if parameters is not None or recipe is None or isinstance(recipe, Recipe):
            raise UserError(
                "what is tuned is a recipe for tuning, by name or file, such as tune-laptop, and "
                "says itself how wide models may be"
            )
        changes = [*about, *overrides(settings)]
        changes += [] if epochs is None else [f"method.epochs={epochs}"]
        how = with_limits(load_tune_recipe(recipe, changes).on(data), limits, retries)
        place = Where(executor=executor, address=address, workers=workers, threads=threads)
        contenders, recipe = tuned_contenders(contenders, how, tune, Path(out), place, told)
        about, settings, epochs = [], None, None
    with told.reading() as reading:
        changes = [*about, *overrides(settings, epochs=epochs)]
        found, suggested = training_recipe(recipe, data, changes, reading)
        if suggested:
            told.note(f"no recipe was named: {found.name} fits data of this size")
        plan = make_plan(
            Path(out),
            contenders,
            found,
            seeds,
            data=data,
            threads=threads,
            progress=reading,
            parameters=as_size(parameters),
            beside=() if tune is None else BESIDE,
        )

    def sections(ranked: Sequence[Standing]) -> list[Section]:
        if along is None:
            return []
        add = partial(add_search, plan=plan, standings=ranked, epochs=along, pdf=width)
        return [("While it was searched", add)]

    return carried_out(
        plan,
        told,
        executor=executor,
        where=where,
        retries=retries,
        command=command,
        width=width,
        sections=sections,
    )


def contenders_of(
    cells: Sequence[Cell | Contender | str | Path], random: Sequence[str], seed: int
) -> list[Contender]:
    """What is compared: the cells that were named, and random ones."""
    found = [one if isinstance(one, Contender) else contender(as_cell(one)) for one in cells]
    for request in random:
        found += random_contenders(request, seed)
    return found


def carried_out(
    plan: Plan,
    told: Watcher,
    *,
    executor: str,
    where: Mapping[str, Any],
    retries: Retries,
    command: str,
    width: float | None,
    sections: Callable[[Sequence[Standing]], Sequence[Section]],
) -> Comparison:
    """A comparison of which all that is missing was trained, with its report.

    Args:
        plan: the comparison.
        told: who is told how it goes.
        executor: where trainings run.
        where: what `executor_by_name` takes beside that and the threads.
        retries: how often a training that fails is tried again.
        command: what made it.
        width: of pictures as PDF, in inches; None without.
        sections: what else the report has, once the figures are known.
    """
    told.planned(plan)
    for words in dead_words(plan.contenders):
        told.warn(words)
    failures: list[Failure] = []
    if missing(plan):
        with (
            executor_by_name(executor, threads=plan.threads, **where) as running,
            told.comparing(plan, running.slots) as watch,
        ):
            failures = train_all(plan, running, retries=retries, watch=watch)
    ranked = standings(plan)
    report = write_report(plan, ranked, command, width, sections(ranked))
    return Comparison(plan, tuple(ranked), report, tuple(failures))
