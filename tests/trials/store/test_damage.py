"""A store in which something is not what was written: an error that names it, and nothing else."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cellwright.trials.executors import InProcess
from cellwright.trials.store import (
    Store,
    StoreError,
    best_trials,
    cell_of,
    export_study,
    find_study,
    list_attempts,
    list_trials,
    open_store,
    overview,
    overviews,
    read_curves,
    read_ledger,
)
from cellwright.trials.store.errors import DamagedError
from trials.store.test_study import evolution, kept, study

TRIALS = 5
OF_TRIAL = (
    "(SELECT t.id FROM cellwright_trials t JOIN cellwright_studies s ON s.id = t.study_id "
    "WHERE s.name = 'bad' AND t.number = 3)"
)
OF_CELL = OF_TRIAL.replace("t.id", "t.cell_id", 1)
ROW = {
    "studies": "name = 'bad'",
    "trials": f"id = {OF_TRIAL}",
    "attempts": f"trial_id = {OF_TRIAL}",
    "curves": f"trial_id = {OF_TRIAL}",
    "cells": f"id = {OF_CELL}",
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two studies."""
    path = tmp_path_factory.mktemp("sound") / "studies.db"
    with open_store(path) as store:
        for name in ("good", "bad"):
            study(store, evolution(seed=len(name)), InProcess(), TRIALS, name)
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    """A copy of it, without the rules of its tables."""
    copy = tmp_path / "studies.db"
    shutil.copy(sound, copy)
    with sqlite3.connect(copy) as connection:
        for table in ("trials", "studies"):
            connection.execute(f"CREATE TABLE bare AS SELECT * FROM cellwright_{table}")
            connection.execute("PRAGMA legacy_alter_table = ON")
            connection.execute(f"DROP TABLE cellwright_{table}")
            connection.execute(f"ALTER TABLE bare RENAME TO cellwright_{table}")
    connection.close()
    return copy


def write(path: Path, table: str, column: str, value: Any) -> None:
    with sqlite3.connect(path) as connection:
        query = f"UPDATE cellwright_{table} SET {column} = ? WHERE {ROW[table]}"
        assert connection.execute(query, (value,)).rowcount
    connection.close()


def everything(store: Store, name: str) -> None:
    """Whatever commands read of a study."""
    found = find_study(store, name)
    overview(store, found)
    read_ledger(store, found)
    trials = list_trials(store, found)
    read_curves(store, found)
    list_attempts(store, found)
    for trial in best_trials(store, found):
        cell_of(store, found, trial)
    assert len(trials) == TRIALS


DAMAGE = [
    ("trials", "value", "low", "value is 'low', and should be a number"),
    ("trials", "value", None, "status is 'ok', and it has no value"),
    ("trials", "value", 9e999, "value is inf, and should be a number"),
    ("trials", "cost", b"\0", "cost is b'\\x00', and should be a number"),
    ("trials", "fidelity", None, "fidelity is missing, and should be a whole number"),
    ("trials", "attempt", 1.5, "attempt is 1.5, and should be a whole number"),
    ("trials", "failures", -1, "failures is -1, and should not be below 0"),
    ("trials", "info", "{", "info is '{', and should be JSON"),
    ("trials", "info", "[1]", "info is '[1]', and should be a JSON object"),
    ("trials", "measures", '{"test": "x"}', "test in it should be a number"),
    ("trials", "measures", '{"epochs": []}', "epochs in it should be a number"),
    ("trials", "state", "done", "should be one of waiting, running, finished, failed"),
    ("trials", "status", None, "it is finished, and has no status"),
    ("trials", "ended_at", "today", "ended_at is 'today', and should be a number"),
    ("trials", "cell_id", "cafe", "has no cell 'cafe'"),
    ("attempts", "started_at", "today", "started_at is 'today', and should be a number"),
    ("curves", "numbers", '["a"]', "should be a list of numbers"),
    ("curves", "numbers", "[1.0, 2", "should be JSON"),
    ("cells", "json", "{}", "is damaged"),
]


