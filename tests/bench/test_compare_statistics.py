"""Regret curves, intervals and tests against cases worked out by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from cellwright.bench.compare.running import Step
from cellwright.bench.compare.statistics import (
    holm,
    intervals,
    pairs,
    regret_intervals,
    regrets_at,
    signed_rank,
)

pytest.importorskip("scipy")


def test_regret_is_that_of_the_last_trial_that_had_ended():
    steps = [Step(10, 1, 0, 1, 6.0, 5.9), Step(30, 2, 1, 2, 5.0, 4.9), Step(35, 3, 2, 1, 4.9, 5.0)]
    found = regrets_at(steps, 4.5, np.array([0, 9.9, 10, 29, 30, 34, 35, 100]))
    # By validation the third is better than the second, and its test loss is worse.
    assert np.isnan(found[:2]).all()
    assert found[2:].tolist() == pytest.approx([1.4, 1.4, 0.4, 0.4, 0.5, 0.5])
    assert np.isnan(regrets_at([], 4.5, np.array([1.0]))).all()


def test_the_interval_of_a_mean():
    # Mean 2, standard deviation 1, t of 2 degrees of freedom 4.30265.
    mean, low, high = intervals(np.array([1.0, 2.0, 3.0]))
    assert float(mean) == 2.0
    assert float(high - mean) == pytest.approx(4.30265 / math.sqrt(3), abs=1e-5)
    assert float(mean - low) == pytest.approx(float(high - mean))
    mean, low, high = intervals(np.array([[1.0, math.nan], [3.0, 1.0]]))
    assert mean[0] == 2.0
    assert np.isnan([mean[1], low[1], high[1]]).all()  # one seed has no result yet
    mean, low, high = intervals(np.array([[1.0, 2.0]]))
    assert mean.tolist() == [1.0, 2.0]
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_the_interval_of_a_regret_is_not_below_0():
    """Most seeds found the best, one did not: Student's interval reaches below 0, a mean cannot."""
    regrets = np.array([0.0, 0.0, 0.0, 0.8])
    _, whole, _ = intervals(regrets)
    assert float(whole) < 0
    mean, low, high = regret_intervals(regrets)
    assert (float(mean), float(low)) == (0.2, 0.0)
    assert float(high) == float(intervals(regrets)[2])
    above = np.array([1.0, 1.1, 1.2])
    assert [float(x) for x in regret_intervals(above)] == [float(x) for x in intervals(above)]
    assert np.isnan(regret_intervals(np.array([0.5]))[1])


def test_what_is_cut_off_costs_no_confidence():
    """The interval holds the mean of what the seeds are drawn from as often as before."""
    rng = np.random.default_rng(0)
    drawn = rng.exponential(1.0, (4, 5000)) * (rng.random((4, 5000)) < 0.5)
    for interval in (intervals, regret_intervals):
        _, low, high = interval(drawn)
        held = float(((low <= 0.5) & (high >= 0.5)).mean())
        assert held == pytest.approx(float(((intervals(drawn)[2]) >= 0.5).mean()), abs=0.02)
    assert float((intervals(drawn)[1] < 0).mean()) > 0.5


def test_differences_of_regrets_may_be_below_0():
    [pair] = pairs({"a": np.array([0.0, 0.1, 0.0]), "b": np.array([0.2, 0.1, 0.3])})
    assert pair.low < pair.difference < 0


def by_counting(differences: list[float]) -> float:
    """The exact p: all signs of the ranks are equally likely."""
    sizes = sorted(map(abs, differences))
    ranks = [sizes.index(abs(d)) + 1 for d in differences]
    least = abs(sum(math.copysign(r, d) for r, d in zip(ranks, differences, strict=True)))
    signs = itertools.product((-1, 1), repeat=len(ranks))
    sums = [abs(sum(s * r for s, r in zip(row, ranks, strict=True))) for row in signs]
    return sum(total >= least for total in sums) / len(sums)


@pytest.mark.parametrize(
    "differences",
    [[1.0, 2.0, 3.0, 4.0, 5.0], [-1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, -2.0], [-0.5]],
)
def test_the_signed_rank_test_counts_signs(differences):
    expected = by_counting(differences)
    assert signed_rank(np.array(differences)) == pytest.approx(expected)
    assert signed_rank(-np.array(differences)) == pytest.approx(expected)
    assert signed_rank(np.array([0.0, *differences, 0.0])) == pytest.approx(expected)


def test_the_signed_rank_test_of_ties():
    # Ranks 2, 2, 4, -2, 5: the sum is 11, Σ rank² = 53, z = 11 / sqrt(53) = 1.51097.
    found = signed_rank(np.array([1.0, 1.0, 2.0, -1.0, 3.0]))
    assert found == pytest.approx(math.erfc(11 / math.sqrt(53) / math.sqrt(2)))
    assert signed_rank(np.zeros(4)) == 1.0


def test_holms_correction():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.6, 0.001]) == pytest.approx([1.0, 1.0, 0.003])
    assert holm([]) == []


def test_pairs_over_seeds():
    regrets = {
        "a": np.array([0.1, 0.2, 0.3, 0.4]),
        "b": np.array([0.2, 0.4, 0.6, 0.4]),
        "c": np.array([0.1, 0.2, 0.3, 0.4]),
    }
    ab, ac, bc = pairs(regrets)
    assert (ab.first, ab.second, ac.second, bc.first) == ("a", "b", "c", "b")
    assert (ab.wins, ab.ties, ab.losses) == (3, 1, 0)
    assert (bc.wins, bc.ties, bc.losses) == (0, 1, 3)
    assert ab.difference == pytest.approx(-0.15)
    assert ab.p == pytest.approx(2 / 2**3)  # three differences, all of one sign
    assert (ac.p, ac.adjusted, ac.difference) == (1.0, 1.0, 0.0)
    assert ab.adjusted == pytest.approx(0.75)
    assert ab.low < ab.difference < ab.high
