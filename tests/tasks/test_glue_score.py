"""One number for many tasks: the averages that the papers print come out of their own tables."""

from __future__ import annotations

import pytest

from cellwright.base.errors import UserError
from cellwright.tasks.sentences.glue_score import (
    GLUE,
    NAS_BENCH_NLP,
    Values,
    average_of_tasks,
    flat_mean,
    glue_average,
    missing_tasks,
)

FENAS_TABLE_2 = """
LSTM 13.9 86.5 77.7 86.7 72.9 66.7 77.0 56.8 56.3 66.1
ENAS-RL 13.8 86.4 76.2 87.1 76.8 67.1 78.7 58.5 56.3 66.8
ENAS-RS 15.0 87.1 76.0 85.7 76.2 67.5 78.3 58.5 56.3 66.7
FENAS 17.5 87.2 78.4 87.1 77.8 67.4 79.2 59.9 57.7 68.0
"""
"""Development sets, one number a task, and their mean."""

FENAS_TABLE_3 = """
LSTM 17.1 86.9 71.0/78.9 83.2/62.7 67.8/65.6 64.9/65.8 77.4 52.1 65.1 64.3
ENAS-RL 14.7 84.1 74.5/82.6 83.8/63.0 72.6/70.7 66.0/66.6 78.5 51.0 65.1 64.8
ENAS-RS 16.7 85.6 73.7/81.6 81.9/61.5 72.5/70.4 66.9/67.5 78.8 53.1 65.1 65.3
"""
"""Test sets, from GLUE's server. The paper's fourth line, of FENAS, is below."""

FENAS_TABLE_3_FENAS = "FENAS 16.4 86.6 71.0/78.9 84.9/63.7 73.2/71.0 66.6/66.0 79.1 52.7 65.1 65.6"

NAS_BENCH_NLP_TABLE_3 = """
cola Matthews 0.000
sst-2 accuracy 0.524
mrpc F1 0.805
mrpc accuracy 0.680
sts-b Pearson 0.001
sts-b Spearman -0.001
qqp F1 0.532
qqp accuracy 0.488
mnli accuracy 0.363
qnli accuracy 0.503
rte accuracy 0.527
wnli accuracy 0.527
ax Matthews 0.003
"""
"""The column of the mean over 150 cells, whose score is 38.1."""


def row(line: str) -> tuple[dict[str, Values], float]:
    """The tasks of a line in the order of GLUE, and the average that is printed."""
    _, *texts, average = line.split()
    found: dict[str, Values] = {}
    for (task, names), text in zip(GLUE.items(), texts, strict=True):
        numbers = [float(number) for number in text.split("/")]
        found[task] = dict(zip(names, numbers, strict=True)) if "/" in text else numbers[0]
    return found, float(average)


@pytest.mark.parametrize("line", [*FENAS_TABLE_2.split("\n")[1:-1]])
def test_one_number_a_task_is_averaged_as_it_is(line: str):
    values, average = row(line)
    assert glue_average(values) == pytest.approx(average, abs=0.051)


@pytest.mark.parametrize("line", [*FENAS_TABLE_3.split("\n")[1:-1]])
def test_two_metrics_of_a_task_are_averaged_first(line: str):
    values, average = row(line)
    assert isinstance(values["mrpc"], dict)
    assert glue_average(values) == pytest.approx(average, abs=0.051)


def test_a_line_of_fenas_does_not_give_the_average_that_it_prints():
    """Its MRPC is that of the LSTM's line, digit by digit; 65.6 would need 77.8 there."""
    values, printed = row(FENAS_TABLE_3_FENAS)
    assert printed == 65.6
    assert glue_average(values) == pytest.approx(65.28, abs=0.01)
    assert glue_average({**values, "mrpc": 77.8}) == pytest.approx(printed, abs=0.051)


def column() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for line in NAS_BENCH_NLP_TABLE_3.split("\n")[1:-1]:
        task, metric, value = line.split()
        found.setdefault(task, {})[metric] = float(value)
    return found


def test_nas_bench_nlp_counts_every_metric_once():
    values = column()
    assert sum(map(len, values.values())) == len(NAS_BENCH_NLP) == 13
    assert 100 * flat_mean(values) == pytest.approx(38.1, abs=0.05)


def test_the_two_scores_differ():
    values = column()
    assert 100 * flat_mean(values) == pytest.approx(38.09, abs=0.01)
    assert 100 * glue_average(values) == pytest.approx(41.1, abs=0.05)  # 9 tasks, without ax


def test_the_parts_of_mnli_count_as_one():
    values = column()
    apart = {**values, "mnli": {"matched": 0.353, "mismatched": 0.373, "macro F1": 0.1}}
    assert flat_mean(apart) == pytest.approx(flat_mean(values))
    assert glue_average(apart) == pytest.approx(glue_average(values))


def test_what_is_missing_is_named():
    values = column()
    some = {task: values[task] for task in ("cola", "mrpc")}
    assert missing_tasks(some) == ["sst-2", "qqp", "sts-b", "mnli", "qnli", "rte", "wnli"]
    assert average_of_tasks(some) == pytest.approx((0 + (0.805 + 0.680) / 2) / 2)
    with pytest.raises(UserError, match="is of nine tasks; missing: sst-2, qqp, sts-b, mnli"):
        glue_average(some)
    with pytest.raises(UserError, match="mrpc is measured by accuracy and F1; missing: F1"):
        average_of_tasks({"mrpc": {"accuracy": 0.5}})
    with pytest.raises(UserError, match="mnli is measured by matched and mismatched; missing: mis"):
        average_of_tasks({"mnli": {"matched": 0.5, "accuracy": 0.4}})
    with pytest.raises(UserError, match="13 metrics; missing: Matthews of ax"):
        flat_mean({task: each for task, each in values.items() if task != "ax"})
    with pytest.raises(UserError, match="'sst2' is no task of GLUE; did you mean 'sst-2'"):
        average_of_tasks({"sst2": 0.5})
    with pytest.raises(UserError, match="no tasks of GLUE to average"):
        average_of_tasks({"ax": 0.5})
