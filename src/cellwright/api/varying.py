"""Searching in smaller and larger spaces, and training what is found in models of one size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cellwright.api.comparing import carried_out
from cellwright.api.inputs import Settings, as_cell, overrides
from cellwright.api.progress import chosen
from cellwright.api.results import Sensitivity
from cellwright.api.watching import Watcher, say_differences
from cellwright.base.errors import UserError, shown
from cellwright.cell import Cell
from cellwright.cell.zoo import zoo
from cellwright.compare.contenders import MOST_RANDOM
from cellwright.compare.plan import FILE, MOST_SEEDS, check_data, make_plan, read_plan
from cellwright.compare.results import Standing
from cellwright.compare.sensitivity.contenders import make_cells, random_cells
from cellwright.compare.sensitivity.figures import Figures, figures, write_points
from cellwright.compare.sensitivity.folder import BESIDE, begin, point_search, search_path
from cellwright.compare.sensitivity.grid import Grid, make_grid, read_vary
from cellwright.compare.widths import fitting_width, width_of
from cellwright.report.comparison.page import Section
from cellwright.report.drawing import matplotlib
from cellwright.report.paper import paper_width
from cellwright.report.sensitivity import add_sensitivity
from cellwright.runs.errors import Stopped
from cellwright.runs.recipes import Recipe, opened
from cellwright.search.found_training import training_recipe
from cellwright.search.one_shot.folder import SearchFolder, check_seeds
from cellwright.search.one_shot.kinds import check_search_size
from cellwright.search.one_shot.recipes import SearchRecipe, load_search_recipe
from cellwright.search.one_shot.searching import run_search
from cellwright.search.recipe_kinds import is_study
from cellwright.tasks.registry import open_task
from cellwright.tasks.task import Task
from cellwright.trials.executors import Limits
from cellwright.trials.executors.choosing import check_choice
from cellwright.trials.retries import Retries

FOLDER = Path("sensitivity")
"""Where everything goes unless said."""

_NO_LIMITS, _RETRIES = Limits(), Retries()


def sensitivity(
    recipe: str | Path | SearchRecipe,
    vary: Mapping[str, Sequence[int]] | Sequence[str],
    data: str | None = None,
    *,
    settings: Settings | None = None,
    seed: int = 0,
    search_seeds: int = 1,
    training: str | Path | None = None,
    training_settings: Settings | None = None,
    epochs: int | None = None,
    seeds: int = 3,
    parameters: int | None = None,
    against: Sequence[Cell | str | Path] = (),
    random: int = 0,
    out: Path | str = FOLDER,
    executor: str = "local",
    address: str | None = None,
    workers: int | None = None,
    threads: int = 1,
    limits: Limits = _NO_LIMITS,
    retries: Retries = _RETRIES,
    checkpoint_seconds: float = 60.0,
    command: str = "",
    pdf: str | float | None = None,
    watcher: Watcher | None = None,
    progress: bool = True,
) -> Sensitivity:
    """Search in smaller and larger spaces, and compare what is found in models of one size.

    ESS' Figure 5: each setting is varied alone, the others are as the recipe has them; what each
    search finds is trained from scratch, in a model of the largest width at which it has at most
    as many parameters as all others. The searches themselves have the width that the recipe says.

    Ctrl-C saves everything; the same call goes on from there. Values, seeds, cells to compare with
    and random cells may be added to those of before.

    Args:
        recipe: of a one-shot search, by name or file.
        vary: settings of the space and their values, as `{"nodes": [2, 4, 8], "m": [1, 2, 3]}`;
            the recipe's own value is always among them.
        data: by name or folder, in place of the recipe's.
        settings: that go before the recipe's, as `{"search.rounds": 2}`.
        seed: decides everything that is drawn in a search, and the random cells.
        search_seeds: how often each point is searched; the best of what is found is chosen by
            training, as the recipe says.
        training: how to train what is found, by name or file; as the recipe says unless said.
        training_settings: that go before those of that recipe.
        epochs: of each training; the recipe's number unless said.
        seeds: how often each cell is trained: with the seeds 0, 1, ….
        parameters: that each model has at most; those of the model of the recipe's own cell, at
            the training's own width, unless said.
        against: cells that are trained in models of the same size, by name or file, as `["lstm"]`.
        random: how many cells are drawn from the space of each point and trained as well, to see
            what searching is worth.
        out: the folder of it all.
        executor: where trainings run: "local", "ray" or "in-process". Searches run here.
        address: of a Ray cluster.
        workers: how many trainings at once; as many as there are cores for unless said.
        threads: of each training.
        limits: what an attempt at a training may take.
        retries: how often a training that fails is tried again, from its last checkpoint.
        checkpoint_seconds: between checkpoints of a search.
        command: what made it, for the report.
        pdf: also draw the pictures as PDF, as wide as a "column" or "page" of a paper, or so many
            inches.
        watcher: who is told how it goes, in place of what is shown.
        progress: show how it goes, on a terminal or in a notebook.

    Raises:
        UserError: something that was given is wrong. Trainings that fail are in `failures`.
        Stopped: Ctrl-C was pressed; everything is saved.
    """
    told, folder = chosen(watcher, progress), Path(out)
    width = paper_width(pdf)
    if width is not None:
        matplotlib()  # says that it is missing before hours of work, not after
    where: dict[str, Any] = {"workers": workers, "limits": limits, "address": address}
    check_choice(executor, threads=threads, **where)
    for what, number, most in (
        ("seeds", seeds, MOST_SEEDS),
        ("search_seeds", search_seeds, 1000),
        ("parameters", parameters, 10**15),
    ):
        if number is not None:
            _check_count(what, number, 1, most)
    _check_count("random", random, 0, MOST_RANDOM)
    searched = range(seed, seed + search_seeds)
    check_seeds(searched)
    found = opened(_search_recipe(recipe, overrides(settings))).on(data)
    grid = make_grid(found, vary if isinstance(vary, Mapping) else read_vary(vary))
    trained = training_recipe(
        str(training or found.training), found.task, overrides(training_settings, epochs=epochs)
    ).on(found.task.data, found.task.folder)
    cells = [_whole(as_cell(cell)) for cell in against]
    drawn = random_cells(grid, random, seed)
    with told.reading() as reading:
        task = open_task(trained.task, reading)
        _check(grid, searched, open_task(found.task, reading), trained, task, parameters)
    begin(folder, grid, searched, parameters)
    searches = _search(folder, grid, searched, told, checkpoint_seconds)
    known = {
        one.cell.id: one.label
        for one in (read_plan(folder).contenders if (folder / FILE).exists() else ())
    }
    all_cells = make_cells(
        grid,
        {label: each.found() for label, each in searches.items()},
        drawn,
        cells,
        task,
        trained,
        parameters,
        known,
    )
    told.note(f"each model has at most {all_cells.parameters:,} parameters")
    plan = make_plan(folder, all_cells.contenders, trained, seeds, threads=threads, beside=BESIDE)
    ended = {label: str(each.info.status) for label, each in searches.items()}

    def put_together(ranked: Sequence[Standing]) -> Figures:
        return figures(plan, grid, all_cells, ranked, ended)

    def sections(ranked: Sequence[Standing]) -> list[Section]:
        return [
            ("As the space grows", partial(add_sensitivity, found=put_together(ranked), pdf=width))
        ]

    comparison = carried_out(
        plan,
        told,
        executor=executor,
        where=where,
        retries=retries,
        command=command,
        width=width,
        sections=sections,
    )
    result = put_together(comparison.standings)
    write_points(result)
    return Sensitivity(result, comparison)


def _search_recipe(recipe: str | Path | SearchRecipe, changes: list[str]) -> SearchRecipe:
    if isinstance(recipe, SearchRecipe):
        if changes:
            raise UserError("settings go before those of a recipe by name; this one is complete")
        return recipe
    if is_study(recipe):
        raise UserError(
            f"{recipe} is the recipe of a study; what is varied is the space of a one-shot search, "
            "such as ess-laptop"
        )
    return load_search_recipe(recipe, changes)


def _check_count(what: str, number: Any, least: int, most: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise UserError(f"{what} should be from {least} to {most:,}, not {shown(number)}")


def _whole(cell: Cell) -> Cell:
    if cell.is_supernet:
        raise UserError(
            f"{cell.name or cell.id} is a supernet, which cannot be trained beside cells"
        )
    return cell


def _check(
    grid: Grid,
    seeds: Sequence[int],
    task: Task[Any],
    recipe: Recipe,
    trained: Task[Any],
    parameters: int | None,
) -> None:
    """Say now what is wrong with the last search or the trainings, and not after the others."""
    for point in grid.points:
        check_search_size(point.recipe, task, seeds[0])
    check_data(trained, recipe)
    width_of(recipe)
    if parameters is not None:
        fitting_width(zoo["rnn"], trained, recipe, parameters)


def _search(
    folder: Path, grid: Grid, seeds: Sequence[int], told: Watcher, checkpoint_seconds: float
) -> dict[str, SearchFolder]:
    """The searches of all points, by their labels; those that have not ended go on, or begin."""
    found: dict[str, SearchFolder] = {}
    points = grid.points
    for number, point in enumerate(points, 1):
        search = point_search(folder, point, seeds)
        if search is None or not search.ended:
            told.note(f"search {number} of {len(points)}: {point.words}")
            resumed = search is not None
            if search is None:
                path = search_path(folder, point)
                search = SearchFolder.create(point.recipe, seeds, path=path)
            else:
                say_differences(search, told)
            told.opened(search, resumed)
            try:
                run_search(search, told, checkpoint_seconds=checkpoint_seconds)
            except Stopped as stop:
                raise Stopped(folder, stop.signal, "the same command") from None
        if search.info.status == "diverged":
            told.warn(f"the search with {point.words} diverged: its cell is where it stood")
        found[point.label] = search
    return found
