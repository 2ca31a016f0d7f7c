"""The end of a study: its best cells beside known ones, each trained from several fresh seeds.

A search sees each cell once, and the best of many such glimpses is partly luck. What is found is
therefore trained again: for as long as the study's longest trials, from seeds that the search never
had, on the same executors, and kept in the same store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from cellwright.base.statistics import Difference, Spread, difference
from cellwright.cell import Cell
from cellwright.cell.zoo import zoo
from cellwright.search.blackbox.ask_tell import Method
from cellwright.search.studies.recipes import FinalSettings
from cellwright.search.studies.start import Prepared, run_prepared
from cellwright.spaces.settings import check_count
from cellwright.tasks.metric import Metric
from cellwright.trials.executors import Executor
from cellwright.trials.outcome import OK
from cellwright.trials.store import (
    Ledger,
    Store,
    Study,
    TrialRecord,
    cell_of,
    find_study,
    list_trials,
    read_ledger,
)
from cellwright.trials.study import Budget
from cellwright.trials.study.driver import Watch
from cellwright.trials.trial import Trial

Watched = Callable[[Prepared, int], AbstractContextManager[Watch | None]]


@dataclass(eq=False, kw_only=True)
class Final(Method):
    """Not a search, but a list: every cell from seed 0, then every cell from seed 1, and so on.

    Args:
        cells: that are trained.
        seeds: how often each.
    """

    name: ClassVar[str] = "final"

    cells: tuple[Cell, ...] = ()
    seeds: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.title, "seeds", self.seeds, 1, 1000)

    @property
    def finished(self) -> bool:
        """Whether all are handed out."""
        return len(self.trials) == len(self.cells) * self.seeds

    def _propose(self, number: int) -> Trial | None:
        if self.finished:
            return None
        seed, place = divmod(number, len(self.cells))
        return Trial(number, self.cells[place], self.epochs, seed)


@dataclass(frozen=True)
class Finalist:
    """A cell of the comparison, with the metric's values over its seeds.

    Args:
        label: what to call it.
        cell: the cell.
        found: whether the study found it.
        parameters: of its model.
        valid: on the validation data; None if no training has a value.
        test: on the test data; None where the task has none, or no training has a value.
    """

    label: str
    cell: Cell
    found: bool
    parameters: int | None
    valid: Spread | None
    test: Spread | None


@dataclass(frozen=True)
class FinalResult:
    """What came out, the best by validation first.

    Args:
        metric: what the values are of.
        rows: the cells.
        ledger: what the comparison has cost.
    """

    metric: Metric
    rows: tuple[Finalist, ...]
    ledger: Ledger

    @property
    def winner(self) -> Finalist | None:
        """The best cell of those that the study found, whether or not a known one is better."""
        return next((row for row in self.rows if row.found and row.valid is not None), None)

    @property
    def margins(self) -> dict[str, Difference]:
        """How the winner's test values differ from those of each known cell; the metric's, so
        that below 0 is better where lower is better. Validation values where there is no test."""
        best, found = self.winner, {}
        for row in self.rows:
            if best is None or row.found:
                continue
            both = (best.test, row.test) if best.test and row.test else (best.valid, row.valid)
            if both[0] is not None and both[1] is not None:
                found[row.label] = difference(both[0], both[1])
        return found


def run_final(
    settings: FinalSettings,
    prepared: Prepared,
    store: Store,
    executor: Executor,
    *,
    seconds: float | None = None,
    watched: Watched | None = None,
) -> FinalResult | None:
    """Train the best cells of a study that has ended beside known ones; what came out.

    Args:
        settings: of the comparison.
        prepared: the study.
        store: where it is kept, and the comparison, too.
        executor: where trainings run.
        seconds: begin no more of them after this time, once each cell has one.
        watched: gives for the comparison and its number of trainings what is called for every
            event.

    Returns:
        None if the study has found nothing.
    """
    study = find_study(store, prepared.name)
    best = best_cells(store, study, settings.cells, [zoo[name].id for name in settings.against])
    if not best:
        return None
    cells = (*best, *(zoo[name] for name in settings.against))
    budget = Budget(seconds=seconds, least=len(cells))
    final = replace(_prepared(prepared, study, store, cells, settings.seeds), budget=budget)
    many = len(cells) * settings.seeds
    with nullcontext() if watched is None else watched(final, many) as watch:
        run_prepared(final, store, executor, trials=many, watch=watch)
    return _result(store, find_study(store, final.name), cells, len(best))


def best_cells(store: Store, study: Study, many: int, apart: Sequence[str] = ()) -> list[Cell]:
    """The best cells of a study: those that were trained longest, then those of the lowest loss.

    They are called by the study and their trial's number; cells of the zoo keep their names.

    Args:
        store: of the study.
        study: that is looked at.
        many: at most.
        apart: ids of cells that do not count.
    """
    fine = [trial for trial in list_trials(store, study) if trial.status == OK]
    fine.sort(key=lambda trial: (-trial.fidelity, trial.value, trial.number))
    first: dict[str, TrialRecord] = {}
    for trial in fine:
        if trial.cell_id not in apart:
            first.setdefault(trial.cell_id, trial)
    known = {cell.id: name for name, cell in zoo.items()}
    return [
        cell_of(store, study, trial).renamed(
            known.get(trial.cell_id, f"{study.name}-{trial.number}")
        )
        for trial in list(first.values())[:many]
    ]


def _prepared(
    prepared: Prepared, study: Study, store: Store, cells: tuple[Cell, ...], seeds: int
) -> Prepared:
    """The comparison as a study of its own; a longer search has another one."""
    ended = len(list_trials(store, study))
    method = Final(prepared.method.space, epochs=prepared.recipe.epochs, cells=cells, seeds=seeds)
    arguments = {**prepared.evaluate.arguments, "longest": None}
    arguments["checkpoints"] = f"{arguments['checkpoints']}-final"
    return Prepared(
        prepared.recipe.model_copy(update={"window": None}),
        f"{prepared.name}-final-{ended}",
        0,
        method,
        replace(prepared.evaluate, arguments=arguments),
        prepared.task,
    )


def _result(store: Store, study: Study, cells: Sequence[Cell], found: int) -> FinalResult:
    trials = list_trials(store, study)
    rows = []
    for place, cell in enumerate(cells):
        own = [trial for trial in trials if trial.number % len(cells) == place]
        fine = [trial for trial in own if trial.status == OK and trial.value is not None]
        tests = [trial.measures.get("test") for trial in fine]
        rows.append(
            Finalist(
                cell.name,
                cell,
                place < found,
                fine[0].parameters if fine else None,
                Spread.of([study.metric.value(t.value) for t in fine if t.value is not None]),
                Spread.of([study.metric.value(test) for test in tests if test is not None]),
            )
        )
    sign = -1 if study.metric.higher_is_better else 1
    rows.sort(key=lambda row: float("inf") if row.valid is None else sign * row.valid.mean)
    return FinalResult(study.metric, tuple(rows), read_ledger(store, study))


def final_json(result: FinalResult) -> dict[str, Any]:
    """The comparison as JSON values, the metric's."""

    def spread(values: Spread | None) -> dict[str, Any] | None:
        return None if values is None else asdict(values)

    return {
        "metric": result.metric.name,
        "cells": [
            {
                "label": row.label,
                "id": row.cell.id,
                "found": row.found,
                "parameters": row.parameters,
                "valid": spread(row.valid),
                "test": spread(row.test),
            }
            for row in result.rows
        ],
        "margins": {label: asdict(margin) for label, margin in result.margins.items()},
        "ledger": result.ledger.to_json(),
    }
