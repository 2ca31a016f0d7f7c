"""What is said about a few seeds is what they can show, and no more."""

from __future__ import annotations

import math
import statistics
from itertools import product

import pytest

from cellwright.compare.statistics import Spread, _t95, difference
from cellwright.report.comparison.words import against, compared, mean_text, outcome
from compare.figures import standing

INF = math.inf


def spread(*values: float) -> Spread:
    found = Spread.of(values)
    assert found is not None
    return found


def test_spread_is_the_sample_standard_deviation():
    found = spread(100.0, 104.0, 108.0)
    assert (
        (found.mean, found.deviation)
        == (104.0, statistics.stdev([100.0, 104.0, 108.0]))
        == (
            104.0,
            4.0,
        )
    )


def test_one_value_has_no_spread_and_none_no_mean():
    assert spread(3.0).deviation is None
    assert Spread.of([INF, math.nan]) is None
    assert spread(3.0, INF).values == (3.0,)


def test_welch_against_a_hand_calculation():
    """s² = 2 and 8 with n = 2 and 2: error √5, degrees of freedom 25 / (1 + 16) = 1.47 → 1."""
    found = difference(spread(100.0, 102.0), spread(120.0, 124.0))
    assert found.value == -21.0
    assert found.margin == pytest.approx(12.706 * math.sqrt(5))


def test_quantiles_fall_towards_the_normal_one():
    values = [_t95(freedom) for freedom in range(1, 40)]
    assert values == sorted(values, reverse=True)
    assert values[0] == 12.706
    assert 1.96 < values[-1] < 2.05
    assert _t95(2.9) == _t95(2)


def test_findings():
    near, far = spread(100.0, 104.0), spread(102.0, 106.0)
    assert difference(near, far).finding == "not distinguishable"
    sure, other = spread(100.0, 100.2, 100.4), spread(110.0, 110.2, 110.1)
    assert difference(sure, other).finding == "lower"
    assert difference(other, sure).finding == "higher"
    apart = spread(100.0, 103.0), spread(104.0, 108.0)
    assert difference(*apart).finding == "seems lower"
    assert difference(*reversed(apart)).finding == "seems higher"
    assert difference(spread(1.0), spread(2.0, 3.0)).finding == "unknown"
    assert difference(near, near).finding == "not distinguishable"


def test_few_seeds_seldom_call_chance_a_difference():
    """All cells alike: of 1,600 pairs at most a few in a hundred are called different."""
    import numpy as np

    rng = np.random.default_rng(0)
    for seeds in (2, 3, 5):
        cells = [spread(*rng.normal(100.0, 2.0, seeds)) for _ in range(40)]
        found = [difference(a, b).finding for a, b in product(cells, cells) if a is not b]
        assert sum(f in ("lower", "higher") for f in found) < 0.06 * len(found)


def test_sentences():
    sure, other = spread(100.0, 100.2, 100.4), spread(110.0, 110.2, 110.1)
    assert compared("A", sure, "B", other).startswith("A is better than B: 100.2 ± 0.2 against ")
    assert compared("A", other, "B", sure).startswith("A is worse than B: ")
    one = compared("A", spread(100.0), "B", spread(90.0))
    assert one == (
        "A came out higher than B: 100.0 against 90.0, from one seed, which has no spread to "
        "measure a difference by."
    )
    assert against(difference(spread(1.0, 3.0), spread(2.0, 4.0))) == "not distinguishable"
    assert mean_text(None) == "–"


def test_the_outcome_names_every_cell_once():
    cells = [
        standing("a", [100.0, 100.2, 100.4]),
        standing("b", [100.1, 100.3, 100.6]),
        standing("c", [150.0, 150.1, 150.2]),
        standing("lost", [INF, INF, INF]),
    ]
    said = outcome(cells)
    assert said.startswith("a has the lowest mean validation perplexity, 100.2 ± 0.2: lower than ")
    assert "that of c by more than chance explains" in said
    assert "not distinguishable from that of b" in said
    assert outcome(cells[3:]) == "No cell has a result."
    assert "single seed" in outcome([standing("a", [100.0]), standing("b", [101.0])])
