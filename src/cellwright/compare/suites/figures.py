"""What came out of a suite: scores by cell and task, averages, and what they cost.

A score is the mean of the figures by which a task counts, of a training's best epoch: shares as
percentages, such as 100 · accuracy, and other metrics as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps
from cellwright.base.statistics import Spread
from cellwright.compare.export import csv_text, spread_columns, spread_values
from cellwright.compare.plan import Plan
from cellwright.compare.results import EndedRun, Standing
from cellwright.compare.suites.suite import Suite, SuiteTask
from cellwright.tasks.metric import Form, Metric

FORMAT = "cellwright-suite-results/1"

Part = Literal["valid", "test"]

PARTS: tuple[Part, ...] = ("valid", "test")


def average(figures: Mapping[str, Sequence[float]]) -> float:
    """The mean over tasks, each of which counts once: its figures are averaged first, as GLUE does.

    >>> average({"cola": [10.0], "mrpc": [70.0, 80.0]})
    42.5
    """
    return fmean(fmean(values) for values in figures.values())


def run_figures(run: EndedRun, part: Part) -> dict[str, float]:
    """All figures of a training's best epoch by name, the metric's value among them; shares are
    percentages."""
    metric, result = run.metric, run.result
    scale = 100.0 if metric.higher_is_better else 1.0
    best = next((each for each in result.curve if each.epoch == result.best_epoch), None)
    others = {} if best is None else best.figures.get(part, {})
    value = run.valid if part == "valid" else run.test
    own = value * (100.0 if metric.form == "complement" else 1.0)
    return {**{name: scale * each for name, each in others.items()}, metric.name: own}


@dataclass(frozen=True)
class TaskFigures:
    """A task and the comparison on it."""

    task: SuiteTask
    plan: Plan
    standings: tuple[Standing, ...]

    @property
    def metric(self) -> Metric:
        """How scores are shown: shares as percentages."""
        metric = self.plan.metric
        form: Form = "percent" if metric.higher_is_better else metric.form
        return metric.model_copy(update={"form": form})

    def of(self, label: str) -> Standing:
        """A cell's figures."""
        return next(one for one in self.standings if one.label == label)

    @cached_property
    def lacking(self) -> tuple[str, ...]:
        """The figures by which it should count, and which a training does not have."""
        found = [
            run_figures(run, part)
            for one in self.standings
            for run in one.runs
            if run.result.best_epoch is not None
            for part in PARTS
        ]
        return tuple(name for name in self.task.figures if any(name not in each for each in found))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The figures by which it counts: its own, or the metric alone where there are none."""
        own = () if self.lacking else self.task.figures
        return own or (self.plan.metric.name,)

    def seeds(self, label: str, part: Part) -> dict[int, tuple[float, ...]]:
        """These figures of each of a cell's trainings that has them, by seed."""
        found = {}
        for run in self.of(label).runs:
            figures = run_figures(run, part)
            values = tuple(figures.get(name, math.nan) for name in self.names)
            if all(map(math.isfinite, values)):
                found[run.seed] = values
        return found

    def figure(self, label: str, part: Part, name: str) -> Spread | None:
        """One of the figures over a cell's seeds."""
        place = self.names.index(name)
        return Spread.of([values[place] for values in self.seeds(label, part).values()])

    def score(self, label: str, part: Part) -> Spread | None:
        """The scores over a cell's seeds."""
        return Spread.of([fmean(values) for values in self.seeds(label, part).values()])

    def best(self, part: Part) -> set[str]:
        """The cells of the best mean score."""
        scores = {one.label: self.score(one.label, part) for one in self.standings}
        means = {label: score.mean for label, score in scores.items() if score is not None}
        if not means:
            return set()
        best = (max if self.metric.higher_is_better else min)(means.values())
        return {label for label, mean in means.items() if mean == best}


