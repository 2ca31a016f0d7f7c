"""The stages of a grid, each by what does such work alone: tuning, searching, training."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cellwright.api.comparing import carried_out
from cellwright.api.inputs import as_size
from cellwright.api.results import StudyFound, TuningFound
from cellwright.api.searching import search
from cellwright.api.studying import Where
from cellwright.api.tuning import tuned
from cellwright.api.watching import Watcher, say_differences
from cellwright.base.threads import threads_for
from cellwright.cell import Cell
from cellwright.compare.contenders import Contender, contender, random_contenders
from cellwright.compare.plan import make_plan
from cellwright.compare.results import Standing
from cellwright.grids.folder import GridFolder
from cellwright.grids.recipes import (
    DrawStage,
    GridRecipe,
    SearchStage,
    Stage,
    TrainStage,
    TuneStage,
    overrides_of,
)
from cellwright.grids.results import StageResult
from cellwright.runs.errors import RunError, Stopped
from cellwright.runs.recipes import Recipe, load_recipe, with_settings
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.search.one_shot.proposals import cells_of_search
from cellwright.search.one_shot.recipes import SearchRecipe, load_search_recipe
from cellwright.search.one_shot.searching import run_search
from cellwright.search.recipe_kinds import is_study
from cellwright.search.studies.final import best_cells
from cellwright.search.tuning.recipes import load_tune_recipe
from cellwright.tasks.metric import Metric
from cellwright.trials.retries import Retries
from cellwright.trials.store import Ledger, find_study, open_store

Before = Mapping[str, StageResult]
"""What the stages before one have given, by their names."""


@dataclass(frozen=True)
class Stages:
    """Runs stages; what has been done before is only read.

    Args:
        folder: of the grid.
        recipe: of the grid.
        store: of its studies.
        where: trials and trainings run.
        told: who is told how it goes.
    """

    folder: GridFolder
    recipe: GridRecipe
    store: str
    where: Where
    told: Watcher

    def run(self, name: str, stage: Stage, before: Before) -> StageResult:
        """What a stage gives.

        Raises:
            RunError: nothing came out of it.
        """
        if isinstance(stage, TuneStage):
            return self._tune(name, stage, before)
        if isinstance(stage, SearchStage):
            return self._search(name, stage, before)
        if isinstance(stage, DrawStage):
            found = random_contenders(stage.cells, stage.seed)
            return StageResult(name, stage, tuple(one.cell for one in found))
        return self._train(name, stage, before)

    # -- tuning ----------------------------------------------------------------------------

    def _tune(self, name: str, stage: TuneStage, before: Before) -> StageResult:
        recipe = load_tune_recipe(stage.recipe, overrides_of(stage.settings))
        cells = _cells(name, stage, before)
        found = tuned(
            recipe.model_copy(update={"tune": recipe.tune.with_cells(cells)}).on(None),
            stage.seed,
            name=self.folder.study(name),
            store=self.store,
            out=self.folder.path / "studies",
            trials=stage.trials,
            where=self.where,
            told=self.told,
            baseline=stage.baseline,
        )
        if found.best_recipe is None or found.cell is None:
            raise RunError(f"the stage {name} has no trial with a value; {_why(found)}")
        result = StageResult(
            name,
            stage,
            (found.cell,),
            found.ledger.seconds,
            found.ledger.trials,
            found.best_recipe,
            dict(found.settings),
            found.metric.value(found.best[0].loss),
            _value(found.random, found.metric),
            found.metric,
            failures=found.failures,
        )
        if not stage.row:
            return result
        # More trials may find better settings: those have trainings of their own.
        place = self.folder.trained(name) / f"trial-{found.best[0].record.number}"
        one = contender(found.cell, name)
        return self._with_training(result, place, [one], found.best_recipe)

    # -- searching -------------------------------------------------------------------------

    def _search(self, name: str, stage: SearchStage, before: Before) -> StageResult:
        changes = overrides_of(stage.settings)
        if is_study(stage.recipe):
            return self._study(name, stage, changes)
        recipe = load_search_recipe(stage.recipe, changes)
        if stage.like is not None:
            recipe = _like(stage, before[stage.like].recipe, changes)
        path = self.folder.path / "searches" / name
        threads = self.where["threads"]
        with threads_for(threads):
            if path.exists():
                folder = SearchFolder.open(path)
                if _settings(folder.info.recipe) != _settings(recipe.on(None)):
                    raise RunError(f"{path} was begun with other settings; choose another name")
            else:
                folder = SearchFolder.create(recipe, [stage.seed], path=path)
            if not folder.ended:
                say_differences(folder, self.told)
                self.told.opened(folder, folder.seed_folder(stage.seed).last() is not None)
                try:
                    run_search(folder, self.told)
                except Stopped as stop:
                    raise Stopped(self.folder.path, stop.signal, "the same command") from None
        folder = SearchFolder.open(path)
        if folder.info.status == "diverged":
            self.told.warn(f"the search {name} diverged: its cell is where it stood")
        cells = [
            cell.renamed(f"{name}-{number}")
            for number, cell in enumerate(cells_of_search(folder, stage.cells), 1)
        ]
        candidates = folder.selection()["candidates"]
        seconds = sum({each["seed"]: each["seconds"] for each in candidates}.values())
        seconds += sum(each["retraining_seconds"] for each in candidates)
        return StageResult(name, stage, tuple(cells), seconds)

    def _study(self, name: str, stage: SearchStage, changes: Sequence[str]) -> StageResult:
        found = search(
            stage.recipe,
            settings=list(changes),
            seed=stage.seed,
            name=self.folder.study(name),
            out=self.folder.path / "studies",
            trials=stage.trials,
            baseline=stage.baseline,
            store=self.store,
            watcher=self.told,
            **self.where,
        )
        assert isinstance(found, StudyFound)
        if found.cell is None:
            raise RunError(f"the stage {name} has found no cell; {_why(found)}")
        with open_store(self.store) as opened:
            others = best_cells(opened, find_study(opened, found.name), stage.cells)
        # What a comparison at the end chose comes first, if there was one.
        first = [] if found.final is None else [found.cell]
        cells = list({cell.id: cell for cell in (*first, *others)}.values())[: stage.cells]
        ledger = found.ledger
        return StageResult(
            name,
            stage,
            tuple(cells),
            ledger.seconds,
            ledger.trials,
            best=_value(ledger, found.metric),
            random=_value(found.random, found.metric),
            metric=found.metric,
            failures=found.failures,
        )

    # -- training --------------------------------------------------------------------------

    def _train(self, name: str, stage: TrainStage, before: Before) -> StageResult:
        if stage.like is not None:
            best = before[stage.like].recipe
            assert best is not None
            recipe = with_settings(best, stage.settings)
        else:
            recipe = load_recipe(stage.recipe, overrides_of(stage.settings))
        cells = _cells(name, stage, before)
        result = StageResult(name, stage, cells, recipe=recipe)
        ones = [contender(cell) for cell in cells]
        place = self.folder.trained(name)
        return self._with_training(result, place, ones, recipe, stage.parameters)

    def _with_training(
        self,
        result: StageResult,
        place: Path,
        contenders: Sequence[Contender],
        recipe: Recipe,
        parameters: str | int | None = None,
    ) -> StageResult:
        """The result with the values of its best cell, trained from fresh seeds."""
        plan = make_plan(
            place,
            contenders,
            recipe,
            self.recipe.seeds,
            threads=self.where["threads"] or 1,
            parameters=as_size(parameters),
        )
        compared = carried_out(
            plan,
            self.told,
            executor=self.where["executor"],
            where={"workers": self.where["workers"], "address": self.where["address"]},
            retries=Retries(),
            command="",
            width=None,
            sections=lambda ranked: [],
        )
        best = compared.standings[0]
        return replace(
            result,
            cell=best.contender.cell,
            metric=plan.metric,
            valid=best.valid,
            test=best.test,
            training=_seconds(compared.standings),
            parameters=best.parameters,
            failures=(*result.failures, *(str(each) for each in compared.failures)),
        )


def _why(found: TuningFound | StudyFound) -> str:
    """Why nothing came out, and what can be done."""
    said = "once that is put right, give the grid another name"
    return f"{said}: {found.failures[0]}" if found.failures else f"all trials {found.status}"


def _value(ledger: Ledger | None, metric: Metric) -> float | None:
    """The best value that a ledger is of, as the metric has it."""
    return None if ledger is None or ledger.value is None else metric.value(ledger.value)


def _settings(recipe: SearchRecipe) -> dict[str, Any]:
    return recipe.model_dump(mode="json", exclude={"name", "description"})


def _seconds(ranked: Sequence[Standing]) -> float:
    return math.fsum(run.result.seconds for one in ranked for run in one.runs)


def _cells(name: str, stage: TuneStage | TrainStage, before: Before) -> tuple[Cell, ...]:
    """The cells of a stage: its own, and those of stages before it; none twice."""
    named = [Cell.from_json(text) for text in stage.cells]
    given = [cell for other in stage.cells_of for cell in before[other].cells]
    found = {cell.id: cell for cell in [*named, *given]}
    if not found:
        raise RunError(f"the stage {name} has no cells: {', '.join(stage.cells_of)} gave none")
    return tuple(found.values())


def _like(stage: SearchStage, best: Recipe | None, changes: Sequence[str]) -> SearchRecipe:
    """A search in the model that was best for other cells, with its batches and its decay.

    So ENAS-pairs searches (section 3.3), but for the rate and the clipping, which are the search's
    own. What the stage says itself goes before.
    """
    assert best is not None
    model: dict[str, Any] = best.model.model_dump(mode="json")
    # The kind comes first: a table of another kind begins with nothing.
    settings: dict[str, Any] = {"model.kind": model.pop("kind")}
    settings |= {f"model.{key}": value for key, value in model.items()}
    settings["search.batch"] = best.training.batch
    settings["search.weight_decay"] = best.training.weight_decay
    return load_search_recipe(stage.recipe, [*overrides_of(settings), *changes])
