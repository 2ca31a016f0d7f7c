"""Pearson's and Spearman's correlation: by hand, and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.tasks.correlation import pearson, ranks, spearman


def test_correlations_by_hand():
    a, b = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 4.0, 3.0])
    # Deviations -1.5 -.5 .5 1.5 and -.5 -1.5 1.5 .5: products sum to 3, squares to 5 and 5.
    assert pearson(a, b) == pytest.approx(0.6)
    assert spearman(a, b) == pytest.approx(0.6)
    assert spearman(a, np.exp(b)) == pytest.approx(0.6)
    assert pearson(a, -2 * a + 1) == -1


def test_ties_share_a_rank():
    assert ranks(np.array([7.0, 7.0, 1.0, 7.0, 9.0])).tolist() == [3, 3, 1, 3, 5]
    # Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 · 5).
    found = spearman(np.array([0.0, 5.0, 5.0, 8.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    assert found == pytest.approx(4.5 / math.sqrt(4.5 * 5))


def test_no_correlation_of_what_does_not_vary_or_is_not_there():
    a = np.array([1.0, 2.0, 3.0])
    assert math.isnan(pearson(a, np.ones(3)))
    assert math.isnan(spearman(np.ones(3), a))
    assert math.isnan(pearson(a, np.array([1.0, math.inf, 2.0])))
    assert math.isnan(pearson([], []))
    assert math.isnan(pearson([1.0], [2.0]))
    assert math.isnan(pearson(np.full(3, 0.1), a))  # whose mean is not 0.1
    assert math.isnan(spearman(np.array([1.0, math.nan, 2.0]), a))


values = st.lists(st.integers(-5, 5), min_size=3, max_size=30)


@given(st.data())
def test_correlations_are_scipys(data):
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed (extra: metrics)")
    a = np.array(data.draw(values), float)
    b = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=len(a), max_size=len(a))), float)
    if np.ptp(a) and np.ptp(b):
        assert pearson(a, b) == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-12)
        assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e170, 1e300])
def test_size_does_not_matter(scale: float):
    a, b = np.array([1.0, 2.0, 4.0, 1.5]), np.array([1.0, 3.0, 2.0, 0.0])
    assert pearson(a * scale, b) == pytest.approx(pearson(a, b), abs=1e-12)
