"""What came out of a comparison: the figures of every cell, best first."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from cellwright.compare.contenders import Contender
from cellwright.compare.plan import Plan
from cellwright.compare.statistics import Spread
from cellwright.runs.folder import RunFolder
from cellwright.tasks.language.metric import perplexity
from cellwright.training.results import Result


@dataclass(frozen=True)
class Ended:
    """A training that has ended."""

    seed: int
    folder: RunFolder
    result: Result

    @property
    def diverged(self) -> bool:
        """Whether its loss became too large, or no number at all."""
        return self.result.status != "ok"

    @property
    def valid(self) -> float:
        """Perplexity of the validation text at the best epoch; infinite if there is none."""
        return perplexity(self.result.valid)

    @property
    def test(self) -> float:
        """Perplexity of the test text at the epoch that validated best."""
        return perplexity(self.result.test)


@dataclass(frozen=True)
class Standing:
    """A cell's figures over its seeds.

    Perplexities are of the epoch that validated best. A training that diverged counts with its
    best epoch before; one without any is in `diverged` alone.

    Args:
        contender: the cell.
        runs: the trainings that have ended, by seed.
        missing: the seeds of those that have not.
    """

    contender: Contender
    runs: tuple[Ended, ...]
    missing: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The cell's."""
        return self.contender.label

    @property
    def valid(self) -> Spread | None:
        """Perplexities of the validation text."""
        return Spread.of([run.valid for run in self.runs])

    @property
    def test(self) -> Spread | None:
        """Perplexities of the test text."""
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
    """The figures of all cells, by their mean validation perplexity."""
    found = [standing(plan, one.label) for one in plan.contenders]
    return sorted(found, key=_order)


def standing(plan: Plan, label: str) -> Standing:
    """The figures of a cell so far."""
    runs, left = [], []
    for seed in plan.seeds:
        folder = plan.run(label, seed)
        ended = folder is not None and folder.info.status in ("finished", "diverged")
        result = folder.result() if folder is not None and ended else None
        if folder is None or result is None:
            left.append(seed)
        else:
            runs.append(Ended(seed, folder, result))
    return Standing(plan.find(label), tuple(runs), tuple(left))


def _order(standing: Standing) -> float:
    return math.inf if standing.valid is None else standing.valid.mean


def named(items: Sequence[object]) -> str:
    """Words or numbers as part of a sentence.

    >>> named(["lstm", "gru", "rnn"]), named([1])
    ('lstm, gru and rnn', '1')
    """
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}" if most else last
