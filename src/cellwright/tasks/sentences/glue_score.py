"""One number for many tasks: GLUE's average, and NAS-Bench-NLP's flat mean of 13 metrics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from cellwright.base.errors import UserError, did_you_mean, shown

Values: TypeAlias = float | Mapping[str, float]
"""Of a task: one number, or several by the name of the metric. All of all tasks are shares, or all
are percentages."""

GLUE: Mapping[str, tuple[str, ...]] = {
    "cola": ("Matthews",),
    "sst-2": ("accuracy",),
    "mrpc": ("accuracy", "F1"),
    "qqp": ("accuracy", "F1"),
    "sts-b": ("Pearson", "Spearman"),
    "mnli": ("matched", "mismatched"),
    "qnli": ("accuracy",),
    "rte": ("accuracy",),
    "wnli": ("accuracy",),
}
"""The tasks of GLUE's average, and what each is measured by: of MNLI, accuracy on both parts."""

DIAGNOSTIC = "ax"
"""GLUE's diagnostic set, by Matthews' correlation; no part of GLUE's average."""

NAS_BENCH_NLP: tuple[tuple[str, str], ...] = (
    ("cola", "Matthews"),
    ("sst-2", "accuracy"),
    ("mrpc", "F1"),
    ("mrpc", "accuracy"),
    ("sts-b", "Pearson"),
    ("sts-b", "Spearman"),
    ("qqp", "F1"),
    ("qqp", "accuracy"),
    ("mnli", "accuracy"),
    ("qnli", "accuracy"),
    ("rte", "accuracy"),
    ("wnli", "accuracy"),
    (DIAGNOSTIC, "Matthews"),
)
"""The 13 metrics of NAS-Bench-NLP's Table 3, in its order."""


def glue_average(values: Mapping[str, Values]) -> float:
    """GLUE's average: the mean over its nine tasks, each of which counts once.

    A task's numbers are averaged first: accuracy and F1 of MRPC and QQP, Pearson and Spearman of
    STS-B, the matched and the mismatched part of MNLI. A task that has one number alone, as in
    tables that print one, counts by it. The diagnostic set does not count.

    Args:
        values: of all nine tasks.

    Raises:
        UserError: a task is missing, or unknown, or one of its numbers is missing.
    """
    missing = missing_tasks(values)
    if missing:
        raise UserError(f"GLUE's average is of nine tasks; missing: {', '.join(missing)}")
    return average_of_tasks(values)


def average_of_tasks(values: Mapping[str, Values]) -> float:
    """The same over those tasks of GLUE that there are. It does not compare with GLUE's average.

    >>> average_of_tasks({"cola": 10.0, "mrpc": {"accuracy": 70.0, "F1": 80.0}})
    42.5

    Raises:
        UserError: there are none, or one is unknown, or one of its numbers is missing.
    """
    _check_names(values)
    found = [task_value(task, each) for task, each in values.items() if task != DIAGNOSTIC]
    if not found:
        raise UserError("there are no tasks of GLUE to average")
    return _mean(found)


def missing_tasks(values: Iterable[str]) -> list[str]:
    """The tasks of GLUE's average that are not there."""
    there = set(values)
    return [task for task in GLUE if task not in there]


def task_value(task: str, values: Values) -> float:
    """The one number of a task of GLUE: the mean of its metrics. Others are left aside.

    >>> round(task_value("mnli", {"matched": 64.9, "mismatched": 65.8, "macro F1": 60.0}), 2)
    65.35

    Raises:
        UserError: one is missing.
    """
    if not isinstance(values, Mapping):
        return float(values)
    names = GLUE[task]
    if task == "mnli" and not {*names} & {*values}:
        names = ("accuracy",)  # of both parts together
    lacking = [name for name in names if name not in values]
    if lacking:
        raise UserError(f"{task} is measured by {' and '.join(names)}; missing: {lacking[0]}")
    return _mean(values[name] for name in names)


def flat_mean(values: Mapping[str, Mapping[str, float]]) -> float:
    """NAS-Bench-NLP's score (Table 3): the mean of 13 metrics, each of which counts once.

    So MRPC, QQP and STS-B count twice, and the diagnostic set once. The accuracy of MNLI is that of
    both parts together, or the mean of `matched` and `mismatched`.

    Args:
        values: by task and metric; others are left aside.

    Raises:
        UserError: one is missing.
    """
    _check_names(values)
    return _mean(_one_of(values, task, name) for task, name in NAS_BENCH_NLP)


def _one_of(values: Mapping[str, Mapping[str, float]], task: str, name: str) -> float:
    found = values.get(task, {})
    if name in found:
        return found[name]
    if task == "mnli" and found:
        return task_value(task, found)
    raise UserError(f"NAS-Bench-NLP's score is of 13 metrics; missing: {name} of {task}")


def _check_names(values: Iterable[str]) -> None:
    known = (*GLUE, DIAGNOSTIC)
    for task in values:
        if task not in known:
            raise UserError(f"{shown(task)} is no task of GLUE{did_you_mean(task, known)}")


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found)
