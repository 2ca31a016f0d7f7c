"""Looking at a store that others work on, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from cellwright.search.blackbox.methods import method
from cellwright.spaces import Enas
from cellwright.trials.executors import Call, InProcess
from cellwright.trials.store import Store, StoreError, list_studies, list_trials, open_store
from cellwright.trials.store.watching import (
    NoStoreError,
    live_drivers,
    moment_of,
    open_to_watch,
    trial_columns,
)
from cellwright.trials.study import run_study


def work(store: Store, trials: int) -> list[int]:
    """Have so many trials in all; how many drivers were seen at work after each."""
    evolution = method("aging-evolution", Enas(nodes=4), population=3, sample=2, lag=1)
    call = Call("trials.evaluators:evaluate")
    seen = []

    def look(event: object) -> None:
        [study] = list_studies(store)
        seen.append(live_drivers(store, study))

    run_study(store, "watched", evolution, call, InProcess(), trials=trials, watch=look)
    return seen


def test_a_study_is_followed_beside_its_driver(place: str, store: Store):
    assert set(work(store, 4)) == {1}
    with open_to_watch(place) as watching:
        [study] = list_studies(watching)
        assert live_drivers(watching, study) == 0
        before = moment_of(watching)
        assert moment_of(watching) == before
        assert trial_columns(watching, study)["number"] == [0, 1, 2, 3]
    work(store, 6)
    with open_to_watch(place) as watching:
        assert moment_of(watching) != before
        found = trial_columns(watching, study)
    trials = list_trials(store, study)
    assert found["value"] == [trial.value for trial in trials]
    assert found["ended_at"] == [trial.ended_at for trial in trials]


def test_nothing_can_be_written(place: str, store: Store):
    with open_to_watch(place) as watching, pytest.raises(StoreError, match="opened to be read"):
        watching.write(lambda connection: None)


def test_a_database_without_studies_is_no_store(place: str):
    if "://" not in place:
        with open(place, "wb"):
            pass
    with pytest.raises(NoStoreError):
        open_to_watch(place)
    with open_store(place):
        pass
    with open_to_watch(place) as watching:
        assert list_studies(watching) == []


def test_a_server_that_is_away_is_an_error_at_once():
    with pytest.raises(StoreError):
        open_to_watch("postgresql://nobody@127.0.0.1:1/nothing")
