"""Searching in a folder: one seed after the other, then the choice among what they found.

Everything is kept, and whatever was interrupted goes on from there, to the same cell bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps
from cellwright.base.locks import training_lock
from cellwright.base.progress import Progress
from cellwright.cell import Cell
from cellwright.runs.cell_file import write_cell
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.lost_files import check_complete, or_move_away
from cellwright.runs.recipes import Recipe, opened
from cellwright.runs.run import Run, fresh_run, reopen, task_of
from cellwright.runs.runner import Event, train, work_in
from cellwright.search.one_shot.folder import (
    FOUND,
    SELECTION,
    SearchFolder,
    SeedFolder,
)
from cellwright.search.one_shot.kinds import Epoch, make_search
from cellwright.tasks.task import Task
from cellwright.training.results import StepDone


@dataclass(frozen=True)
class Candidate:
    """What one seed found. Losses are those on the validation data.

    `supernet` is the search's own at its end, `retrained` that of the cell after a short training;
    None without one.
    """

    seed: int
    cell_id: str
    status: str
    supernet: float
    seconds: float
    retrained: float | None = None
    retraining_seconds: float = 0.0


class Watcher:
    """Who is told while a search goes on. This one says nothing."""

    def searching(
        self, folder: SeedFolder, resumed: bool
    ) -> AbstractContextManager[Callable[[StepDone | Epoch], None] | None]:
        """Entered for the search of each seed; what it gives is called with each event."""
        return nullcontext()

    def retraining(
        self, folder: RunFolder, resumed: bool
    ) -> AbstractContextManager[Callable[[Event], None] | None]:
        """Entered for each short training; what it gives is called with each event."""
        return nullcontext()

    def searched(self, folder: SeedFolder) -> None:
        """Called when the search of a seed has ended, to draw it perhaps."""


def run_search(
    folder: SearchFolder,
    watcher: Watcher | None = None,
    *,
    checkpoint_seconds: float = 60.0,
    progress: Progress | None = None,
) -> list[Candidate]:
    """Search with every seed, choose among what they found, and write the cell down.

    Among several seeds the papers choose by training what each found from scratch for a short time
    (DARTS; I-DARTS section 3.1, four seeds); so it is done here, for the recipe's
    `selection_epochs`.

    Returns:
        what each seed found, the chosen one first.

    Raises:
        Stopped: Ctrl-C was pressed; the folder has everything.
        RunError: a file cannot be written or is damaged, or another process searches here.
    """
    watcher = watcher or Watcher()
    with training_lock(folder.path):
        folder.refresh()
        folder.refuse_ended()
        task = task_of(folder, folder.info.recipe, progress)
        for seed in folder.info.seeds:
            _search(folder.seed_folder(seed), task, watcher, checkpoint_seconds)
            watcher.searched(folder.seed_folder(seed))
        if len(folder.info.seeds) > 1:
            recipe = folder.info.recipe.short_training()
            for seed in folder.info.seeds:
                _retrain(folder, seed, recipe, watcher, checkpoint_seconds)
        candidates = choose(_candidates(folder))
        cell = named(folder, folder.seed_folder(candidates[0].seed).cell())
        write_cell(folder.path / FOUND, cell)
        cell.draw(str(folder.path / "found.svg"))
        _write_selection(folder.path, candidates)
        folder.set_status("diverged" if all_diverged(candidates) else "finished")
        return candidates


def choose(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates, best first: by the loss after retraining; without it, the search's own.

    A cell that diverged when it was trained comes after all that did not.
    """

    def merit(candidate: Candidate) -> tuple[float, float]:
        trained = candidate.retrained
        return (0.0 if trained is None else _finite(trained), _finite(candidate.supernet))

    return sorted(candidates, key=merit)


def all_diverged(candidates: list[Candidate]) -> bool:
    """Whether no seed came to its end. The cell is then what the first of them stood at."""
    return all(candidate.status != "ok" for candidate in candidates)


def named(folder: SearchFolder, cell: Cell) -> Cell:
    """The cell under the name of its search, with a note on where it comes from."""
    info = folder.info
    source = f"cellwright search {info.recipe.name} on {Path(info.data.name).name}"
    return Cell(cell.nodes, cell.states, cell.output, folder.path.name, {"source": source})


# -- parts of it -------------------------------------------------------------------------------


def _search(
    folder: SeedFolder, task: Task[Any], watcher: Watcher, checkpoint_seconds: float
) -> None:
    if folder.ended:
        return
    check_complete(folder)
    info = folder.info
    search = make_search(opened(info.recipe), task, info.seed, info.backend)
    resumed = folder.last() is not None
    with watcher.searching(folder, resumed) as watch:
        work_in(
            folder,
            search,
            write_result=folder.write_result,
            watch=watch,
            checkpoint_seconds=checkpoint_seconds,
        )


def _retrain(
    folder: SearchFolder, seed: int, recipe: Recipe, watcher: Watcher, checkpoint_seconds: float
) -> None:
    there = folder.retraining(seed)
    if there is not None and there.ended:
        return
    run: Run
    if there is not None:
        with or_move_away(there.path, f"'{folder.go_on}'"):
            run = reopen(there.path)
    else:
        run = fresh_run(
            folder.seed_folder(seed).cell(),
            recipe,
            seed,
            path=folder.retraining_path(seed),
            backend=folder.info.backend,
        )
    with watcher.retraining(run.folder, there is not None) as watch:
        train(run.folder, run.training, watch=watch, checkpoint_seconds=checkpoint_seconds)


def _candidates(folder: SearchFolder) -> list[Candidate]:
    return [_candidate(folder, seed) for seed in folder.info.seeds]


def _candidate(folder: SearchFolder, seed: int) -> Candidate:
    searched = folder.seed_folder(seed)
    figures = searched.figures()
    run = folder.retraining(seed)
    result = None if run is None else run.result()
    cell = searched.cell()
    if run is not None and run.info.cell.id != cell.id:
        raise RunError(f"{run.path} is of another cell than {searched.path} found; move it away")
    return Candidate(
        seed=seed,
        cell_id=cell.id,
        status=figures["status"],
        supernet=figures["valid"],
        seconds=figures["seconds"],
        retrained=None if result is None else result.valid,
        retraining_seconds=0.0 if result is None else result.seconds,
    )


def _write_selection(path: Path, candidates: list[Candidate]) -> None:
    value = {"chosen": candidates[0].seed, "candidates": [asdict(each) for each in candidates]}
    write_whole(path / SELECTION, dumps(value, indent=2).encode() + b"\n")


def _finite(loss: float) -> float:
    return loss if math.isfinite(loss) else math.inf
