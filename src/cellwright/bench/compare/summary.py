"""The figures of a comparison: one line for each method, curves, final regrets, tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellwright.bench.columns import Floats
from cellwright.bench.compare.scheduling import Comparison
from cellwright.bench.compare.statistics import Pair, pairs, regret_intervals, regrets_at
from cellwright.bench.export import to_csv
from cellwright.tasks.metric import Metric

POINTS = 201
"""Of a curve, evenly spaced from 0 to the budget."""

PARTS = (0.1, 0.25, 0.5)
"""Where in the budget the summary looks as well as at its end."""


@dataclass(frozen=True)
class Line:
    """A method in a comparison.

    Args:
        label: of the method.
        mean: of the final regrets.
        low: the lower end of the mean's 95% interval.
        high: the upper end.
        median: of the final regrets.
        earlier: the mean regrets at `PARTS` of the budget; NaN where a search has no result yet.
        best: the share of seeds with the lowest regret that the table has to offer.
        hours: simulated, mean.
        trials: mean.
        cells: how many different cells these had, mean.
        real_seconds: mean.
        ended: why searches ended, and how many of them.
    """

    label: str
    mean: float
    low: float
    high: float
    median: float
    earlier: tuple[float, ...]
    best: float
    hours: float
    trials: float
    cells: float
    real_seconds: float
    ended: dict[str, int]


@dataclass(frozen=True)
class Summary:
    """A comparison in figures.

    Args:
        lines: a line for each method, the lowest mean regret first.
        times: of the curves, in seconds.
        curves: for each label the regrets at these times, a row for each seed.
        finals: for each label the final regrets, one for each seed.
        tests: every two methods, paired over seeds.
    """

    lines: tuple[Line, ...]
    times: Floats
    curves: dict[str, Floats]
    finals: dict[str, Floats]
    tests: tuple[Pair, ...]
    metric: Metric

    @property
    def labels(self) -> list[str]:
        """The methods in the order of their means."""
        return [line.label for line in self.lines]


def summarize(comparison: Comparison) -> Summary:
    """The figures of a comparison."""
    times = np.linspace(0.0, comparison.seconds, POINTS)
    lowest = comparison.table.lowest_test
    curves = {
        label: np.stack([regrets_at(course.steps, lowest, times) for course in courses])
        for label, courses in comparison.courses.items()
    }
    finals = {label: rows[:, -1] for label, rows in curves.items()}
    lines = sorted(
        (_line(label, comparison, curves[label]) for label in curves), key=lambda line: line.mean
    )
    ordered = {line.label: finals[line.label] for line in lines}
    metric = comparison.table.benchmark.metric
    return Summary(tuple(lines), times, curves, ordered, tuple(pairs(ordered)), metric)


def _line(label: str, comparison: Comparison, rows: Floats) -> Line:
    courses = comparison.courses[label]
    finals = rows[:, -1]
    mean, low, high = (float(value) for value in regret_intervals(finals))
    places = [round(part * (POINTS - 1)) for part in PARTS]
    floor = comparison.table.everything[1]
    return Line(
        label,
        mean,
        low,
        high,
        float(np.median(finals)),
        tuple(float(rows[:, place].mean()) for place in places),
        float((finals <= floor).mean()),
        float(np.mean([course.seconds for course in courses])) / 3600,
        float(np.mean([course.trials for course in courses])),
        float(np.mean([course.cells for course in courses])),
        float(np.mean([course.real_seconds for course in courses])),
        dict(sorted(Counter(course.ended for course in courses).items())),
    )


# -- as CSV --------------------------------------------------------------------------------


def summary_csv(summary: Summary) -> str:
    """A row for each method. Only here are real seconds, which differ from run to run."""
    heading = (
        "method", "mean_regret", "low", "high", "median",
        *(f"mean_at_{part:.0%}".replace("%", "_percent") for part in PARTS),
        "share_best", "hours", "trials", "cells", "real_seconds", "ended",
    )  # fmt: skip
    rows = (
        (
            line.label, line.mean, line.low, line.high, line.median, *line.earlier, line.best,
            line.hours, line.trials, line.cells, line.real_seconds, ended(line),
        )
        for line in summary.lines
    )  # fmt: skip
    return to_csv(heading, rows)


def curves_csv(summary: Summary) -> str:
    """Mean regret with its interval, and the median, on the grid of times."""

    def rows() -> Any:
        for label in summary.labels:
            values = summary.curves[label]
            columns = (*regret_intervals(values), np.median(values, axis=0))
            for place, seconds in enumerate(summary.times.tolist()):
                yield (label, seconds / 3600, *(float(column[place]) for column in columns))

    return to_csv(("method", "hours", "mean", "low", "high", "median"), rows())


def regrets_csv(comparison: Comparison, summary: Summary) -> str:
    """Each search: its final regret, the model that has it, and what it did until then."""
    names = comparison.table.benchmark.names

    def rows() -> Any:
        for label in summary.labels:
            for seed, course, regret in zip(
                comparison.seeds, comparison.courses[label], summary.finals[label], strict=True
            ):
                last = course.steps[-1]
                yield (
                    label, seed, float(regret), last.valid, last.test, names[last.architecture],
                    last.epoch, last.seconds / 3600, course.seconds / 3600, course.trials,
                    course.cells, course.ended,
                )  # fmt: skip

    heading = (
        "method", "seed", "regret", "valid", "test", "architecture", "epoch", "found_at_hours",
        "hours", "trials", "cells", "ended",
    )  # fmt: skip
    return to_csv(heading, rows())


def tests_csv(summary: Summary) -> str:
    """Every two methods: the mean difference with its interval, and the test."""
    heading = (
        "first", "second", "mean_difference", "low", "high", "wins", "ties", "losses", "p",
        "p_holm",
    )  # fmt: skip
    return to_csv(heading, (tuple(vars(pair).values()) for pair in summary.tests))


def ended(line: Line) -> str:
    """Why a method's searches ended, and how many of them."""
    return ", ".join(f"{number} {why}" for why, number in line.ended.items())
