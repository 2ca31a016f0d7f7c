"""What the studio says of a folder is what the folder holds, and looking changes nothing."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from pathlib import Path

import pytest
import studio_server  # noqa: F401  (lets `studio_material` be found)
from sqlalchemy import insert
from studio_material import write_run, write_study

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.base.locks import training_lock
from cellwright.runs.curves import curve_of
from cellwright.runs.folder import RunFolder
from cellwright.runs.metrics_file import MetricsWriter
from cellwright.studio.found import MOST_FOLDERS, find
from cellwright.studio.watch import Watch
from cellwright.training.results import best_of
from cellwright.trials.store import list_studies, list_trials, open_store, overview
from cellwright.trials.store.tables import schema
from cellwright.trials.store.watching import open_to_watch, trial_columns

COUNT = 300


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watched")
    for number, name in enumerate(("gru", "lstm")):
        write_run(folder / "runs" / name, cw.zoo[name], 4, number, ended=name == "gru")
    with open_store(folder / "studies.db") as store:
        write_study(store, "evolution", COUNT, distinct=20)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "watched"))


def row_of(watch: Watch, identity: str) -> dict[str, object]:
    [row] = [row for row in watch.rows() if row["id"] == identity]
    return row


def test_a_run_stands_as_its_folder_says(folder: Path):
    watch = Watch(str(folder))
    for name, state in (("gru", "finished"), ("lstm", "killed")):
        run = RunFolder.open(folder / "runs" / name)
        curve = curve_of(run)
        best = best_of(curve)
        assert best is not None
        row = row_of(watch, f"runs/{name}")
        assert row["state"] == state == run.state
        assert row["shown"] == run.info.metric.shown(best.valid)
        assert (row["done"], row["total"]) == (len(curve), 4)
        detail = watch.detail(f"runs/{name}")
        assert detail["curves"]["valid"] == [math.exp(each.valid) for each in curve]


def test_a_training_that_moves_is_noticed_and_nothing_else(folder: Path):
    watch = Watch(str(folder))
    assert watch.look().rows == []
    path = folder / "runs" / "lstm"
    before = len(curve_of(RunFolder.open(path)))
    with training_lock(path):
        assert [row["state"] for row in watch.look().rows] == ["running"]
        writer = MetricsWriter(path / "metrics.jsonl", keep=10**6)
        record = {**RunFolder.open(path).metrics()[-1], "epoch": before + 1, "valid": 1.0}
        writer.append(record)
        writer.close()
        [row] = watch.look().rows
        assert row["id"] == "runs/lstm"
        assert (row["done"], row["value"]) == (before + 1, math.e)
        assert row["left"] is not None
    assert [row["state"] for row in watch.look().rows] == ["killed"]
    shutil.rmtree(path)
    assert watch.look().gone == ["runs/lstm"]


def test_what_is_new_appears(folder: Path):
    watch = Watch(str(folder))
    write_run(folder / "deeper" / "there" / "rnn", cw.zoo["rnn"], 1, 5)
    assert [row["id"] for row in watch.look().rows] == ["deeper/there/rnn"]


@pytest.mark.parametrize("name", ["run.json", "metrics.jsonl", "result.json"])
@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "epoch"}\n', "\0" * 50])
def test_a_damaged_run_is_said_to_be_so(folder: Path, name: str, text: str):
    (folder / "runs" / "gru" / name).write_text(text)
    watch = Watch(str(folder))
    row, detail = row_of(watch, "runs/gru"), watch.detail("runs/gru")
    if name == "run.json" or (name == "metrics.jsonl" and text.startswith('{"')):
        assert row["state"] == "damaged"
        assert name in str(detail["error"])
    elif name == "result.json":
        assert any(key == "damaged" and "result.json" in why for key, why in detail["facts"])
    assert row_of(watch, "runs/lstm")["state"] == "killed"


def test_a_link_that_leads_out_is_not_read(folder: Path, tmp_path: Path):
    secret = tmp_path / "secret.json"
    secret.write_text((folder / "runs" / "gru" / "run.json").read_text())
    inside = folder / "runs" / "gru" / "run.json"
    inside.unlink()
    inside.symlink_to(secret)
    (folder / "round").symlink_to(folder)
    watch = Watch(str(folder))
    row = row_of(watch, "runs/gru")
    assert row["state"] == "damaged"
    assert "leads out" in str(row["error"])
    assert watch.notes == ["1 links to folders are not followed"]
    assert len(watch.rows()) == 3


def test_trials_are_those_of_the_store(folder: Path):
    watch = Watch(str(folder))
    found = watch.trials("studies.db:1", 0)
    texts, columns = list(found["texts"]), found["columns"]
    with open_store(folder / "studies.db") as store:
        [study] = list_studies(store)
        trials, stands = list_trials(store, study), overview(store, study)
    assert columns["number"] == [trial.number for trial in trials]
    assert [texts[at] for at in columns["cell"]] == [trial.cell_id for trial in trials]
    assert columns["origin"] == [trial.info.get("parent") for trial in trials]
    reasons = [None if at is None else texts[at] for at in columns["reason"]]
    assert reasons == [trial.error for trial in trials]
    for trial, value in zip(trials, columns["value"], strict=True):
        expected = None if trial.status != "ok" else pytest.approx(math.exp(trial.value or 0))
        assert value == expected
    row = row_of(watch, "studies.db:1")
    assert (row["done"], row["failed"]) == (stands.ended, stands.states["failed"])
    assert stands.best is not None
    assert row["best_trial"] == stands.best.number


def test_only_trials_that_have_changed_are_asked_for_again(folder: Path):
    with open_to_watch(folder / "studies.db") as store:
        [study] = list_studies(store)
        everything = trial_columns(store, study)
        late = everything["asked_at"][-5]
        some = trial_columns(store, study, since=late)
    assert some["number"] == everything["number"][-5:]


def test_the_line_of_a_trial_is_its_parents(folder: Path):
    watch = Watch(str(folder))
    with open_store(folder / "studies.db") as store:
        [study] = list_studies(store)
        parents = {t.number: t.info.get("parent") for t in list_trials(store, study)}
    expected, at = [], COUNT - 1
    while at is not None:
        expected.append(at)
        at = parents[at]  # type: ignore[assignment]
    detail = watch.trial("studies.db:1", COUNT - 1)
    assert [each["number"] for each in detail["lineage"]] == expected
    cell = watch.cell("studies.db:1", COUNT - 1, None, -1)
    assert cell.id == detail["cell_id"]


def test_looking_at_a_store_leaves_no_trace(folder: Path):
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    watch = Watch(str(folder))
    watch.look()
    watch.trials("studies.db:1", 0)
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_writer_is_never_locked_out_and_is_followed(folder: Path):
    writer = sqlite3.connect(folder / "studies.db", isolation_level=None, timeout=0)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE cellwright_studies SET target = 500")
    watch = Watch(str(folder))
    assert row_of(watch, "studies.db:1")["total"] == 500
    writer.execute("BEGIN IMMEDIATE")  # in the middle of a change
    writer.execute("UPDATE cellwright_studies SET target = 700")
    watch.look()
    assert len(watch.trials("studies.db:1", 0)["columns"]["number"]) == COUNT
    assert row_of(watch, "studies.db:1")["total"] == 500
    writer.execute("COMMIT")
    watch.look()
    assert row_of(watch, "studies.db:1")["total"] == 700
    writer.close()


def test_a_store_of_an_older_version_is_read_and_stays_so(folder: Path):
    from cellwright.trials.store.migrations import MIGRATIONS

    path = folder / "studies.db"
    with sqlite3.connect(path) as connection:
        [(version,)] = connection.execute(f"SELECT version FROM {schema.name}").fetchall()
        assert version == len(MIGRATIONS)
        connection.execute("ALTER TABLE cellwright_studies DROP COLUMN task")
        connection.execute(f"UPDATE {schema.name} SET version = {version - 1}")
    connection.close()
    before = path.read_bytes()
    watch = Watch(str(folder))
    assert row_of(watch, "studies.db:1")["done"] == COUNT
    assert path.read_bytes() == before


def test_other_databases_are_left_alone(folder: Path):
    with sqlite3.connect(folder / "other.db") as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    (folder / "text.db").write_text("no database")
    (folder / "broken.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    watch = Watch(str(folder))
    kinds = {row["id"]: row["state"] for row in watch.rows()}
    assert kinds["broken.db"] == "damaged"
    assert {name for name in kinds if ".db" in name} == {"studies.db:1", "broken.db"}
    watch.look()
    assert not list(folder.glob("other.db-*"))


def test_a_damaged_trial_does_not_hide_the_others(folder: Path):
    with sqlite3.connect(folder / "studies.db") as connection:
        connection.execute("UPDATE cellwright_trials SET value = 'much' WHERE number = 3")
    connection.close()
    watch = Watch(str(folder))
    assert row_of(watch, "studies.db:1")["state"] == "damaged"
    assert "trial 3" in str(watch.detail("studies.db:1")["error"])
    assert row_of(watch, "runs/gru")["state"] == "finished"


def test_a_store_alone_can_be_watched(folder: Path):
    watch = Watch(str(folder / "studies.db"))
    assert [row["name"] for row in watch.rows()] == ["evolution"]
    with open_store(folder / "studies.db") as store:
        write_study(store, "second", 3, distinct=2)
    assert [row["name"] for row in watch.look().rows] == ["second"]


def test_a_store_by_its_url_is_followed_too(folder: Path):
    watch = Watch(f"sqlite:///{folder / 'studies.db'}")
    with open_store(folder / "studies.db") as store:
        write_study(store, "second", 3, distinct=2)
    assert [row["name"] for row in watch.look().rows] == ["second"]
    (folder / "studies.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    change = watch.look()
    assert str(folder / "studies.db") in str(change.trouble)
    assert change.gone == []  # what was known stays


@pytest.mark.parametrize("place", ["nowhere", "runs/gru/cell.json", "postgresql://"])
def test_what_is_nothing_to_watch_is_an_error(
    folder: Path, place: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(folder)
    with pytest.raises(UserError):
        Watch(place)


def test_a_comparison_stands_as_its_trainings_do(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Of two cells the better one is first; a training that has not begun is waited for."""
    recipe = json.loads((folder / "runs" / "gru" / "run.json").read_text())["recipe"]
    place = folder / "comparison"
    cells = [{"label": name, "id": cw.zoo[name].id, "source": name} for name in ("gru", "lstm")]
    metric = json.loads((folder / "runs" / "gru" / "run.json").read_text())["metric"]
    value = {
        "format": "cellwright-comparison/2", "recipe": recipe, "metric": metric,
        "data": {"fingerprint": "0", "description": "made-up"}, "cells": cells,
        "seeds": [0, 1], "threads": 1,
    }  # fmt: skip
    for name, seed in (("gru", 0), ("gru", 1), ("lstm", 0)):
        write_run(place / "runs" / f"{name}-seed{seed}", cw.zoo[name], 4, seed)
    (place / "comparison.json").write_text(json.dumps(value))
    (place / "failures.json").write_text(
        json.dumps([{"label": "lstm", "seed": 1, "ending": "error", "message": "no memory"}])
    )
    watch = Watch(str(folder))
    row, detail = row_of(watch, "comparison"), watch.detail("comparison")
    assert (row["state"], row["done"], row["total"], row["failed"]) == ("finished", 3, 4, 1)
    means = {}
    for name, seeds in (("gru", (0, 1)), ("lstm", (0,))):
        runs = [RunFolder.open(place / "runs" / f"{name}-seed{seed}") for seed in seeds]
        values = [math.exp(run.result().valid) for run in runs]  # type: ignore[union-attr]
        means[name] = sum(values) / len(values)
    assert [one["label"] for one in detail["standings"]] == sorted(means, key=lambda n: means[n])
    assert {one["label"]: one["valid"] for one in detail["standings"]} == pytest.approx(means)
    failed = {one["label"]: one["failed"] for one in detail["standings"]}
    assert failed["lstm"] == [{"seed": 1, "why": "no memory"}]
    assert watch.detail("comparison/runs/gru-seed0")["row"]["parent"] == "comparison"


