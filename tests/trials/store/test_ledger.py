"""The compute ledger counts everything that a study has cost."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from cellwright.search.blackbox.methods import method
from cellwright.spaces import Enas
from cellwright.trials.executors import Call, InProcess
from cellwright.trials.store import (
    create_study,
    find_study,
    list_attempts,
    list_trials,
    read_ledger,
)
from cellwright.trials.store.tables import attempts
from cellwright.trials.study import run_study


def search(store, evaluator: str, trials: int):
    run_study(
        store,
        "s",
        method("random", Enas(), epochs=4),
        Call(f"trials.evaluators:{evaluator}"),
        InProcess(),
        trials=trials,
    )
    return find_study(store, "s")


def test_what_came_to_nothing_is_counted(store):
    study = search(store, "sometimes_broken", 5)  # trials 0 and 4 never work
    ledger = read_ledger(store, study)
    assert (ledger.study, ledger.method) == ("s", "random")
    assert (ledger.trials, ledger.failed, ledger.ok + ledger.diverged) == (5, 2, 3)
    assert (ledger.attempts, ledger.wasted) == (9, 6)
    assert ledger.epochs == 3 * 4
    finished = list_trials(store, study, state="finished")
    assert ledger.training == sum(trial.cost for trial in finished)  # nothing of what failed
    best = ledger.to_json()["best"]
    assert best["value"] == ledger.value
    assert best["test"] == ledger.test is not None


def test_epochs_are_those_that_trials_say(store):
    study = search(store, "half_the_epochs", 3)
    assert read_ledger(store, study).epochs == 3 * 2


def test_wall_time_counts_overlaps_once_and_pauses_not(store):
    study = search(store, "evaluate", 4)
    times = [(100.0, 110.0), (105.0, 107.0), (108.0, 120.0), (1000.0, 1001.0)]

    def move(connection):
        for trial, (begun, ended) in zip(list_attempts(store, study), times, strict=True):
            known = attempts.c.started_at == trial.started_at
            connection.execute(
                update(attempts).where(known).values(started_at=begun, ended_at=ended)
            )

    store.write(move)
    ledger = read_ledger(store, study)
    assert ledger.wall == pytest.approx(21.0)
    assert ledger.seconds == pytest.approx(25.0)


def test_a_study_without_trials(store):
    ledger = read_ledger(store, create_study(store, "e", {"method": "random"}, {}))
    assert (ledger.trials, ledger.epochs, ledger.wall, ledger.best) == (0, 0, 0.0, None)
    assert ledger.to_json()["best"] is None
