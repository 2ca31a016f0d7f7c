"""What is said about a few seeds is what they can show, and no more."""

from __future__ import annotations

import math
import statistics
from itertools import product

import pytest

from cellwright.base.statistics import Spread, _t95, difference
from cellwright.compare.failures import Failure
from cellwright.report.comparison.page import caption, table
from cellwright.report.comparison.words import against, compared, mean_text, outcome, remarks
from cellwright.tasks.language.metric import PERPLEXITY
from compare.figures import F1, plan_of, standing

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
    said = compared("A", sure, "B", other, PERPLEXITY)
    assert said.startswith("A is better than B: 100.2 ± 0.2 against ")
    assert compared("A", other, "B", sure, PERPLEXITY).startswith("A is worse than B: ")
    one = compared("A", spread(100.0), "B", spread(90.0), PERPLEXITY)
    assert one == (
        "A came out higher than B: 100.0 against 90.0, from one seed, which has no spread to "
        "measure a difference by."
    )
    near = difference(spread(1.0, 3.0), spread(2.0, 4.0))
    assert against(near, PERPLEXITY) == "not distinguishable"
    assert mean_text(None, PERPLEXITY) == "–"


def test_the_outcome_names_every_cell_once():
    cells = [
        standing("a", [100.0, 100.2, 100.4]),
        standing("b", [100.1, 100.3, 100.6]),
        standing("c", [150.0, 150.1, 150.2]),
        standing("lost", [INF, INF, INF]),
    ]
    said = outcome(plan_of(*cells), cells)
    assert said.startswith("a has the lowest mean validation perplexity, 100.2 ± 0.2: lower than ")
    assert "that of c by more than chance explains" in said
    assert "not distinguishable from that of b" in said
    assert outcome(plan_of(*cells), cells[3:]) == "No cell has a result."
    lost = "No cell has a result: every training diverged."
    assert outcome(plan_of(*cells[3:]), cells[3:]) == lost
    assert "lost diverged with seeds 0, 1 and 2 before an epoch ended." in remarks(
        plan_of(*cells[3:]), cells[3:]
    )
    single = [standing("a", [100.0]), standing("b", [101.0])]
    assert "single seed" in outcome(plan_of(*single), single)


# -- where more is better ------------------------------------------------------------------------


def test_of_a_metric_that_grows_the_higher_is_better():
    high, low = spread(91.0, 91.2, 91.4), spread(80.0, 80.2, 80.1)
    said = compared("A", high, "B", low, F1)
    assert said.startswith("A is better than B: 91.20 ± 0.20 against 80.10 ± 0.10, a difference of")
    assert compared("A", low, "B", high, F1).startswith("A is worse than B: ")
    assert against(difference(low, high), F1).startswith("worse by 11.10 ± ")
    assert against(difference(high, low), F1).startswith("better by 11.10 ± ")
    apart = spread(90.0, 93.0), spread(84.0, 88.0)
    assert against(difference(*apart), F1) == "seems better by 5.50; too few seeds"
    assert compared("A", apart[1], "B", apart[0], F1).startswith("A seems worse than B, in every")
    one = against(difference(spread(91.0), spread(90.0)), F1)
    assert one == "higher by 1.00, spread unknown"


def test_the_outcome_of_a_metric_that_grows():
    cells = [
        standing("a", [91.0, 91.2, 91.4], F1),
        standing("b", [91.1, 91.1, 90.9], F1),
        standing("c", [80.0, 80.2, 80.1], F1),
        standing("lost", [INF, INF, INF], F1),
    ]
    plan = plan_of(*cells, metric=F1)
    said = outcome(plan, cells)
    assert said.startswith("a has the highest mean validation F1, 91.20 ± 0.20: higher than that ")
    assert "not distinguishable from that of b" in said
    assert cells[3].valid is None
    [late] = [remark for remark in remarks(plan, cells) if "last epoch" in remark]
    assert "with more epochs the figures would be higher" in late
    assert "the F1 (higher is better) of the epoch that validated best" in caption(plan)
    header, rows = table(plan, cells)
    assert rows[2][header.index("against the first")].startswith("worse by 11.10 ± ")
    assert rows[3][header.index("valid")] == "–"


def test_failures_are_named():
    why = Failure("b", 1, "timeout", "ran for more than its 5 seconds\nand more", 3)
    cells = [standing("a", [100.0, 101.0]), standing("b", [102.0], failed=[why])]
    plan = plan_of(*cells, seeds=2)
    words = "b failed with seed 1: ran for more than its 5 seconds (the last of 3 attempts)."
    assert words in remarks(plan, cells)
    header, rows = table(plan, cells)
    assert [row[header.index("failed")] for row in rows] == ["none", "1 of 2"]
    assert "failed" not in table(plan, cells[:1])[0]
