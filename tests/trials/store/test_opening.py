"""Opening stores: new ones, old ones, and what is not a store."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, inspect, text

from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.metric import LOSS, Metric
from cellwright.trials.store import (
    Store,
    StoreError,
    create_study,
    delete_study,
    find_study,
    has_study,
    list_studies,
    list_trials,
    open_store,
)
from cellwright.trials.store import migrations as steps
from cellwright.trials.store.tables import metadata
from cellwright.trials.store.urls import parse
from cellwright.trials.task_label import TaskLabel
from trials.store.helpers import claims, led_study

VERSION_1 = Path(__file__).parent / "version1.sql"
"""A SQLite store as version 1 wrote it; by hand, so that it stays what it is."""


def engine(place: str) -> Engine:
    return create_engine(parse(place))


def test_studies_are_made_found_and_removed(store: Store):
    made = create_study(store, "first", {"a": [1]}, {"function": "m:f"}, window=3, target=9)
    create_study(store, "second", {}, {})
    assert find_study(store, "first") == made
    assert (made.search, made.window, made.target) == ({"a": [1]}, 3, 9)
    assert [study.name for study in list_studies(store)] == ["first", "second"]
    with pytest.raises(StoreError, match="has a study 'first' already"):
        create_study(store, "first", {}, {})
    with pytest.raises(StoreError, match="no study 'frist'; did you mean 'first'"):
        find_study(store, "frist")
    delete_study(store, "second")
    assert not has_study(store, "second")
    with pytest.raises(StoreError, match="no study 'zzz'; it has first"):
        delete_study(store, "zzz")


def test_what_a_study_learns_is_kept(place: str):
    f1 = Metric(name="F1", form="percent", unit="", items="sentences")
    label = TaskLabel("my_tasks.names:task", f1)
    with open_store(place) as store:
        made = create_study(store, "names", {}, {}, task=label)
        create_study(store, "something", {}, {})
        assert made.task == label
    with open_store(place) as store:
        found = find_study(store, "names")
        assert (found.task, found.metric) == (label, f1)
        assert found.metric.higher_is_better
        assert [study.metric for study in list_studies(store)] == [f1, LOSS]


@pytest.mark.parametrize("text", [None, "", "null", "[]", "{", "3", '{"kind": "x"}',
    '{"kind": "x", "metric": {"name": "F1", "form": "of a later version"}}'])  # fmt: skip
def test_what_a_study_learns_that_nobody_knows_is_not_shown(text: str | None):
    assert TaskLabel.from_json(text) is None


def test_a_study_that_somebody_works_on_is_not_removed(store: Store):
    study, driver = led_study(store, trials=2)
    claims(store, driver)
    with pytest.raises(StoreError, match="somebody works on study 's'"):
        delete_study(store, "s")
    assert len(list_trials(store, study)) == 2


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201])
def test_a_name_must_be_one(store: Store, name: str):
    with pytest.raises(StoreError, match="a study's name is"):
        create_study(store, name, {}, {})


def test_what_is_kept_is_there_after_closing(place: str):
    with open_store(place) as store:
        create_study(store, "kept", {"x": 1}, {})
    with open_store(place, create=False) as store:
        assert find_study(store, "kept").search == {"x": 1}


def test_the_migrations_lead_to_the_tables(place: str):
    open_store(place).close()
    found = inspect(engine(place))
    assert set(found.get_table_names()) == set(metadata.tables)
    for name, table in metadata.tables.items():
        columns = {c["name"]: c for c in found.get_columns(name)}
        assert list(columns) == [column.name for column in table.columns]
        for column in table.columns:
            there = columns[column.name]
            assert there["nullable"] == column.nullable, (name, column.name)
            kind = there["type"].as_generic().python_type
            assert kind is column.type.python_type, (name, column.name)
        keys = found.get_pk_constraint(name)["constrained_columns"]
        assert keys == [column.name for column in table.primary_key.columns]
        references = {key["constrained_columns"][0] for key in found.get_foreign_keys(name)}
        assert references == {key.parent.name for key in table.foreign_keys}


def test_many_may_open_a_new_store_at_once(place: str):
    errors: list[BaseException] = []
    start = threading.Barrier(4)

    def work() -> None:
        try:
            start.wait()
            with open_store(place) as store:
                list_studies(store)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


# -- versions ---------------------------------------------------------------------------


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A store of version 1."""
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(VERSION_1.read_text())
    connection.close()
    return path


