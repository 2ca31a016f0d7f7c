"""Trainings that never took place, for tests of what is made of their figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import cellwright as cw
from cellwright.compare.contenders import Contender
from cellwright.compare.failures import Failure
from cellwright.compare.plan import Plan
from cellwright.compare.results import EndedRun, Standing
from cellwright.runs.folder import RunFolder
from cellwright.runs.recipes import load_recipe
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.metric import Metric
from cellwright.training.results import EpochRecord, Result

CELLS = {"found": "darts-v1", "lstm": "lstm", "a": "gru", "b": "rnn", "c": "darts-v2"}

F1 = Metric.model_validate({"name": "F1", "form": "percent"})


def ended(seed: int, value: float, epochs: int = 2, metric: Metric = PERPLEXITY) -> EndedRun:
    """A training of that value on all data; infinite if it diverged in its first epoch."""
    lost = math.isinf(value)
    loss = math.inf if lost else _loss(value, metric)
    curve = () if lost else tuple(_record(epoch, loss + 0.1 * (2 - epoch)) for epoch in (1, 2))
    result = Result(
        "exploded" if lost else "ok", curve, None if lost else epochs, loss, loss, 30.0, 1000, 10**8
    )
    folder = cast(RunFolder, cast(Any, RunFolder)(Path(f"seed{seed}"), None))
    return EndedRun(seed, folder, result, metric)


def _loss(value: float, metric: Metric) -> float:
    return 1 - value / 100 if metric.form == "percent" else math.log(value)


def _record(epoch: int, loss: float) -> EpochRecord:
    return EpochRecord(epoch, loss, loss, loss, 1.0, 15.0 * epoch, 10**8, False)


def standing(
    label: str,
    values: Sequence[float],
    metric: Metric = PERPLEXITY,
    failed: Sequence[Failure] = (),
) -> Standing:
    """A cell with a training for each value."""
    cell = cw.zoo[CELLS.get(label, "rnn")]
    runs = tuple(ended(seed, value, metric=metric) for seed, value in enumerate(values))
    return Standing(Contender(label, cell), runs, failed=tuple(failed))


def plan_of(
    *standings: Standing, metric: Metric = PERPLEXITY, folder: Path = Path(), seeds: int = 3
) -> Plan:
    """The comparison that they would be of."""
    cells = tuple(one.contender for one in standings)
    return Plan(
        folder,
        load_recipe("laptop", ["training.epochs=2"]),
        cells,
        tuple(range(seeds)),
        metric,
        "a text",
        "0",
    )