@pytest.mark.parametrize(("table", "column", "value", "why"), DAMAGE)
def test_what_is_damaged_is_named(path: Path, table: str, column: str, value: Any, why: str):
    write(path, table, column, value)
    with open_store(path, only_read=True) as store:
        with pytest.raises(DamagedError, match="trial 3 of study 'bad' is damaged") as caught:
            everything(store, "bad")
        assert why in str(caught.value)
        assert "\n" not in str(caught.value)
        everything(store, "good")


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("search", "[]", "search is '[]', and should be a JSON object"),
        ("search", '{"space": 3}', "its settings should be JSON objects"),
        ("evaluation", "null", "should be a JSON object with arguments"),
        ("created_at", "today", "created_at is 'today', and should be a number"),
        ("target", "many", "target is 'many', and should be a whole number"),
        ("asked", None, "asked is missing, and should be a whole number"),
    ],
)
def test_a_study_that_is_damaged_does_not_hide_the_others(
    path: Path, column: str, value: Any, why: str
):
    write(path, "studies", column, value)
    damaged: list[str] = []
    with open_store(path, only_read=True) as store:
        assert [one.study.name for one in overviews(store, damaged)] == ["good"]
        assert damaged[0].startswith("study 'bad' is damaged: ")
        assert why in damaged[0]
        with pytest.raises(DamagedError, match="study 'bad' is damaged"):
            overviews(store)
        everything(store, "good")


def test_text_that_is_none_is_found_too(path: Path):
    """SQLite itself does not look whether text can be read."""
    with sqlite3.connect(path) as connection:
        query = f"UPDATE cellwright_trials SET error = CAST(x'ff' AS TEXT) WHERE id = {OF_TRIAL}"
        connection.execute(query)
    connection.close()
    with (
        open_store(path, only_read=True) as store,
        pytest.raises(DamagedError, match=r"trial 3 of study 'bad' is damaged: .*decode"),
    ):
        everything(store, "bad")


@pytest.mark.parametrize("table", ["trials", "curves", "attempts"])
def test_nothing_damaged_is_exported(path: Path, tmp_path: Path, table: str):
    column = {"trials": "value", "curves": "numbers", "attempts": "started_at"}[table]
    write(path, table, column, "x")
    with (
        open_store(path, only_read=True) as store,
        pytest.raises(DamagedError, match="trial 3 of study 'bad' is damaged"),
    ):
        export_study(store, find_study(store, "bad"), tmp_path / "out.csv", table)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("table", "column", "value", "why"),
    [
        ("trials", "value", "low", "trial 3 of study 'bad' is damaged"),
        ("trials", "told", -1, "trial 3 of study 'bad' is damaged"),
        ("trials", "info", "no", "trial 3 of study 'bad' is damaged"),
        ("curves", "numbers", "{}", "trial 3 of study 'bad' is damaged"),
        ("cells", "json", "{}", "trial 3 of study 'bad' is damaged: its cell"),
        ("studies", "asked", "all", "study 'bad' is damaged: asked is 'all'"),
        ("studies", "asked", 3, "study 'bad' is damaged: it has asked for 3 trials"),
        ("studies", "told", 4, "told 4 outcomes by its own count, and there are 5 and 5"),
    ],
)
def test_nobody_goes_on_with_what_is_damaged(
    sound: Path, tmp_path: Path, table: str, column: str, value: Any, why: str
):
    copy = tmp_path / "studies.db"
    shutil.copy(sound, copy)
    write(copy, table, column, value)
    with open_store(copy) as store:
        with pytest.raises(DamagedError, match=why):
            study(store, evolution(seed=3), InProcess(), TRIALS + 1, "bad")
        before = kept(store, "good")
        study(store, evolution(seed=4), InProcess(), TRIALS + 1, "good")
        assert kept(store, "good")[:TRIALS] == before


def test_a_database_with_types_of_its_own(store: Store):
    """PostgreSQL keeps text out of numbers, but not nonsense out of text."""
    study(store, evolution(), InProcess(), TRIALS, "bad")
    for change, why in (
        ("measures = '{'", "should be JSON"),
        ("measures = NULL, failures = -2", "should not be below 0"),
    ):
        query = text(f"UPDATE cellwright_trials SET {change} WHERE id = {OF_TRIAL}")
        store.write(lambda connection, query=query: connection.execute(query))
        with pytest.raises(StoreError, match=f"trial 3 of study 'bad' is damaged: .*{why}"):
            read_ledger(store, find_study(store, "bad"))
