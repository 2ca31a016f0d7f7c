"""One search on a table in simulated time, and the course that it took."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from pydantic import TypeAdapter

from cellwright.base.validation import Count, Seconds
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Floats
from cellwright.bench.compare.entries import Entry
from cellwright.bench.evaluator import Evaluator
from cellwright.bench.file import load
from cellwright.bench.pool import trained
from cellwright.search.blackbox.ask_tell import Method
from cellwright.spaces import Pool

End = Literal["budget", "finished", "idle"]


@dataclass(frozen=True)
class Step:
    """A moment at which a trial ended and another model was the best by validation.

    Args:
        seconds: the simulated time.
        trials: how many had ended.
        architecture: its number in the table.
        epoch: of the best.
        valid: its validation loss.
        test: its test loss.
    """

    seconds: Seconds
    trials: Count
    architecture: Count
    epoch: Count
    valid: float
    test: float


@dataclass(frozen=True)
class Course:
    """What a search did with its budget.

    Args:
        steps: each change of the best model, in time.
        trials: how many trials ended within the budget.
        cells: how many different cells these had.
        seconds: the simulated time of these trials.
        ended: why it went no further: the budget was spent, the method had `finished`, or it was
            `idle`, asking only for what had been trained already.
        real_seconds: how long this took.
    """

    steps: tuple[Step, ...]
    trials: Count
    cells: Count
    seconds: Seconds
    ended: End
    real_seconds: Seconds = 0.0

    def to_json(self) -> dict[str, Any]:
        """The course as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Course:
        """The inverse of `to_json`; a `ValueError` if a value is missing or wrong."""
        return TypeAdapter(cls).validate_json(json.dumps(values), strict=True)


def simulate(method: Method, evaluate: Evaluator, seconds: float, idle: int) -> Course:
    """Run a search until its simulated time is spent.

    What a trial found is known when it ends, as in the paper's environment. A trial that would end
    after the budget is no part of the course.

    Args:
        method: the search.
        evaluate: the table; its training is forgotten first.
        seconds: the budget, of simulated time.
        idle: the search ends after so many trials in a row that train nothing new. They cost
            nothing, so it could go on like this for ever.
    """
    evaluate.reset()
    environment = evaluate.environment
    begun = time.perf_counter()
    steps: list[Step] = []
    cells: set[str] = set()
    trials, spent, free = 0, 0.0, 0
    ended: End = "budget"
    while True:
        trial = method.ask()
        if trial is None:
            ended = "finished"
            break
        outcome = evaluate(trial)
        if environment.seconds > seconds:
            break
        method.tell(trial, outcome)
        trials, spent = trials + 1, environment.seconds
        cells.add(trial.cell.id)
        best = environment.best
        if best is not None:
            found = (best.architecture, best.epoch, best.valid, best.test)
            last = steps[-1] if steps else None
            if last is None or (last.architecture, last.epoch, last.valid, last.test) != found:
                steps.append(Step(spent, trials, *found))
        free = 0 if outcome.cost else free + 1
        if free >= idle:
            ended = "idle"
            break
    taken = time.perf_counter() - begun
    return Course(tuple(steps), trials, len(cells), spent, ended, taken)


def differs(first: Course, second: Course) -> str | None:
    """Where two courses part, in words; None if they are the same but for the time they took."""
    for one, other in zip(first.steps, second.steps, strict=False):
        if one != other:
            return f"after trial {min(one.trials, other.trials)} their best models differ"
    same = replace(first, real_seconds=0.0) == replace(second, real_seconds=0.0)
    return None if same else f"one had {first.trials} trials, the other {second.trials}"


def usable(benchmark: Benchmark, names: Sequence[str]) -> Floats | None:
    """A matrix that has NaN for every architecture which lacks one of these features, so that all
    methods choose among the same cells."""
    if not names:
        return None
    fine = np.all([np.isfinite(benchmark.featured(n)).all(axis=1) for n in names], axis=0)
    return np.where(fine, 0.0, np.nan)[:, None]


def pool_for(benchmark: Benchmark, features: str | None, names: Sequence[str]) -> Pool:
    """The cells that all methods choose among, with one method's features.

    Args:
        benchmark: the table.
        features: of this method.
        names: the features of all methods.
    """
    numbers = trained(benchmark, usable(benchmark, names))
    cells = [benchmark.cell(number) for number in numbers]
    return Pool(cells, None if features is None else benchmark.featured(features)[numbers])


def run_one(
    table: str,
    entry: Mapping[str, Any],
    names: Sequence[str],
    seed: int,
    seconds: float,
    idle: int,
    single_run: bool,
) -> dict[str, Any]:
    """The job of a worker: one method with one seed; its course as JSON values.

    Args:
        table: the benchmark's file.
        entry: as `Entry.to_json` has it.
        names: the features of all methods.
        seed: of the method.
        seconds: the budget.
        idle: see `simulate`.
        single_run: see `Evaluator`.
    """
    known = Entry(**entry)
    version = os.stat(table).st_mtime_ns
    evaluate = _evaluator(table, version, single_run)
    pool = _pool(table, version, known.features, tuple(names))
    return simulate(known.make(pool, seed), evaluate, seconds, idle).to_json()


# A worker does many jobs on one table. The version is that of the file.


@lru_cache(maxsize=1)
def _table(table: str, version: int) -> Benchmark:
    return load(table)


@lru_cache(maxsize=1)
def _evaluator(table: str, version: int, single_run: bool) -> Evaluator:
    return Evaluator(_table(table, version), single_run=single_run)


@lru_cache(maxsize=8)
def _pool(table: str, version: int, features: str | None, names: tuple[str, ...]) -> Pool:
    return pool_for(_table(table, version), features, names)
