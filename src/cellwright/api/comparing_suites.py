"""Comparing cells on every task of a suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellwright.api.comparing import carried_out, contenders_of
from cellwright.api.inputs import Settings, as_size, overrides
from cellwright.api.progress import chosen
from cellwright.api.results import Comparison, SuiteComparison
from cellwright.api.watching import Watcher
from cellwright.base.errors import NotHereError, UserError
from cellwright.cell import Cell
from cellwright.compare.contenders import Contender, told_apart
from cellwright.compare.plan import Plan, checked_plan, write_plan
from cellwright.compare.results import named
from cellwright.compare.suites.figures import SuiteFigures, TaskFigures
from cellwright.compare.suites.folder import check_suite_place, write_suite
from cellwright.compare.suites.suite import Suite, find_suite, recipe_of
from cellwright.report.drawing import matplotlib
from cellwright.report.paper import paper_width
from cellwright.report.suites.page import write_suite_report
from cellwright.runs.recipes import Recipe
from cellwright.trials.executors import Limits
from cellwright.trials.executors.choosing import check_choice
from cellwright.trials.retries import Retries

FOLDER = Path("suite")
"""Where everything goes unless said."""

_NO_LIMITS, _RETRIES = Limits(), Retries()


def compare_suite(
    cells: Sequence[Cell | Contender | str | Path],
    suite: str | Path | Suite,
    *,
    settings: Settings | None = None,
    epochs: int | None = None,
    seeds: int = 3,
    parameters: int | Cell | str | Path | None = None,
    random: Sequence[str] = (),
    random_seed: int = 0,
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
) -> SuiteComparison:
    """Train cells on every task of a suite from the same seeds, and average what they are worth.

    All tasks are looked at before anything is trained. Those whose data is not on this machine are
    left out and named. Ctrl-C saves everything; the same call goes on from there.

    Args:
        cells: cells, names of the zoo, or files.
        suite: "glue", "glue-laptop", "sentence-pairs", "sentence-pairs-laptop", or a TOML file.
        settings: that go before those of every task's recipe, as `{"model.hidden": 64}`.
        epochs: of each training; the recipes' numbers unless said.
        seeds: how often each cell is trained on a task: with the seeds 0, 1, ….
        parameters: that each model has at most, or the cell whose model has as many at the recipe's
            width; each cell then has the largest width that fits. The recipe's width unless said.
        random: requests for random cells of a space, as `"ess:2,nodes=4"`.
        random_seed: decides which.
        out: the folder; the comparison on each task is in one below it.
        executor: where trainings run: "local", "ray" or "in-process".
        address: of a Ray cluster.
        workers: how many trainings at once; as many as there are cores for unless said.
        threads: of each training.
        limits: what an attempt at a training may take.
        retries: how often a training that fails is tried again, from its last checkpoint.
        command: what made it, for the report.
        pdf: also draw the pictures of each task as PDF, as `compare` takes it.
        watcher: who is told how it goes, in place of what is shown.
        progress: show how it goes, on a terminal or in a notebook.

    Raises:
        UserError: something that was given is wrong, or no task has its data here. Trainings that
            fail are in `failures`.
        Stopped: Ctrl-C was pressed; everything is saved.
    """
    told = chosen(watcher, progress)
    width = paper_width(pdf)
    if width is not None:
        matplotlib()  # says that it is missing before minutes of work, not after
    where: dict[str, Any] = {"workers": workers, "limits": limits, "address": address}
    check_choice(executor, threads=threads, **where)
    chosen_suite = suite if isinstance(suite, Suite) else find_suite(suite)
    contenders = told_apart(contenders_of(cells, random, random_seed))
    return carried_out_suite(
        chosen_suite,
        Path(out),
        lambda recipe: (recipe, contenders),
        told,
        changes=overrides(settings, epochs=epochs),
        fixed={"seeds": seeds, "threads": threads, "parameters": as_size(parameters)},
        executor=executor,
        where=where,
        retries=retries,
        command=command,
        width=width,
        report=write_suite_report,
    )


Entrants = Callable[[Recipe], tuple[Recipe, Sequence[Contender]]]
"""What is compared on a task, by the task's recipe: the recipe of the comparison, and the cells."""


def carried_out_suite(
    suite: Suite,
    folder: Path,
    entrants: Entrants,
    told: Watcher,
    *,
    changes: Sequence[str],
    fixed: Mapping[str, Any],
    executor: str,
    where: Mapping[str, Any],
    retries: Retries,
    command: str,
    width: float | None,
    report: Callable[[SuiteFigures, str], Path],
    all_tasks: bool = False,
    begun: Callable[[], None] = lambda: None,
) -> SuiteComparison:
    """A comparison on every task of a suite of which all that is missing was trained.

    Args:
        suite: the tasks.
        folder: where everything goes.
        entrants: what is compared on each.
        told: who is told how it goes.
        changes: settings that go before those of every task's recipe.
        fixed: what `checked_plan` takes, the same for all tasks.
        executor, where, retries, command, width: as `carried_out` takes them.
        report: writes the report of it all, and says where it is.
        all_tasks: whether data that is not here is an error.
        begun: called when it is written down what is compared, and nothing is trained yet.
    """
    check_suite_place(folder, suite)
    plans, missing = _plans(suite, folder, entrants, changes, fixed, told, all_tasks)
    write_suite(folder, suite)
    for plan in plans.values():
        write_plan(plan)
    begun()
    found: dict[str, Comparison] = {}
    for place, (label, plan) in enumerate(plans.items(), 1):
        told.note(f"task {place} of {len(plans)}: {label}")
        found[label] = carried_out(
            plan,
            told,
            executor=executor,
            where=where,
            retries=retries,
            command=command,
            width=width,
            sections=lambda ranked: (),
        )
    tasks = tuple(
        TaskFigures(task, found[task.label].plan, found[task.label].standings)
        for task in suite.tasks
        if task.label in found
    )
    figures = SuiteFigures(folder, suite, tasks, missing)
    return SuiteComparison(figures, found, report(figures, command))


def _plans(
    suite: Suite,
    folder: Path,
    entrants: Entrants,
    changes: Sequence[str],
    fixed: Mapping[str, Any],
    told: Watcher,
    all_tasks: bool,
) -> tuple[dict[str, Plan], dict[str, str]]:
    """The comparison on each task whose data is here, and why the others have none.

    Raises:
        UserError: a task cannot be trained for any other reason, or none has its data.
    """
    recipes = {}
    for task in suite.tasks:
        try:
            recipes[task.label] = recipe_of(suite, task, changes)
        except UserError as error:
            raise UserError(f"{task.label}: {error}") from None
    plans: dict[str, Plan] = {}
    missing: dict[str, str] = {}
    for label, recipe in recipes.items():
        try:
            own, contenders = entrants(recipe)
            with told.reading() as reading:
                plans[label] = checked_plan(
                    folder / label, contenders, own, progress=reading, **fixed
                )
        except NotHereError as error:
            if all_tasks:
                raise UserError(f"{label}: {error}") from None
            missing[label] = str(error)
            told.warn(f"{label} is missing: {error}")
        except UserError as error:
            raise UserError(f"{label}: {error}") from None
    if not plans:
        raise UserError(
            f"no task of the suite {suite.name} has its data on this machine; missing are "
            f"{named(list(missing))}"
        )
    return plans, missing
