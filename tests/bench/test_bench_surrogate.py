"""Surrogates and statistics: what is learned, and how wrong it is."""

from __future__ import annotations

import numpy as np
import pytest
from bench_tables import NAN, run, table

from cellwright.bench import BenchError, Benchmark, cross_validate, fit_surrogate
from cellwright.bench.assembling import assemble
from cellwright.bench.runs import Architecture, Run
from cellwright.bench.statistics import correlations, determination, positions, roc_area
from cellwright.bench.surrogate import examples
from cellwright.bench.synthetic import synthetic

EPOCHS = 5


def learnable(count: int = 60, diverging: bool = False) -> tuple[Benchmark, np.ndarray]:
    """A table whose losses and times follow from two features."""
    cells = synthetic(count, epochs=1, seed=9)
    rng = np.random.default_rng(0)
    features = rng.uniform(0, 1, (count, 2))
    rows = []
    for number, (a, b) in enumerate(features):
        valid = 5 + 2 * a + np.linspace(1, 0, EPOCHS) * (1 + b)
        seconds = np.full(EPOCHS, 10 + 90 * b)
        made = Run(valid, valid - 0.1, valid + 0.1, seconds)
        if diverging and a > 0.7:
            made = run([9.0, NAN], [5, 5], "diverged")
        rows.append(Architecture(cells.names[number], cells.cell(number), [made]))
    return assemble(rows, title="learnable"), features


def test_what_can_be_learned_is_learned():
    pytest.importorskip("xgboost")
    found, features = learnable()
    error = cross_validate(found, features)
    assert error.runs == 60
    assert error.r2 > 0.9
    assert error.error < 0.2
    assert error.spearman > 0.9
    assert error.pace_error < 0.2
    assert np.isnan(error.roc_auc)
    noise = np.random.default_rng(1).uniform(0, 1, features.shape)
    assert cross_validate(found, noise).r2 < 0.3


def test_a_longer_beginning_makes_better_predictions():
    pytest.importorskip("xgboost")
    found, features = learnable()
    noise = np.random.default_rng(1).uniform(0, 1, features.shape)
    errors = [cross_validate(found, noise, prefix=prefix).error for prefix in (0, 1, EPOCHS - 1)]
    assert errors[0] > errors[1] > errors[2]


def test_divergence_is_learned():
    pytest.importorskip("xgboost")
    found, features = learnable(diverging=True)
    assert cross_validate(found, features).roc_auc > 0.95
    surrogate = fit_surrogate(found, features)
    assert surrogate.predict(np.array([0.95, 0.5])).status == "diverged"
    fine = surrogate.predict(np.array([0.2, 0.5]))
    assert (fine.status, fine.epochs) == ("ok", EPOCHS)
    assert fine.valid[-1] == pytest.approx(5.4, abs=0.3)
    assert fine.seconds[0] == pytest.approx(55, rel=0.3)


def test_a_beginning_that_is_not_finite_is_a_divergence():
    pytest.importorskip("xgboost")
    found, features = learnable()
    surrogate = fit_surrogate(found, features, prefix=2)
    assert surrogate.predict(features[0], [6.0, NAN]).status == "diverged"
    assert surrogate.predict(features[0], [6.0, 5.9]).valid[:2].tolist() == [6.0, 5.9]
    with pytest.raises(BenchError, match=r"needs 2 features and 2 losses, not \(2,\) and \(1,\)"):
        surrogate.predict(features[0], [6.0])


def test_listings_of_one_graph_are_in_one_fold():
    found, features = learnable(12)
    graphs = examples(found, features).group
    assert len(set(graphs.tolist())) == 12
    twins = assemble(
        [
            Architecture(f"{name} {copy}", found.cell(number), found.architecture(number).runs)
            for number, name in enumerate(found.names)
            for copy in (1, 2)
        ],
        title="twins",
    )
    doubled = examples(twins, np.repeat(features, 2, axis=0)).group
    assert doubled.tolist() == np.repeat(graphs, 2).tolist()


def test_too_little_to_learn_from():
    found, features = learnable(12)
    with pytest.raises(BenchError, match="12 graphs with features cannot make 13 folds"):
        cross_validate(found, features, folds=13)
    with pytest.raises(BenchError, match="0 to 4 epochs, not 5"):
        fit_surrogate(found, features, prefix=EPOCHS)
    with pytest.raises(BenchError, match="need 12 rows"):
        fit_surrogate(found, features[:3])
    with pytest.raises(BenchError, match="at least 10 complete runs"):
        fit_surrogate(table(gru=[run([1.0, 2.0])]), np.ones((1, 2)))


# -- statistics, against hand-computed values ----------------------------------------------


def test_determination():
    assert determination(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])) == 1
    assert determination(np.array([1.0, 2.0, 3.0]), np.full(3, 2.0)) == 0
    assert determination(np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])) == -3
    assert np.isnan(determination(np.array([2.0, 2.0]), np.array([1.0, 2.0])))


def test_roc_area():
    pytest.importorskip("scipy")
    labels = np.array([0, 0, 1, 1])
    assert roc_area(labels, np.array([0.1, 0.2, 0.3, 0.4])) == 1
    assert roc_area(labels, np.array([0.4, 0.3, 0.2, 0.1])) == 0
    assert roc_area(labels, np.array([0.1, 0.4, 0.35, 0.8])) == 0.75
    assert roc_area(labels, np.full(4, 0.5)) == 0.5
    assert np.isnan(roc_area(np.ones(3, np.int64), np.arange(3.0)))


def test_correlations():
    pytest.importorskip("scipy")
    a = np.array([1.0, 2.0, 3.0, 4.0])
    found = correlations(a, np.array([1.0, 2.0, 4.0, 3.0]))
    assert found["pearson"] == pytest.approx(0.8)
    assert found["spearman"] == pytest.approx(0.8)
    assert found["kendall"] == pytest.approx(2 / 3)
    assert np.isnan(correlations(a, np.ones(4))["pearson"])


def test_positions():
    assert positions(np.array([3.0, 1.0, 2.0, 1.0])).tolist() == [3, 0, 2, 1]
