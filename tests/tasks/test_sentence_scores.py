"""Metrics of sentences on whole sets: against scikit-learn and scipy, and by hand."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from cellwright.base.errors import UserError
from cellwright.tasks.sentences import scores
from cellwright.tasks.sentences.metrics import (
    METRICS,
    check_kind,
    kinds_for,
    main_metric,
    measure,
)
from effort import many

CASES = many(200)


def label_cases() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Targets and guesses, some of which are constant, lack a label, or are all right."""
    rng = np.random.default_rng(4)
    for number in range(CASES):
        size, labels = int(rng.integers(1, 40)), int(rng.integers(1, 6))
        targets = rng.integers(0, labels, size)
        guesses = rng.integers(0, labels, size)
        kind = number % 6
        if kind == 1:
            guesses = np.full(size, rng.integers(0, labels))
        elif kind == 2:
            targets = np.full(size, rng.integers(0, labels))
        elif kind == 3:
            guesses = targets.copy()
        elif kind == 4:
            guesses = np.where(rng.random(size) < 0.8, targets, guesses)
        yield targets, guesses


def test_metrics_of_labels_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of labels that are not there
        for targets, guesses in label_cases():
            both = targets, guesses
            assert scores.accuracy(*both) == pytest.approx(metrics.accuracy_score(*both))
            expected = metrics.matthews_corrcoef(*both)
            assert scores.matthews(*both) == pytest.approx(expected, abs=1e-12)
            for average, ours in (("macro", scores.macro_f1), ("micro", scores.micro_f1)):
                expected = metrics.f1_score(*both, average=average, zero_division=0)
                assert ours(*both) == pytest.approx(expected, abs=1e-12)
            if max(targets.max(), guesses.max()) <= 1:
                expected = metrics.f1_score(*both, zero_division=0)
                assert scores.f1(*both) == pytest.approx(expected, abs=1e-12)
                expected = metrics.f1_score(*both, pos_label=0, zero_division=0)
                assert scores.f1(*both, positive=0) == pytest.approx(expected, abs=1e-12)


def test_correlations_are_those_of_scipy_and_0_where_it_has_none():
    stats = pytest.importorskip("scipy.stats", reason="needs scipy")
    rng = np.random.default_rng(5)
    constant = 0
    for number in range(CASES):
        size = int(rng.integers(2, 40))
        targets = rng.integers(0, 4, size).astype(np.float32)
        outputs = rng.normal(size=size).astype(np.float32)
        if number % 3:
            outputs = outputs.round(int(rng.integers(0, 2)))
        if number % 7 == 0:
            outputs = np.full(size, outputs[0])
        varies = np.ptp(targets) > 0 and np.ptp(outputs) > 0
        constant += not varies
        for ours, theirs in (
            (scores.pearson, stats.pearsonr),
            (scores.spearman, stats.spearmanr),
        ):
            found = ours(targets, outputs)
            if varies:
                exact = targets.astype(np.float64), outputs.astype(np.float64)
                assert found == pytest.approx(theirs(*exact).statistic, abs=1e-9)
            else:
                assert found == 0
    assert constant > 20


def test_matthews_of_many_examples_does_not_overflow():
    """As many as QQP's test part has, whose numbers are above 2⁶⁴ on the way."""
    targets = np.arange(400_000) % 3
    assert scores.matthews(targets, targets) == 1
    assert scores.matthews(targets, (targets + 1) % 3) == -0.5
    assert scores.matthews(targets % 2, 1 - targets % 2) == -1


def test_what_has_no_value_is_0():
    same, mixed = np.zeros(4, int), np.array([0, 1, 0, 1])
    assert scores.matthews(mixed, same) == scores.matthews(same, mixed) == 0
    assert scores.matthews(same, same) == 0
    assert scores.f1(mixed, same) == 0  # never guessed
    assert scores.f1(same, same) == 0  # neither true nor guessed
    assert scores.f1(same, mixed) == 0  # never true
    assert scores.pearson(mixed, np.full(4, 0.1)) == 0
    assert scores.spearman([1.0], [2.0]) == 0


