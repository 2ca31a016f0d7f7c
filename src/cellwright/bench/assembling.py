"""Architectures and their runs, put together as the columns of a benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cellwright.base.errors import shown
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Integers, Texts, starts_of
from cellwright.bench.errors import BenchError
from cellwright.bench.runs import CURVES, STATUSES, Architecture
from cellwright.tasks.metric import Metric
from cellwright.tasks.registry import task_kind


def assemble(
    architectures: Iterable[Architecture],
    *,
    title: str,
    corpus: str = "",
    kind: str = "language",
    metric: Metric | None = None,
) -> Benchmark:
    """A benchmark of architectures and their runs.

    Args:
        architectures: in the order in which the benchmark will have them. Names must differ,
            and so must the seeds of an architecture's runs.
        title: what people call the benchmark.
        corpus: the data that the models were trained on.
        kind: the task that they have learned.
        metric: what the losses are shown as; the usual one of the kind unless said.
    """
    rows = list(architectures)
    runs = [run for row in rows for run in row.runs]
    _check_names([row.name for row in rows])
    for row in rows:
        if len({run.seed for run in row.runs}) < len(row.runs):
            raise BenchError(f"{shown(row.name)} has two runs with the same seed")
    settings, settings_of = _distinct([run.settings for run in runs])
    flat: dict[str, Any] = {
        name: np.concatenate([np.empty(0), *(getattr(run, name) for run in runs)])
        for name in CURVES
    }
    return Benchmark(
        title=title,
        corpus=corpus,
        kind=kind,
        metric=task_kind(kind).metric if metric is None else metric,
        names=tuple(row.name for row in rows),
        graphs=tuple(row.cell.id for row in rows),
        cells=Texts.of(row.cell.renamed(row.name).to_json(indent=None) for row in rows),
        first_run=starts_of(len(row.runs) for row in rows),
        first_epoch=starts_of(run.epochs for run in runs),
        **flat,
        seed=np.array([run.seed for run in runs], np.int64),
        status=np.array([STATUSES.index(run.status) for run in runs], np.uint8),
        parameters=np.array([run.parameters for run in runs], np.int64),
        settings_of=settings_of,
        message=Texts.of(run.message for run in runs),
        label=Texts.of(run.label for run in runs),
        settings=settings,
        scores={
            name: np.array([run.scores.get(name, np.nan) for run in runs], np.float64)
            for name in sorted({name for run in runs for name in run.scores})
        },
    )


def _check_names(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            problem = "is there twice" if name else "is empty"
            raise BenchError(f"the name {shown(name)} {problem}; architectures need their own")
        seen.add(name)


def _distinct(
    settings: Sequence[Mapping[str, Any]],
) -> tuple[tuple[Mapping[str, Any], ...], Integers]:
    """The distinct settings, and which of them each run has."""
    places: dict[str, int] = {}
    kept: list[Mapping[str, Any]] = []
    numbers = []
    for value in settings:
        try:
            text = json.dumps(value, sort_keys=True)
        except (TypeError, ValueError, RecursionError) as error:
            raise BenchError(f"settings must be JSON values: {error}") from None
        if text not in places:
            places[text] = len(kept)
            kept.append(dict(value))
        numbers.append(places[text])
    return tuple(kept), np.array(numbers, np.int64)
