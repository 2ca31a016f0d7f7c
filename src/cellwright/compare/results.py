"""What came out of a comparison: the figures of every cell, best first."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from cellwright.base.statistics import Spread
from cellwright.compare.contenders import Contender
from cellwright.compare.failures import Failure, read_failures
from cellwright.compare.plan import Plan
from cellwright.runs.folder import RunFolder
from cellwright.tasks.metric import Metric
from cellwright.training.results import Result


@dataclass(frozen=True)
class EndedRun:
    """A training that has ended."""

    seed: int
    folder: RunFolder
    result: Result
    metric: Metric

    @property
    def diverged(self) -> bool:
        """Whether its loss became too large, or no number at all."""
        return self.result.status != "ok"

    @property
    def valid(self) -> float:
        """The metric's value on the validation data at the best epoch; not finite if there is
        none."""
        return self.metric.value(self.result.valid)

    @property
    def test(self) -> float:
        """The metric's value on the test data at the epoch that validated best."""
        return self.metric.value(self.result.test)


@dataclass(frozen=True)
class Standing:
    """A cell's figures over its seeds.

    Values are the metric's, at the epoch that validated best. A training that diverged counts with
    its best epoch before; one without any is in `diverged` alone.

    Args:
        contender: the cell.
        runs: the trainings that have ended, by seed.
        missing: the seeds of those that have not, though none has failed.
        failed: the trainings that came to nothing, however often they were tried.
    """

    contender: Contender
    runs: tuple[EndedRun, ...]
    missing: tuple[int, ...] = ()
    failed: tuple[Failure, ...] = ()

    @property
    def label(self) -> str:
        """The cell's."""
        return self.contender.label

    @property
    def valid(self) -> Spread | None:
        """Of the validation data."""
        return Spread.of([run.valid for run in self.runs])

    @property
    def test(self) -> Spread | None:
        """Of the test data."""
        return Spread.of([run.test for run in self.runs])

    @property
    def diverged(self) -> tuple[int, ...]:
        """The seeds that diverged."""
        return tuple(run.seed for run in self.runs if run.diverged)

    @property
    def parameters(self) -> int | None:
        """Numbers that the whole model learns."""
        return self.runs[0].result.parameters if self.runs else None

    @property
    def seconds(self) -> float | None:
        """The mean time of a training."""
        return statistics.fmean(run.result.seconds for run in self.runs) if self.runs else None

    @property
    def peak_memory(self) -> int | None:
        """The most bytes that any training held."""
        return max((run.result.peak_memory for run in self.runs), default=None)


def standings(plan: Plan) -> list[Standing]:
    """The figures of all cells, by their mean on the validation data, the best first."""
    found = [standing(plan, one.label) for one in plan.contenders]
    sign = -1 if plan.metric.higher_is_better else 1
    return sorted(found, key=lambda one: math.inf if one.valid is None else sign * one.valid.mean)


def standing(plan: Plan, label: str) -> Standing:
    """The figures of a cell so far."""
    failures = {failure.seed: failure for failure in read_failures(plan) if failure.label == label}
    runs, left, failed = [], [], []
    for seed in plan.seeds:
        folder = plan.run(label, seed)
        result = folder.result() if folder is not None and folder.ended else None
        if folder is not None and result is not None:
            runs.append(EndedRun(seed, folder, result, plan.metric))
        elif seed in failures:
            failed.append(failures[seed])
        else:
            left.append(seed)
    return Standing(plan.find(label), tuple(runs), tuple(left), tuple(failed))


def named(items: Sequence[object]) -> str:
    """Words or numbers as part of a sentence.

    >>> named(["lstm", "gru", "rnn"]), named([1])
    ('lstm, gru and rnn', '1')
    """
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}" if most else last