def test_too_many_folders_end_the_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("cellwright.studio.found.MOST_FOLDERS", 20)
    assert MOST_FOLDERS > 20
    for number in range(40):
        (tmp_path / str(number)).mkdir()
    assert find(tmp_path).too_many


def test_a_cell_too_large_to_draw_still_has_its_formulas(monkeypatch: pytest.MonkeyPatch):
    from cellwright.studio import cell_view

    monkeypatch.setattr(cell_view, "MOST_NODES", 3)
    document = cell_view.cell_document(cw.zoo["gru"])
    assert document["picture"] is None
    assert [name for name, _ in document["formulas"]][-1] == "h"


def test_trials_that_are_open_are_asked_for_again(folder: Path):
    from cellwright.trials.store.tables import trials

    with open_store(folder / "studies.db") as store:
        old = {
            "id": 7, "study_id": 1, "number": COUNT, "fidelity": 1, "seed": 0, "info": "{}",
            "state": "waiting", "attempt": 0, "failures": 0, "losses": 0, "asked_at": 1.0,
        }  # fmt: skip
        [study] = list_studies(store)
        old["cell_id"] = list_trials(store, study, most=1)[0].cell_id
        store.write(lambda connection: connection.execute(insert(trials).values(**old)))
        found = trial_columns(store, study, since=1e12)
    assert found["number"] == [COUNT]
