"""On a text that one choice is far better for, each method finds it, with the settings that ship.

Two seeds here; `benchmarks/planted_search.py` counts ten.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from planted_search import METHODS, SMALL, alone, searched

from cellwright.search.one_shot.recipes import load_search_recipe
from effort import many

SPECIAL = ("darts", "i-darts")
AS_SHIPPED = {
    "search": ("kind", "scope", "m", "operations", "edges", "norm", "softmax", "top_edges",
               "drop_unlinks", "alpha", "fixed", "architecture_start", "controller_range", "cells",
               "temperature", "tanh_constant", "entropy_weight", "reward_scale"),
    "model": ("init_range", "init_range_embedding"),
}  # fmt: skip
"""What no planted task may have other than its recipe."""


@pytest.mark.parametrize("method", METHODS)
def test_what_is_planted_is_found(method: str) -> None:
    planted = METHODS[method]
    outcomes = [searched(planted, seed) for seed in range(many(2))]
    assert all(outcome.found(planted.operation) for outcome in outcomes)
    for deviations in (outcome.deviations for outcome in outcomes if method in SPECIAL):
        assert list(deviations) == sorted(deviations)
        assert deviations[-1] > 0.1


@pytest.mark.parametrize("method", [method for method in METHODS if method not in SPECIAL])
def test_settings_are_those_that_ship(method: str) -> None:
    planted = METHODS[method]
    shipped = load_search_recipe(planted.recipe)
    small = load_search_recipe(planted.recipe, [*SMALL, *planted.changes])
    for part, names in AS_SHIPPED.items():
        for name in names:
            here, there = (
                getattr(getattr(recipe, part), name, None) for recipe in (small, shipped)
            )
            assert here == there, f"{part}.{name}"


@pytest.mark.parametrize(("method", "nats"), [("ess", 1.0), ("enas", 0.1)])
def test_what_is_planted_is_far_better_alone(method: str, nats: float) -> None:
    planted = METHODS[method]
    losses = {operation: valid for operation, (valid,) in alone(planted, [0]).items()}
    best = losses.pop(planted.operation)
    assert min(losses.values()) - best > nats
