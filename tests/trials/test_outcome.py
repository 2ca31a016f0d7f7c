"""Outcomes: the same as JSON and back, and nothing that is none is taken for one."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.trials.outcome import Outcome, OutcomeError

FINITE = st.floats(allow_nan=False, allow_infinity=False)
CURVE = st.lists(FINITE, max_size=4).map(tuple)
COUNT = st.none() | st.integers(0, 2**62)
OUTCOMES = st.builds(
    Outcome,
    value=FINITE,
    status=st.sampled_from(["ok", "diverged", "exploded"]),
    cost=st.floats(0, 1e9),
    curve=CURVE,
    curves=st.dictionaries(st.sampled_from(["train", "test", "seconds"]), CURVE),
    parameters=COUNT,
    peak_memory=COUNT,
    test=FINITE,
    measures=st.dictionaries(st.sampled_from(["epochs", "begun_at", "note"]), FINITE | st.text()),
)


@given(OUTCOMES)
def test_an_outcome_as_json_is_the_same_outcome(outcome: Outcome):
    text = json.dumps(outcome.to_json(), allow_nan=False)
    assert Outcome.from_json(json.loads(text)) == outcome


def test_what_is_not_finite_is_null():
    outcome = Outcome(
        math.inf, "diverged", math.nan, (3.0, math.nan), {"train": (-math.inf,)}, test=math.nan,
        measures={"norms": [1.0, math.inf], "last": {"loss": math.nan}},
    )  # fmt: skip
    values = outcome.to_json()
    assert values == {
        "value": None, "status": "diverged", "cost": 0.0, "curve": [3.0, None],
        "curves": {"train": [None]}, "norms": [1.0, None], "last": {"loss": None},
    }  # fmt: skip
    found = Outcome.from_json({**values, "cost": None})
    assert math.isnan(found.value)
    assert math.isnan(found.test)
    assert (found.loss, found.cost, found.curve[0]) == (math.inf, 0.0, 3.0)
    assert math.isnan(found.curve[1])


def test_a_value_is_enough():
    assert Outcome.from_json({"value": 1}) == Outcome(1.0)
    assert Outcome.from_json({"value": 1.5, "curves": {"valid": [2, 1.5]}}).curve == (2.0, 1.5)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (None, "an evaluator gives an outcome as JSON values, not None"),
        ([1.5], r"as JSON values, not \[1.5\]"),
        (1.5, "as JSON values, not 1.5"),
        ({}, "an outcome that is ok has a finite value, not nan"),
        ({"value": None}, "has a finite value, not nan"),
        ({"value": math.inf}, 'say status="diverged" where the loss is not'),
        ({"value": "low"}, "an outcome's value is a number, not 'low'"),
        ({"value": True}, "an outcome's value is a number, not True"),
        ({"value": [1.0]}, "an outcome's value is a number, not"),
        ({"value": 10**400}, "an outcome's value is too large: "),
        ({"value": 1.0, "status": 3}, "an outcome's status is a word, not 3"),
        ({"value": 1.0, "status": ""}, "an outcome's status is a word, not ''"),
        ({"value": 1.0, "cost": "1 s"}, "an outcome's cost is a number, not '1 s'"),
        ({"value": 1.0, "curve": 3}, "an outcome's curve is a list of numbers, not 3"),
        ({"value": 1.0, "curve": [1.0, "x"]}, "an outcome's curve is a number, not 'x'"),
        ({"value": 1.0, "curves": [1.0]}, "an outcome's curves are lists by name, not"),
        ({"value": 1.0, "curves": {"train": 3}}, "an outcome's train is a list of numbers, not 3"),
        ({"value": 1.0, "parameters": -1}, "an outcome's parameters is a count, not -1"),
        ({"value": 1.0, "parameters": 2.5}, "an outcome's parameters is a count, not 2.5"),
        ({"value": 1.0, "peak_memory": 2**63}, "an outcome's peak_memory is a count, not"),
        ({"value": 1.0, "test": {}}, "an outcome's test is a number, not {}"),
        ({"value": 1.0, "odd": {1, 2}}, r"an outcome has JSON values, and \{1, 2\} is none"),
        ({"value": 1.0, "deep": [{"odd": b"x"}]}, "an outcome has JSON values, and b'x' is none"),
    ],
)
def test_what_is_no_outcome(values: Any, says: str):
    with pytest.raises(OutcomeError, match=says):
        Outcome.from_json(values)
