"""Searching in a folder: one seed after the other, then the choice among what they propose.

Everything is kept, and whatever was interrupted goes on from there, to the same cell bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps
from cellwright.base.locks import training_lock
from cellwright.base.progress import Progress
from cellwright.cell import Cell
from cellwright.runs.cell_file import write_cell
from cellwright.runs.lost_files import check_complete
from cellwright.runs.recipes import opened
from cellwright.runs.run import task_of
from cellwright.runs.runner import work_in
from cellwright.search.one_shot.choosing import (
    Candidate,
    all_diverged,
    candidate_of,
    choose,
    train_candidates,
)
from cellwright.search.one_shot.folder import (
    FOUND,
    SELECTION,
    SearchFolder,
    SeedFolder,
)
from cellwright.search.one_shot.kinds import Epoch, make_search
from cellwright.search.one_shot.proposals import proposed
from cellwright.search.one_shot.short_trainings import ChoiceWatcher
from cellwright.tasks.task import Task
from cellwright.training.results import StepDone


class Watcher(ChoiceWatcher):
    """Who is told while a search goes on. This one says nothing."""

    def searching(
        self, folder: SeedFolder, resumed: bool
    ) -> AbstractContextManager[Callable[[StepDone | Epoch], None] | None]:
        """Entered for the search of each seed; what it gives is called with each event."""
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
    `selection_epochs`. With `selection_cells` each seed proposes more than that
    (`proposals.py`), and the choice is by successive halving.

    Returns:
        the candidates, the chosen one first.

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
        proposals = proposed(folder)
        reached = train_candidates(folder, proposals, watcher, checkpoint_seconds)
        candidates = choose([candidate_of(folder, each, reached.get(each)) for each in proposals])
        chosen = candidates[0].seed, candidates[0].number
        [cell] = [each.cell for each in proposals if (each.seed, each.number) == chosen]
        cell = named(folder, cell)
        write_cell(folder.path / FOUND, cell)
        cell.draw(str(folder.path / "found.svg"))
        _write_selection(folder.path, candidates)
        folder.set_status("diverged" if all_diverged(candidates) else "finished")
        return candidates


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


def _write_selection(path: Path, candidates: list[Candidate]) -> None:
    value = {"chosen": candidates[0].seed, "candidates": [asdict(each) for each in candidates]}
    write_whole(path / SELECTION, dumps(value, indent=2).encode() + b"\n")