def version(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        (found,) = connection.execute("SELECT version FROM cellwright_schema").fetchone()
    connection.close()
    return int(found)


def test_a_store_of_version_1_opens_with_what_it_has(old: Path):
    with open_store(old) as store:
        study = find_study(store, "by hand")
        finished, waiting = list_trials(store, study)
    assert (finished.value, finished.status, finished.state) == (4.5, "ok", "finished")
    assert waiting.state == "waiting"
    assert version(old) == len(steps.MIGRATIONS)


def test_a_study_of_version_1_goes_on_with_what_it_evaluates(place: str, monkeypatch):
    """Only what cellwright itself evaluated is known to be language; others' stays as it is."""
    evaluation = {
        "function": "cellwright.run.trials:train_trial",
        "arguments": {"recipe": {"data": "ptb", "training": {"bptt": 7}}, "text": {"train": 9}},
    }
    with monkeypatch.context() as patch:
        patch.setattr(steps, "MIGRATIONS", steps.MIGRATIONS[:1])
        open_store(place).close()
    columns = "name, created_at, search, evaluation, asked, told, exhausted"
    row = text(f"INSERT INTO cellwright_studies ({columns}) VALUES (:n, 1.0, '{{}}', :e, 0, 0, 0)")
    with engine(place).begin() as connection:
        connection.execute(row, {"n": "ours", "e": json.dumps(evaluation)})
        connection.execute(row, {"n": "theirs", "e": '{"function": "m:f"}'})
    for _ in range(2):  # the second time nothing is left to do
        with open_store(place) as store:
            ours, theirs = find_study(store, "ours"), find_study(store, "theirs")
        assert ours.task == TaskLabel("language", PERPLEXITY)
        assert ours.evaluation == {
            "function": "cellwright.trials.evaluator:train_trial",
            "arguments": {
                "recipe": {
                    "task": {
                        "kind": "language",
                        "data": "ptb",
                        "folder": None,
                        "bptt": 7,
                        "similarity": [],
                    },
                    "training": {"anneal": 1.0, "anneal_after": 4, "rate_least": 0.0},
                },
                "most": {"train": 9},
            },
        }
        assert (theirs.task, theirs.metric) == (None, LOSS)
        assert theirs.evaluation == {"function": "m:f"}


def test_a_later_step_is_taken_by_an_old_store(old: Path, monkeypatch: pytest.MonkeyPatch):
    later = (
        "ALTER TABLE cellwright_studies ADD COLUMN note TEXT;"
        "UPDATE cellwright_studies SET note = 'n'"
    )
    monkeypatch.setattr(steps, "MIGRATIONS", (*steps.MIGRATIONS, later))
    with open_store(old) as store:
        assert find_study(store, "by hand").name == "by hand"
        note = store.read(lambda c: c.execute(text("SELECT note FROM cellwright_studies")).scalar())
    assert note == "n"
    assert version(old) == len(steps.MIGRATIONS)


def test_a_step_that_fails_leaves_the_store_as_it_was(old: Path, monkeypatch: pytest.MonkeyPatch):
    later = "ALTER TABLE cellwright_studies ADD COLUMN note TEXT; INSERT INTO nowhere VALUES (1)"
    monkeypatch.setattr(steps, "MIGRATIONS", (*steps.MIGRATIONS, later))
    with pytest.raises(StoreError, match="nowhere"):
        open_store(old)
    monkeypatch.undo()
    with open_store(old) as store:
        columns = {c["name"] for c in inspect(engine(str(old))).get_columns("cellwright_studies")}
        assert "note" not in columns
        assert len(list_trials(store, find_study(store, "by hand"))) == 2


def test_a_newer_store_is_left_alone(place: str):
    open_store(place).close()
    with engine(place).begin() as connection:
        connection.execute(text("UPDATE cellwright_schema SET version = 99"))
    with pytest.raises(StoreError, match=r"newer cellwright .version 99 .* upgrade cellwright"):
        open_store(place)


def test_a_store_without_a_version_is_damaged(place: str):
    open_store(place).close()
    with engine(place).begin() as connection:
        connection.execute(text("DELETE FROM cellwright_schema"))
    with pytest.raises(StoreError, match="does not say its version"):
        open_store(place)


@pytest.mark.parametrize("version", ["'x'", "NULL", "-1", "'{}'", "0"])
def test_a_version_that_is_none_is_damage(tmp_path: Path, version: str):
    place = str(tmp_path / "studies.db")
    open_store(place).close()
    with sqlite3.connect(place) as connection:
        connection.execute("ALTER TABLE cellwright_schema RENAME TO kept")
        connection.execute("CREATE TABLE cellwright_schema (version)")
        connection.execute(f"INSERT INTO cellwright_schema VALUES ({version})")
        connection.execute("DROP TABLE kept")
    with pytest.raises(StoreError, match="does not say its version: it is damaged"):
        open_store(place)


# -- what is not a store ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("", "a store is a file, such as studies.db, or a postgresql:// URL"),
        (":memory:", "a store is a file"),
        ("sqlite://", "needs a file"),
        ("mysql://host/db", "is SQLite or PostgreSQL, not 'mysql'"),
        ("postgresql://me:secret@host:port/db", "is not a database URL"),
        ("no/such/folder/s.db", "there is no folder no/such/folder"),
        (".", "is a folder; a store is a file"),
    ],
)
def test_places_that_are_none(
    place: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=message) as caught:
        open_store(place)
    assert "secret" not in str(caught.value)


