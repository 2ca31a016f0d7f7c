"""`auto`: where its cells come from, and what its predictor learns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cellwright import zoo
from cellwright.search.blackbox.ask_tell import Outcome, Trial
from cellwright.search.blackbox.auto import LEAST_KNOWN, Auto
from cellwright.search.blackbox.predictor import Predictor
from cellwright.spaces import AnyCell, SettingError
from cellwright.spaces.settings import SettingError as BadSetting
from cellwright.trials.study.budget import Budget, epochs_spent


def tanhs(cell) -> int:
    return sum(node.op == "tanh" for node in cell.nodes)


def loss(trial: Trial) -> float:
    """Few tanh are good; longer trainings are better."""
    return 5 + tanhs(trial.cell) - 0.1 * trial.fidelity


def run(method: Auto, trials: int) -> Auto:
    while len(method.trials) < trials:
        trial = method.ask()
        assert trial is not None
        method.tell(trial, Outcome(loss(trial)))
    return method


def test_known_cells_come_first_and_then_changes_and_draws():
    method = run(Auto(AnyCell(), initial=("lstm", "gru"), lag=1, candidates=1, changes=0.5), 60)
    fresh = [trial for trial in method.trials if trial.info["rung"] == 0]
    assert [trial.cell for trial in fresh[:2]] == [zoo["lstm"], zoo["gru"]]
    changed = [trial for trial in fresh[2:] if "parent" in trial.info]
    assert 5 < len(changed) < len(fresh) - 5
    by_number = {trial.number: trial for trial in method.trials}
    for trial in changed:  # a parent was among the best by then: those that came farthest
        parent = by_number[trial.info["parent"]]
        known = [by_number[n] for n in range(trial.number)]
        farther = {t.cell.id for t in known if t.fidelity > parent.fidelity}
        assert len(farther) < method.parents


def test_who_does_well_is_trained_longer():
    method = run(Auto(AnyCell(), initial=("lstm", "gru"), lag=1), 80)
    ends = [trial for trial in method.trials if trial.fidelity == method.epochs]
    starts = [trial for trial in method.trials if trial.info["rung"] == 0]
    assert ends
    assert np.mean([tanhs(t.cell) for t in ends]) < np.mean([tanhs(t.cell) for t in starts])


def test_nothing_is_trained_twice_where_that_can_be_helped():
    method = run(Auto(AnyCell(), initial=("lstm",), lag=1, candidates=4), 60)
    fresh = [trial.cell.id for trial in method.trials if trial.info["rung"] == 0]
    assert len(set(fresh)) == len(fresh)


def test_the_predictor_learns_what_is_good():
    rng = np.random.default_rng(0)
    cells = list({cell.id: cell for cell in (AnyCell().sample(rng) for _ in range(80))}.values())
    known, rest = cells[:-10], cells[-10:]
    losses = [float(tanhs(cell)) if tanhs(cell) < 6 else math.inf for cell in known]
    first = Predictor(known, losses).first(rest)
    assert tanhs(rest[first]) <= np.median([tanhs(cell) for cell in rest])
    assert Predictor(known[:1] * 3, [1.0, 1.0, 1.0]).first(rest) in range(10)
    assert LEAST_KNOWN > 3


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"changes": 1.5}, "changes must be"),
        ({"parents": 0}, "parents must be"),
        ({"candidates": 0}, "candidates must be"),
        ({"initial": ["lstmm"]}, "did you mean 'lstm'"),
        ({"initial": "lstm"}, "initial must be a list"),
    ],
)
def test_settings_that_are_none(settings, says):
    with pytest.raises((SettingError, BadSetting), match=says):
        Auto(AnyCell(), **settings)


def test_a_budget_counts_what_trials_add():
    cell = zoo["gru"]
    trials = [Trial(0, cell, 1, 0), Trial(1, cell, 1, 1), Trial(2, cell, 3, 0, {"continues": 0})]
    assert epochs_spent(trials, {}) == 1 + 1 + 2
    assert Budget(epochs=4).spent(trials, {})
    assert not Budget(epochs=5).spent(trials, {})
    assert not Budget().spent(trials, {})
    assert Budget(seconds=0.0).spent(trials, {})
    assert not Budget(seconds=0.0, least=4).spent(trials, {})


@pytest.mark.parametrize(
    ("status", "curve", "epochs"),
    [
        ("ok", (3.0,) * 9, 9),
        ("exploded", (3.0, 3.0), 3),  # in the third
        ("loss is nan", (3.0, math.nan), 2),  # after the second
        ("exploded", (), 1),
        ("failed", (), 1),
        ("dead: h = 0", (), 1),
        ("stopped", (3.0,) * 9, 9),
    ],
)
def test_a_trial_that_ended_early_leaves_the_rest_of_its_epochs(status, curve, epochs):
    outcome = Outcome(3.0, status, curve=curve)
    assert epochs_spent([Trial(0, zoo["gru"], 9, 0)], {0: outcome}) == epochs
    # One that goes on with the first three epochs of another has those of their curve, too.
    both = [Trial(0, zoo["gru"], 3, 0), Trial(1, zoo["gru"], 9, 0, {"continues": 0})]
    assert epochs_spent(both, {1: outcome}) == 3 + max(1, epochs - 3)