def test_what_cannot_be_measured_is_an_error():
    for metric in (scores.accuracy, scores.f1, scores.macro_f1, scores.matthews, scores.pearson):
        with pytest.raises(UserError, match="there are no examples to measure"):
            metric([], [])
        with pytest.raises(UserError, match=r"targets of the form \(3,\) and guesses of \(2,\)"):
            metric([1, 0, 1], [1, 0])
    with pytest.raises(UserError, match="labels should be whole numbers"):
        scores.accuracy([0.5], [0])
    with pytest.raises(UserError, match="scores should be finite numbers"):
        scores.spearman([0.5, 1], [0, math.nan])


# -- which metric ------------------------------------------------------------------------------


def test_known_sets_are_compared_as_their_papers_do_it():
    names = {"cola": ("Matthews", 2), "sts-b": ("Pearson", 0), "sick-r": ("Pearson", 0)}
    accuracy = {"sst-2": 2, "mrpc": 2, "qqp": 2, "qnli": 2, "rte": 2, "wnli": 2, "mnli": 3,
                "sick-e": 3, "CoLA/mine": 4}  # fmt: skip
    for name, (metric, labels) in names.items():
        assert METRICS[main_metric(name, labels)].name == metric
    for name, labels in accuracy.items():
        assert main_metric(name, labels) == "accuracy"
    assert main_metric("CoLA", 2) == "matthews"
    assert main_metric("ax", 3) == "matthews"
    assert main_metric("mine", 0) == "pearson"
    assert main_metric("cola", 0) == "pearson"  # as a score, whatever the name


def test_higher_is_better_and_losses_are_1_minus_the_value():
    outputs = np.array([[2.0, 1.0], [0.0, 1.0], [0.0, 3.0], [1.0, 0.0], [0.0, 1.0]])
    targets = np.array([0, 1, 1, 1, 0], np.float32)
    # Two of three guesses of 1 are right, and two of three were found.
    for kind, value in {"accuracy": 3 / 5, "f1": 2 / 3, "accuracy-f1": (3 / 5 + 2 / 3) / 2,
                        "macro-f1": (2 / 3 + 1 / 2) / 2, "matthews": 1 / 6}.items():  # fmt: skip
        loss, figures = measure(kind, targets, outputs)
        assert loss == pytest.approx(1 - value)
        assert METRICS[kind].higher_is_better
        assert METRICS[kind].name not in figures
        others = {"accuracy", "F1", "macro F1", "Matthews"} - {METRICS[kind].name}
        assert set(figures) == others
    loss, figures = measure("pearson", [1, 2, 4], [1.0, 3.0, 2.0])
    assert METRICS["pearson"].shown(loss) == "0.327"
    assert figures == {"Spearman": pytest.approx(0.5)}
    loss, _ = measure("pearson", [1, 2, 3], [3, 2, 1])
    assert loss == 2


def test_more_labels_have_no_f1_of_one():
    _, figures = measure("accuracy", [0, 1, 2], np.eye(3))
    assert figures == {"macro F1": 1, "Matthews": 1}
    with pytest.raises(
        UserError, match=r"metric 'f1': for 3 labels there are accuracy, macro-f1, matthews"
    ):
        measure("f1", [0, 1, 2], np.eye(3))
    with pytest.raises(UserError, match=r"metric 'accuracy': for scores there are pearson"):
        measure("accuracy", [0, 1, 2], [0, 1, 2])
    with pytest.raises(UserError, match="no metric is called so; for 2 labels there are accuracy"):
        check_kind("bleu", 2)
    for labels in (0, 2, 3):
        for kind in kinds_for(labels):
            check_kind(kind, labels)


def test_a_model_that_explodes_has_an_infinite_loss():
    outputs = np.array([[0.0, 1.0], [math.nan, 0.0]])
    assert measure("accuracy", [0, 1], outputs) == (math.inf, {})
    assert measure("pearson", [0, 1], [0.0, math.inf]) == (math.inf, {})
