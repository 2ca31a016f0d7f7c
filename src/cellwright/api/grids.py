"""Whole experiments, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping
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
from cellwright.grids.folder import GRIDS, GridFolder, open_grid
from cellwright.grids.recipes import GridRecipe, TuneStage, load_grid_recipe, overrides_of
from cellwright.grids.results import GridFigures, StageResult
from cellwright.grids.time_left import time_left
from cellwright.report.grid.page import write_grid_report
from cellwright.search.tuning.recipes import load_tune_recipe
from cellwright.trials.executors.choosing import check_choice


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
    folder = open_grid(Path(out) / file_stem(name or how.name, "grid"), how)
    where = Where(executor=executor, address=address, workers=workers, threads=threads)
    stages = Stages(folder, how, store or str(folder.store), where, told)
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
        total, trials = len(self.recipe.stages), self._trials()
        report = self._report()
        for number, (name, stage) in enumerate(self.recipe.stages.items(), 1):
            left = time_left(self.recipe, self.folder.wall, trials, set(self.results))
            self.told.stage(number, total, f"{name}: {stage.kind}", left)
            with self.folder.timed(name):
                self.results[name] = self.stages.run(name, stage, self.results)
            report = self._report()
        return GridFound(self.folder.path, self._figures(), report)

    def _report(self) -> Path:
        return write_grid_report(self._figures(), self.folder.path, self.command)

    def _figures(self) -> GridFigures:
        return GridFigures(self.recipe, dict(self.results))

    def _trials(self) -> Mapping[str, int]:
        """How many trials the stages that tune will have."""
        return {
            name: stage.trials
            or load_tune_recipe(stage.recipe, overrides_of(stage.settings)).trials
            for name, stage in self.recipe.stages.items()
            if isinstance(stage, TuneStage)
        }
