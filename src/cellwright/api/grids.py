"""Whole experiments, stage by stage."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from cellwright.api.grid_stages import Stages
from cellwright.api.inputs import Settings, overrides
from cellwright.api.progress import chosen
from cellwright.api.results.grid import GridFound
from cellwright.api.studying import Where
from cellwright.api.watching import Watcher
from cellwright.base.errors import UserError
from cellwright.base.names import file_stem
from cellwright.grids.folder import GRIDS, STORE, GridFolder, open_grid
from cellwright.grids.recipes import GridRecipe, load_grid_recipe, trials_of
from cellwright.grids.results import GridFigures, StageResult
from cellwright.grids.time_left import time_left
from cellwright.report.grid.page import write_grid_report
from cellwright.trials.executors.choosing import check_choice
from cellwright.trials.store.urls import shown_place


def grid(
    recipe: str | Path | GridRecipe,
    *,
    settings: Settings | None = None,
    name: str | None = None,
    out: Path | str = GRIDS,
    store: str | None = None,
    executor: str = "local",
    address: str | None = None,
    workers: int | None = None,
    threads: int = 1,
    command: str = "",
    watcher: Watcher | None = None,
    progress: bool = True,
) -> GridFound:
    """Carry out a whole experiment: searches, tunings and trainings that stand on each other.

    Ctrl-C saves everything; the same call goes on from there. A report is written after each stage.

    Args:
        recipe: of a grid, by name or file.
        settings: that go before the recipe's, as `{"stages.lstm.trials": 5}`.
        name: of the grid; the recipe's unless said.
        out: where grids are.
        store: where studies are kept: a file, or the URL of a PostgreSQL database; a file in the
            grid's folder unless said.
        executor: where trials and trainings run: "local", "ray" or "in-process".
        address: of a Ray cluster.
        workers: how many at once.
        threads: of each trial and training.
        command: what made it, for the report.
        watcher: who is told how it goes, in place of what is shown.
        progress: show how it goes, on a terminal or in a notebook.

    Raises:
        UserError: something that was given is wrong, or a stage has given nothing that the next
            ones could go on with.
        KeyboardInterrupt: Ctrl-C was pressed; everything is saved.
    """
    told = chosen(watcher, progress)
    changes = overrides(settings)
    if isinstance(recipe, GridRecipe):
        if changes:
            raise UserError("settings go before those of a recipe by name; this one is complete")
        how = recipe
    else:
        how = load_grid_recipe(recipe, changes)
    check_choice(executor, threads=threads, workers=workers, address=address)
    path = Path(out) / file_stem(name or how.name, "grid")
    folder = open_grid(path, how, STORE if store is None else shown_place(store))
    where = Where(executor=executor, address=address, workers=workers, threads=threads)
    stages = Stages(folder, how, store or str(path / STORE), where, told)
    run = _Run(how, folder, stages, told, command)
    return run.to_the_end()


@dataclass
class _Run:
    recipe: GridRecipe
    folder: GridFolder
    stages: Stages
    told: Watcher
    command: str
    results: dict[str, StageResult] = field(default_factory=dict)

    def to_the_end(self) -> GridFound:
        """All stages, one after the other, with a report after each."""
        total, before = len(self.recipe.stages), self.folder.done
        trials = {name: trials_of(stage) for name, stage in self.recipe.stages.items()}
        for number, (name, stage) in enumerate(self.recipe.stages.items(), 1):
            left = time_left(self.recipe, self.folder.wall, trials, self.folder.done)
            self.told.stage(number, total, f"{name}: {stage.kind}", left)
            with self.folder.timed(name):
                self.results[name] = self.stages.run(name, stage, self.results)
            if before <= self.results.keys():  # a report that says more stays until then
                self._report()
        return GridFound(self.folder.path, self._figures(), self._report())

    def _report(self) -> Path:
        return write_grid_report(self._figures(), self.folder.path, self.command)

    def _figures(self) -> GridFigures:
        return GridFigures(self.recipe, dict(self.results))
