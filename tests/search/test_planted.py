"""On a task that one operation is far better at, each method finds it.

Two seeds here; `benchmarks/planted_search.py` counts ten.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from planted_search import METHODS, OTHERS, PLANTED, alone, searched

from effort import many


@pytest.mark.parametrize("method", METHODS)
def test_the_planted_operation_is_found(method: str) -> None:
    outcomes = [searched(method, seed) for seed in range(many(2))]
    assert all(outcome.found for outcome in outcomes)
    assert all(outcome.rises for outcome in outcomes)
    assert min(outcome.deviations[-1] for outcome in outcomes) > 0.1


def test_the_planted_operation_is_far_better_on_its_own() -> None:
    """In nats: a perplexity that is at most four fifths of any other's."""
    found = {op: alone(op, 0) for op in (PLANTED, *OTHERS)}
    assert all(found[other] - found[PLANTED] > 0.22 for other in OTHERS)
