"""What people ask a store: overviews, best trials, curves, tables."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

import cellwright as cw
from cellwright.trials.store import (
    Store,
    StoreError,
    Study,
    best_trials,
    export_study,
    list_trials,
    overview,
    overviews,
    read_cell,
    read_curves,
)
from cellwright.trials.store.trials import Retries, end_attempt, finish
from trials.store.helpers import claims, led_study, move, new_trial, outcome


@pytest.fixture
def study(store: Store) -> Study:
    """Trials 0 to 6: values 4, 3, 3; one diverged; one failed after a retry; running; waiting."""
    made, driver = led_study(store)
    fidelities = [1, 3, 3, 3, 3, 3, 3]
    trials = [new_trial(n, fidelity=fidelity) for n, fidelity in enumerate(fidelities)]
    move(store, driver, 0, 0, new=trials)

    def work(connection) -> None:
        for claim, value in zip(got[:4], (4.0, 3.0, 3.0, None), strict=True):
            finish(connection, claim, outcome(value, peak_memory=100 * claim.number), 0.5, 1)
        end_attempt(connection, got[4].trial_id, 1, "error", "no", Retries(failures=1))

    got = claims(store, driver, 5)
    store.write(work)
    (again, _running) = claims(store, driver, 2)
    assert again.number == 4
    retries = Retries(failures=1)
    store.write(lambda c: end_attempt(c, again.trial_id, 2, "error", "no again", retries))
    return made


def test_an_overview_counts(store: Store, study: Study):
    found = overview(store, study)
    assert found.states == {"waiting": 1, "running": 1, "finished": 4, "failed": 1}
    assert found.statuses == {"ok": 3, "diverged": 1, "failed": 1}
    assert (found.trials, found.ended, found.attempts, found.wasted) == (7, 5, 7, 2)
    failed = list_trials(store, study, state="failed")[0]
    assert failed.cost is not None
    assert found.cost == pytest.approx(4 * 2.0 + failed.cost)
    assert found.peak_memory == 300
    assert found.best is not None
    assert (found.best.number, found.best.value) == (1, 3.0)
    assert found.recent_per_hour > 5
    assert found.drivers == 1
    assert found.first_at is not None
    assert found.last_at is not None
    assert found.first_at <= found.last_at
    assert [one.study.name for one in overviews(store)] == ["s"]


def test_the_best_trials_are_those_of_the_lowest_values(store: Store, study: Study):
    assert [t.number for t in best_trials(store, study)] == [1, 2, 0]
    assert [t.number for t in best_trials(store, study, 1)] == [1]
    assert [t.number for t in best_trials(store, study, fidelity=1)] == [0]


def test_trials_are_listed_by_number_and_state(store: Store, study: Study):
    assert [t.number for t in list_trials(store, study)] == list(range(7))
    assert [t.number for t in list_trials(store, study, first=2, most=2)] == [2, 3]
    assert [t.number for t in list_trials(store, study, state="waiting")] == [6]
    with pytest.raises(StoreError, match="one of waiting, running, finished, failed"):
        list_trials(store, study, state="done")
    assert list_trials(store, study)[3].info == {"parent": 2}


def test_cells_and_curves_are_read(store: Store, study: Study):
    assert read_cell(store, cw.zoo["gru"].id) == cw.zoo["gru"]
    with pytest.raises(StoreError, match="no cell 'nothing'"):
        read_cell(store, "nothing")
    assert read_curves(store, study) == dict.fromkeys(range(4), (3.0, 1.5))
    assert read_curves(store, study, [2, 5]) == {2: (3.0, 1.5)}
    assert read_curves(store, study, name="train") == {}


def test_another_study_does_not_mix_in(store: Store, study: Study):
    other, driver = led_study(store, "other", trials=3)
    claims(store, driver)
    assert overview(store, study).trials == 7
    assert overview(store, other).states["running"] == 1
    assert best_trials(store, other) == []


def test_tables_as_csv(store: Store, study: Study, tmp_path: Path):
    path = export_study(store, study, tmp_path / "trials.csv")
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["number"] for row in rows] == [str(n) for n in range(7)]
    assert (rows[1]["value"], rows[1]["status"], rows[3]["value"]) == ("3.0", "ok", "")
    assert rows[4]["error"] == "no again"
    assert rows[0]["seed"] == str(2**62)
    lines = (export_study(store, study, tmp_path / "c.csv", "curves")).read_text().splitlines()
    assert lines[:3] == ["number,name,epoch,value", "0,valid,1,3.0", "0,valid,2,1.5"]
    cells = export_study(store, study, tmp_path / "cells.csv", "cells").read_text().splitlines()
    assert [line[: line.index(",")] for line in cells[1:]] == [
        cw.zoo[name].id for name in ("gru", "lstm", "rnn", "darts-v1")
    ]
    attempts = export_study(store, study, tmp_path / "a.csv", "attempts").read_text()
    assert len(attempts.splitlines()) == 1 + 7


def test_tables_as_parquet(store: Store, study: Study, tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(export_study(store, study, tmp_path / "trials.parquet"))
    assert table["value"].to_pylist() == [4.0, 3.0, 3.0, None, None, None, None]
    assert table["seed"].to_pylist() == [2**62 + n for n in range(7)]
    curves = parquet.read_table(export_study(store, study, tmp_path / "c.parquet", "curves"))
    assert curves["epoch"].to_pylist() == [1, 2] * 4


def test_parquet_without_pyarrow(
    store: Store, study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(StoreError, match=r"cellwright\[parquet\]"):
        export_study(store, study, tmp_path / "trials.parquet")


def test_exports_that_cannot_be(store: Store, study: Study, tmp_path: Path):
    with pytest.raises(StoreError, match="did you mean 'trials'"):
        export_study(store, study, tmp_path / "x.csv", "trial")
    with pytest.raises(StoreError, match=r"name ends in \.csv or \.parquet"):
        export_study(store, study, tmp_path / "x.json")