@dataclass(frozen=True)
class SuiteFigures:
    """All of it.

    Args:
        folder: where everything is.
        suite: the suite.
        tasks: those that were trained on, in the suite's order.
        missing: why others were not, by their labels.
    """

    folder: Path
    suite: Suite
    tasks: tuple[TaskFigures, ...]
    missing: Mapping[str, str]

    @property
    def metric(self) -> Metric | None:
        """What averages are shown as; None if some tasks are better the higher and others the
        lower, so that a mean says nothing."""
        metrics = [one.metric for one in self.tasks]
        if len({metric.higher_is_better for metric in metrics}) > 1:
            return None
        forms = {metric.form for metric in metrics}
        form: Form = forms.pop() if len(forms) == 1 else "plain"
        return Metric.model_validate({"name": "average", "form": form})

    def average(self, label: str, part: Part) -> Spread | None:
        """A cell's averages over the tasks, one for each seed that has a score on all of them."""
        if self.metric is None:
            return None
        tasks = {one.task.label: one.seeds(label, part) for one in self.tasks}
        seeds = set.intersection(*(set(each) for each in tasks.values()))
        return Spread.of([
            average({name: each[seed] for name, each in tasks.items()}) for seed in sorted(seeds)
        ])  # fmt: skip

    @property
    def cells(self) -> tuple[str, ...]:
        """The labels of all cells, those of the best averages on the validation data first."""
        labels = [one.label for one in self.tasks[0].plan.contenders]
        if self.metric is None:
            return tuple(labels)
        sign = -1 if self.metric.higher_is_better else 1
        averages = {label: self.average(label, "valid") for label in labels}
        return tuple(
            sorted(
                labels,
                key=lambda label: math.inf if (a := averages[label]) is None else sign * a.mean,
            )
        )

    def first(self, label: str, part: Part) -> list[str]:
        """The tasks on which a cell has the best mean score, alone or with others."""
        return [one.task.label for one in self.tasks if label in one.best(part)]

    def parameters(self, label: str) -> tuple[int, int] | None:
        """The fewest and the most that a cell's models have."""
        found = [n for one in self.tasks if (n := one.of(label).parameters) is not None]
        return (min(found), max(found)) if found else None

    def seconds(self, label: str) -> float:
        """What all trainings of a cell took together."""
        return sum(run.result.seconds for one in self.tasks for run in one.of(label).runs)


# -- for programs --------------------------------------------------------------------------------


def write_suite_figures(found: SuiteFigures) -> None:
    """Write `results.json` and `table.csv` into the folder."""
    text = dumps(as_json(found), indent=2)
    write_whole(found.folder / "results.json", text.encode("utf-8", "backslashreplace") + b"\n")
    write_whole(found.folder / "table.csv", csv_text(rows(found)))


def rows(found: SuiteFigures) -> list[dict[str, Any]]:
    """A flat row for each cell, the best first."""
    return [_row(found, label) for label in found.cells]


def _row(found: SuiteFigures, label: str) -> dict[str, Any]:
    few, many = found.parameters(label) or (None, None)
    row: dict[str, Any] = {"cell": label, "id": found.tasks[0].of(label).contender.cell.id}
    for part in PARTS:
        row |= spread_columns(f"average_{part}", found.average(label, part))
    for one in found.tasks:
        for part in PARTS:
            row |= spread_columns(f"{one.task.label}_{part}", one.score(label, part))
    return {
        **row,
        "parameters_least": few,
        "parameters_most": many,
        "seconds": found.seconds(label),
    }


def as_json(found: SuiteFigures) -> dict[str, Any]:
    """All figures as JSON values; those of every training are in the comparisons' results."""
    metric = found.metric
    return {
        "format": FORMAT,
        "suite": found.suite.name,
        "title": found.suite.title,
        "average_over": None if metric is None else len(found.tasks),
        "higher_is_better": None if metric is None else metric.higher_is_better,
        "tasks": [
            {
                "label": one.task.label,
                "recipe": one.plan.recipe.name,
                "figures": list(one.names),
                "higher_is_better": one.metric.higher_is_better,
                "seeds": list(one.plan.seeds),
            }
            for one in found.tasks
        ],
        "missing": dict(found.missing),
        "cells": [_cell(found, label) for label in found.cells],
    }


def _cell(found: SuiteFigures, label: str) -> dict[str, Any]:
    return {
        "label": label,
        "id": found.tasks[0].of(label).contender.cell.id,
        "average": {part: spread_values(found.average(label, part)) for part in PARTS},
        "first": {part: found.first(label, part) for part in PARTS},
        "seconds": found.seconds(label),
        "tasks": {one.task.label: _on_task(one, label) for one in found.tasks},
    }


def _on_task(one: TaskFigures, label: str) -> dict[str, Any]:
    return {
        "parameters": one.of(label).parameters,
        **{part: spread_values(one.score(label, part)) for part in PARTS},
        "figures": {
            part: {name: spread_values(one.figure(label, part, name)) for name in one.names}
            for part in PARTS
        },
    }
