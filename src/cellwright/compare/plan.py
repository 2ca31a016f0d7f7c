"""What a comparison is: `comparison.json` in its folder, and the cells beside it.

FOLDER/comparison.json      recipe, metric, data, cells, seeds, threads
FOLDER/cells/LABEL.json     a cell, and its picture LABEL.svg
FOLDER/runs/LABEL-seedN/    a training, an ordinary run folder
FOLDER/failures.json        trainings that failed, however often they were tried
FOLDER/index.html           the report, with results.json, table.csv, runs.csv, curves.svg
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cellwright.base.errors import FileError, refused, shown
from cellwright.base.files import make_inside, write_whole
from cellwright.base.folder_kinds import kind_of
from cellwright.base.json_values import dumps
from cellwright.base.memory import NotEnoughMemoryError
from cellwright.base.progress import Progress
from cellwright.base.regular_files import read_regular
from cellwright.cell import Cell
from cellwright.compare.contenders import Contender, told_apart
from cellwright.compare.plan_values import FORMAT, CellEntry, plan_values
from cellwright.compare.widths import same_size, with_width
from cellwright.runs.cell_file import read_cell, write_cell
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.recipes import Recipe, opened
from cellwright.tasks.metric import Metric
from cellwright.tasks.registry import open_task
from cellwright.tasks.task import Task
from cellwright.training.size import check_size

FILE, CELLS, RUNS = "comparison.json", "cells", "runs"

MOST_SEEDS = 10_000
"""How often a cell may be trained."""


@dataclass(frozen=True)
class Plan:
    """A comparison in its folder; `text` describes the data, `fingerprint` is a hash of it.

    `threads` are those of each training: times, and last digits, depend on their number.
    """

    folder: Path
    recipe: Recipe
    contenders: tuple[Contender, ...]
    seeds: tuple[int, ...]
    metric: Metric
    text: str
    fingerprint: str
    threads: int = 1

    @property
    def runs(self) -> list[tuple[Contender, int]]:
        """Every training, in the order in which they begin: all cells with the first seed, then
        with the next, so that what there is can be compared at any time."""
        return [(one, seed) for seed in self.seeds for one in self.contenders]

    def run_path(self, label: str, seed: int) -> Path:
        """The folder of a training."""
        return self.folder / RUNS / f"{label}-seed{seed}"

    def cell_path(self, label: str, ending: str = "json") -> Path:
        """The file of a cell or of its picture."""
        return self.folder / CELLS / f"{label}.{ending}"

    def find(self, label: str) -> Contender:
        """The cell of that label."""
        for one in self.contenders:
            if one.label == label:
                return one
        raise RunError(f"{self.folder} has no cell {label!r}")

    def recipe_of(self, one: Contender) -> Recipe:
        """How a cell is trained: by its own recipe or the comparison's, with the width that the
        cell has of its own."""
        recipe = self.recipe if one.recipe is None else one.recipe
        return recipe if one.width is None else with_width(recipe, one.width)

    def run(self, label: str, seed: int) -> RunFolder | None:
        """A training, if it has begun.

        Raises:
            RunError: what is in its place is another one.
        """
        path = self.run_path(label, seed)
        if not path.exists():
            return None
        folder = RunFolder.open(path)
        info, one = folder.info, self.find(label)
        same = (
            info.cell.id == one.cell.id
            and info.seed == seed
            and _settings(info.recipe) == _settings(self.recipe_of(one))
            and info.data.fingerprint == self.fingerprint
        )
        if not same:
            raise RunError(
                f"{path} is a training of another cell, seed, recipe or data than this comparison "
                "has; move it away, or compare in another folder"
            )
        return folder


def make_plan(
    folder: Path,
    contenders: Sequence[Contender],
    recipe: Recipe,
    seeds: int,
    *,
    data: str | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    beside: Sequence[str] = (),
    parameters: int | Cell | None = None,
) -> Plan:
    """Look at everything that could be wrong, and write down what is compared.

    Args and errors are those of `checked_plan`.
    """
    plan = checked_plan(
        folder,
        contenders,
        recipe,
        seeds,
        data=data,
        threads=threads,
        progress=progress,
        beside=beside,
        parameters=parameters,
    )
    write_plan(plan)
    return plan


def checked_plan(
    folder: Path,
    contenders: Sequence[Contender],
    recipe: Recipe,
    seeds: int,
    *,
    data: str | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    beside: Sequence[str] = (),
    parameters: int | Cell | None = None,
) -> Plan:
    """Look at everything that could be wrong; nothing is written yet.

    A folder that has a comparison already is gone on with: cells and seeds may be added.

    Args:
        folder: where everything goes.
        contenders: the cells.
        recipe: how each is trained.
        seeds: how many; they are 0, 1, ….
        data: data by name or folder, in place of the recipe's.
        threads: of each training.
        progress: called while data is read for the first time.
        beside: names of what the folder may have before it has a comparison.
        parameters: that each model has at most, or the cell whose model has as many: widths are
            then the largest that fit, and not the recipe's.

    Raises:
        RunError: two cells are the same, or the folder is of another comparison.
        DataError: the data is not there.
    """
    if not 1 <= seeds <= MOST_SEEDS:
        raise RunError(f"a comparison has from 1 to {MOST_SEEDS:,} seeds, not {shown(seeds)}")
    if threads < 1:
        raise RunError(f"a training needs one thread at least, not {threads}")
    recipe = opened(recipe).on(data)
    cells = told_apart(contenders)
    check_place(folder, beside)
    task = open_task(recipe.task, progress)
    check_data(task, recipe)
    if parameters is not None:
        cells = same_size(cells, task, recipe, parameters)
    plan = Plan(
        folder,
        recipe,
        cells,
        tuple(range(seeds)),
        task.metric,
        task.describe(),
        task.fingerprint,
        threads,
    )
    _check_sizes(plan, task, progress)
    if (folder / FILE).exists():
        _check_same(read_plan(folder), plan)
    return plan


def check_place(folder: Path, beside: Sequence[str] = ()) -> None:
    """Say so if a comparison cannot be in this folder."""
    try:
        if folder.exists() and not folder.is_dir():
            raise RunError(f"{folder} is a file; a comparison is a folder")
        if folder.is_dir() and not (folder / FILE).exists():
            # What a process left that was killed before it had written the file.
            strange = [p.name for p in folder.iterdir() if p.name not in (CELLS, "lock", *beside)]
            strange = [name for name in strange if not name.startswith(".")]
            if strange:
                kind = kind_of(folder)
                what = f"is {kind}" if kind else f"has other files, such as {strange[0]}"
                raise RunError(
                    f"{folder} {what}, and no comparison of cells; choose another folder with -o"
                )
    except OSError as error:
        raise refused("read", folder, error) from None


def check_data(task: Task[Any], recipe: Recipe) -> None:
    """Say so here if there is too little data for the recipe, and not once for each training."""
    task.batches("train", recipe.training.batch, 0, 0)
    for part in ("valid", "test"):
        task.ordered(part, recipe.training.evaluation_batch)


def _check_sizes(plan: Plan, task: Task[Any], progress: Progress | None) -> None:
    """Say so here if a cell cannot be trained on this machine, and not after others were."""
    batch = task.batches("train", plan.recipe.training.batch, 0, 0)[0]
    for one in plan.contenders:
        recipe, own, first = plan.recipe_of(one), task, batch
        if one.recipe is not None:
            own = _own_task(plan, one.recipe, progress)
            first = own.batches("train", recipe.training.batch, 0, 0)[0]
        try:
            model = partial(own.model, one.cell, recipe.model)
            check_size(model, first, recipe.training, "training")
        except NotEnoughMemoryError as error:
            raise NotEnoughMemoryError(f"{one.label}: {error}") from None


def _own_task(plan: Plan, recipe: Recipe, progress: Progress | None) -> Task[Any]:
    """The task of a cell that has a recipe of its own."""
    task = open_task(recipe.task, progress)
    if (task.fingerprint, task.metric) != (plan.fingerprint, plan.metric):
        raise RunError(f"{recipe.name} is about other data, or another metric, than {plan.folder}")
    check_data(task, recipe)
    return task


def _check_same(before: Plan, now: Plan) -> None:
    """Say so if what is in a folder cannot be part of the comparison that was asked for."""
    where = before.folder
    hint = "choose another folder, or give the settings that it was made with"
    old, new = ({**_settings(p.recipe), "threads": p.threads} for p in (before, now))
    different = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if different:
        key = different[0]
        raise RunError(
            f"{where} was made with other settings: {key} was {old.get(key)} and is "
            f"{new.get(key)}; {hint}"
        )
    if before.fingerprint != now.fingerprint:
        raise RunError(
            f"{where} was made with other data; it was\n{before.text}\nand is\n{now.text}"
        )
    cells = {one.label: one for one in now.contenders}
    for one in before.contenders:
        if one.label not in cells:
            raise RunError(
                f"{where} also compares {one.label}; name all of its cells again (others may be "
                "added), or choose another folder"
            )
        if cells[one.label].cell.id != one.cell.id:
            raise RunError(f"{where} was made with another cell {one.label}; {hint}")
        new_settings, old_settings = (_own_settings(each) for each in (cells[one.label], one))
        if new_settings != old_settings:
            raise RunError(f"{where} was made with other settings of {one.label}; {hint}")
        if cells[one.label].width != one.width:
            raise RunError(f"{where} was made with another width of {one.label}; {hint}")
    if len(now.seeds) < len(before.seeds):
        raise RunError(
            f"{where} was made with {len(before.seeds)} seeds, and cannot have fewer; {hint}"
        )


def _settings(recipe: Recipe) -> dict[str, Any]:
    """What counts of a recipe, as flat names and values."""
    flat: dict[str, Any] = {}
    for table in ("task", "model", "training"):
        values = getattr(recipe, table).model_dump()
        flat |= {f"{table}.{key}": value for key, value in values.items()}
    return flat


def _own_settings(one: Contender) -> dict[str, Any]:
    return {} if one.recipe is None else _settings(one.recipe)


# -- on disk -------------------------------------------------------------------------------------


def write_plan(plan: Plan) -> None:
    """Write down what is compared."""
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused("make", plan.folder, error) from None
    make_inside(plan.folder / CELLS)
    for one in plan.contenders:
        write_cell(plan.cell_path(one.label), one.cell)
    value = {
        "format": FORMAT,
        "recipe": plan.recipe.model_dump(),
        "metric": plan.metric.model_dump(),
        "data": {"fingerprint": plan.fingerprint, "description": plan.text},
        "cells": [_entry(one) for one in plan.contenders],
        "seeds": list(plan.seeds),
        "threads": plan.threads,
    }
    text = dumps(value, indent=2).encode("utf-8", "backslashreplace") + b"\n"
    write_whole(plan.folder / FILE, text)


def _entry(one: Contender) -> dict[str, Any]:
    values: dict[str, Any] = {"label": one.label, "id": one.cell.id, "source": one.source}
    if one.width is not None:
        values["width"] = one.width
    if one.recipe is not None:
        values["recipe"] = one.recipe.model_dump()
    return values


def read_plan(folder: Path) -> Plan:
    """The comparison that is in a folder.

    Raises:
        RunError: there is none, or a file of it is damaged.
    """
    path = folder / FILE
    try:
        found = plan_values(read_regular(path))
        return Plan(
            folder,
            found.recipe,
            tuple(_contender(folder, entry) for entry in found.cells),
            tuple(found.seeds),
            found.metric,
            found.data.description,
            found.data.fingerprint,
            found.threads,
        )
    except FileError:
        raise
    except FileNotFoundError:
        raise RunError(f"{folder} is not a comparison: it has no {FILE}") from None
    except OSError as error:
        raise refused("read", path, error) from None
    except ValueError as error:
        raise RunError(f"{path} is damaged, or of another version: {error}") from None


def _contender(folder: Path, entry: CellEntry) -> Contender:
    path = folder / CELLS / f"{entry.label}.json"
    cell = read_cell(path)
    if cell.id != entry.id:
        raise RunError(f"{path} is not the cell that the comparison was made with")
    return Contender(entry.label, cell, entry.source, entry.width, entry.recipe)