def test_a_store_that_is_only_looked_at_is_not_made(tmp_path: Path):
    with pytest.raises(StoreError, match="there is no store"):
        open_store(tmp_path / "none.db", create=False)
    assert not (tmp_path / "none.db").exists()


def test_a_file_that_is_something_else(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, and they are longer than a header would be\n" * 20)
    with pytest.raises(StoreError, match=r"notes.txt: file is not a database \(the file is some"):
        open_store(path)


def test_a_file_that_is_damaged(old: Path):
    data = bytearray(old.read_bytes())
    data[100:8000] = os.urandom(7900)
    old.write_bytes(data)
    with pytest.raises(StoreError, match=r"old\.db: "):
        open_store(old)


def test_a_database_of_something_else(tmp_path: Path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    with pytest.raises(StoreError, match="database of something else, with tables such as 'songs'"):
        open_store(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("songs",)]
    connection.close()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_file_that_must_not_be_written(old: Path):
    old.chmod(0o400)
    old.parent.chmod(0o500)
    try:
        with pytest.raises(StoreError, match=r"must not be written to"), open_store(old) as store:
            create_study(store, "new", {}, {})
    finally:
        old.parent.chmod(0o700)


def test_a_server_that_is_not_there():
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match="is it running, and is the port right") as caught:
        open_store("postgresql://me:secret@127.0.0.1:1/lab")
    assert "secret" not in str(caught.value)


def test_a_database_or_a_user_that_is_not_there(postgres: str):
    with pytest.raises(StoreError, match='"nowhere" does not exist'):
        open_store(postgres.rpartition("/")[0] + "/nowhere")
    with pytest.raises(StoreError, match='"nobody-knows" does not exist'):
        open_store(postgres.replace("tester", "nobody-knows"))


def test_a_database_that_is_shared_with_another_program(postgres: str):
    from trials.postgres import emptied

    place = emptied(postgres)
    with engine(place).begin() as connection:
        connection.execute(text("CREATE TABLE trials (id INTEGER)"))
    with open_store(place) as store:
        assert list_studies(store) == []


def test_postgresql_without_its_package(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'cellwright\[postgres\]'"):
        open_store("postgresql://127.0.0.1/lab")
