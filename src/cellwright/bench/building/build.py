"""`build`: train the cells of a benchmark as a study, and `collect`: the study as a benchmark.

The store keeps every training as it ends, so a build can be stopped or killed at any moment and
goes on from there, with any number of workers, on any executor.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from cellwright.bench.assembling import assemble
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.building.choosing import baselines, spread_first, stratified
from cellwright.bench.building.method import Repeated
from cellwright.bench.building.progress import Counter, Watch
from cellwright.bench.building.recording import run_of
from cellwright.bench.errors import BenchError
from cellwright.bench.runs import CURVES, Architecture
from cellwright.cell import Cell
from cellwright.runs.recipes import Recipe, opened
from cellwright.spaces import Pool, Space
from cellwright.tasks.registry import open_task
from cellwright.trials.executors import Call, Executor
from cellwright.trials.store import (
    Overview,
    Store,
    failure_reasons,
    find_study,
    has_study,
    list_trials,
    read_curves,
)
from cellwright.trials.store.errors import DamagedError
from cellwright.trials.store.trials import FAILED
from cellwright.trials.study import run_study
from cellwright.trials.task_label import TaskLabel

EVALUATOR = "cellwright.trials.evaluator:train_trial"


@dataclass(frozen=True)
class Building:
    """All that decides a benchmark's cells and losses.

    Args:
        name: of the study.
        method: which cells, how often, for how many epochs.
        cells: how many cells.
        recipe: how each is trained, and on which data.
        task: what is learned, and how its losses are shown.
        fingerprint: of the data.
        threads: of each training, since sums may depend on it.
        checkpoints: a folder for checkpoints of long trainings; none if None.
    """

    name: str
    method: Callable[[], Repeated]
    cells: int
    recipe: Recipe
    task: TaskLabel
    fingerprint: str
    threads: int = 1
    checkpoints: str | None = None

    @property
    def trials(self) -> int:
        """How many trainings there are in all."""
        return self.method().trials_of(self.cells)


class _Settings(TypedDict):
    """What all lists of trainings have."""

    epochs: int
    repeats: int
    repeated: int | None


def drawn(
    name: str,
    space: Space,
    recipe: Recipe,
    *,
    cells: int,
    repeats: int,
    epochs: int,
    repeated: int | None = None,
    seed: int = 0,
    first: tuple[Cell, ...] | None = None,
    threads: int = 1,
    checkpoints: str | None = None,
) -> Building:
    """A benchmark of cells that are drawn from a space.

    Args:
        name: of the study.
        space: where the cells come from.
        recipe: how they are trained; its epochs are not looked at.
        cells: how many, with the given ones.
        repeats: how often each is trained.
        epochs: how long.
        repeated: how many of them are trained so often, the others once; all if None.
        seed: decides which cells are drawn.
        first: cells that it has in any case; the baselines unless said.
        threads: of each training.
        checkpoints: a folder for checkpoints of long trainings.
    """
    own = baselines() if first is None else first

    def method() -> Repeated:
        how = _Settings(epochs=epochs, repeats=repeats, repeated=repeated)
        return Repeated(space, seed=seed, first=own, **how)

    return _building(name, method, cells, recipe, epochs, threads, checkpoints)


def like(
    name: str,
    other: Benchmark,
    recipe: Recipe,
    *,
    cells: int,
    repeats: int,
    epochs: int,
    repeated: int | None = None,
    seed: int = 0,
    first: tuple[Cell, ...] | None = None,
    threads: int = 1,
    checkpoints: str | None = None,
) -> Building:
    """A benchmark of cells of another one, a stratified sample by final test loss.

    The arguments are those of `drawn`; cells of `first` that the other benchmark does not have come
    before all others. Those that are `repeated` are the ones of `first`, and good and bad ones.
    """
    own = baselines() if first is None else first
    more = tuple(cell for cell in own if cell not in other)[:cells]
    known = stratified(other, cells - len(more), seed=seed, first=own) if cells > len(more) else ()
    always = {cell.id for cell in own}
    kept = sum(cell.id in always for cell in more + known)
    chosen = spread_first(more + known, repeated or 0, kept)

    def method() -> Repeated:
        how = _Settings(epochs=epochs, repeats=repeats, repeated=repeated)
        return Repeated(Pool(chosen), seed=seed, first=chosen, drawn=False, **how)

    return _building(name, method, cells, recipe, epochs, threads, checkpoints)


def given(
    name: str,
    architectures: Sequence[Cell],
    recipe: Recipe,
    *,
    repeats: int,
    epochs: int,
    repeated: int | None = None,
    threads: int = 1,
    checkpoints: str | None = None,
) -> Building:
    """A benchmark of these cells; of equal graphs the first is taken.

    The arguments are those of `drawn`.
    """
    first: dict[str, Cell] = {}
    for cell in architectures:
        first.setdefault(cell.id, cell)
    cells = tuple(first.values())

    def method() -> Repeated:
        how = _Settings(epochs=epochs, repeats=repeats, repeated=repeated)
        return Repeated(Pool(cells), first=cells, drawn=False, **how)

    return _building(name, method, len(cells), recipe, epochs, threads, checkpoints)


def build(
    store: Store, building: Building, executor: Executor, watch: Watch | None = None
) -> Overview:
    """Train what is not trained yet.

    Raises:
        StudyStopped: Ctrl-C was pressed, or the process was asked to end; nothing is lost.
        StudyError: the study was begun with other settings, or too many trials fail.
    """
    total = building.trials
    method = building.method()
    progress = Counter(_ended(store, building), total, method, watch)
    return run_study(
        store,
        building.name,
        method,
        _call(building),
        executor,
        trials=total,
        task=building.task,
        watch=progress.see,
    )


def collect(store: Store, building: Building, title: str) -> Benchmark:
    """The benchmark of a study whose trainings have all ended.

    Raises:
        BenchError: some have not, all have failed, or the space has too few cells.
        StoreError: there is no such study.
    """
    study = find_study(store, building.name)
    method = building.method()
    trials = list(itertools.islice(iter(method.ask, None), building.trials))
    if len(trials) < building.trials:
        raise BenchError(
            f"only {len({trial.cell.id for trial in trials}):,} different cells could be drawn, "
            f"not {building.cells:,}"
        )
    records = {record.number: record for record in list_trials(store, study)}
    missing = [t for t in trials if t.number not in records or not records[t.number].ended_at]
    if missing:
        raise BenchError(f"{len(missing):,} of {len(trials):,} trainings have not ended yet")
    if all(records[trial.number].state == FAILED for trial in trials):
        raise BenchError(
            f"all {len(trials):,} trainings failed, so there is no benchmark; once that is put "
            "right, build it under another name:\n" + "\n".join(failure_reasons(store, study))
        )
    curves = {name: read_curves(store, study, name=name) for name in CURVES}
    settings = _settings(building)
    rows = []
    for _, group in itertools.groupby(trials, key=lambda trial: method.place(trial.number)[0]):
        own = list(group)
        cell = own[0].cell
        runs = []
        for trial in own:
            its = {name: found.get(trial.number, ()) for name, found in curves.items()}
            called = f"{cell.name or cell.id}/{trial.seed}"
            try:
                runs.append(run_of(records[trial.number], its, settings, called))
            except BenchError as error:  # what the store has of it does not fit together
                raise DamagedError(str(error), f"trial {trial.number}", study.name) from None
        rows.append(Architecture(cell.name or cell.id, cell, runs))
    corpus = Path(building.recipe.task.data).name
    label = building.task
    return assemble(rows, title=title, corpus=corpus, kind=label.kind, metric=label.metric)


def _building(
    name: str,
    method: Callable[[], Repeated],
    cells: int,
    recipe: Recipe,
    epochs: int,
    threads: int,
    checkpoints: str | None,
) -> Building:
    if cells < 1:
        raise BenchError("a benchmark has at least one cell")
    method()  # settings that cannot be are told here
    training = recipe.training.model_copy(update={"epochs": epochs})
    own = opened(recipe).on(None)  # workers may have another working folder
    task = open_task(own.task)
    label = TaskLabel(own.task.kind, task.metric, task.describe())
    # What a recipe says of itself does not decide a result.
    own = own.model_copy(update={"training": training, "description": ""})
    return Building(name, method, cells, own, label, task.fingerprint, threads, checkpoints)


def _call(building: Building) -> Call:
    return Call(
        EVALUATOR,
        {
            "recipe": building.recipe.model_dump(mode="json"),
            "fingerprint": building.fingerprint,
            "threads": building.threads,
            "checkpoints": building.checkpoints,
        },
    )


def _settings(building: Building) -> dict[str, Any]:
    """What every run was trained with, in one flat table."""
    recipe = building.recipe
    tables = {name: getattr(recipe, name).model_dump() for name in ("task", "model", "training")}
    return {
        "data": recipe.task.data,
        "recipe": recipe.name,
        "epochs": recipe.training.epochs,
        "fingerprint": building.fingerprint,
        **{
            f"{table}.{name}": value
            for table, values in tables.items()
            for name, value in values.items()
            if (table, name) not in (("training", "epochs"), ("task", "data"))
        },
    }


def _ended(store: Store, building: Building) -> int:
    if not has_study(store, building.name):
        return 0
    records = list_trials(store, find_study(store, building.name))
    return sum(record.ended_at is not None for record in records)
