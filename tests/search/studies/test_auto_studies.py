"""`auto` as a study: its budget, the comparison at its end, and going on."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from cellwright import Cell, zoo
from cellwright.api import search
from cellwright.search.studies.final import best_cells
from cellwright.trials.store import find_study, list_trials, open_store
from cellwright.trials.study import StudyStopped, TrialFinished

SMALL = ["space.matrices=8", "method.epochs=2", "method.eta=2", "final.seeds=2", "final.cells=1"]


@pytest.fixture
def auto(recipe):
    def auto(*settings: str, **arguments):
        chosen = recipe("auto", "budget.minutes=none", "budget.epochs=14", *SMALL, *settings)
        return search(chosen, name="a", executor="in-process", progress=False, **arguments)

    return auto


def trials(name: str = "a"):
    with open_store("studies.db") as store:
        found = list_trials(store, find_study(store, name))
        return [(t.number, t.cell_id, t.fidelity, t.seed, t.value) for t in found]


def test_it_ends_with_a_cell_beside_the_known_ones(auto):
    found = auto()
    spent = trials()
    new = sum(1 for _, _, fidelity, _, _ in spent if fidelity == 1)
    assert 14 <= new + (len(spent) - new) <= 15  # an epoch each: those that go on add one
    final = found.final
    assert [row.label for row in final.rows if not row.found] in (["lstm", "gru"], ["gru", "lstm"])
    assert sorted(final.margins) == ["gru", "lstm"]
    assert all(len(row.valid.values) == 2 for row in final.rows)
    assert final.rows == tuple(sorted(final.rows, key=lambda row: row.valid.mean))
    winner = Cell.from_json(Path("studies/a/best.json").read_text())
    assert winner == found.cell == final.winner.cell
    assert winner not in (row.cell for row in final.rows if not row.found)
    kept = json.loads(Path("studies/a/final.json").read_text())
    assert kept["margins"]["lstm"]["finding"] == final.margins["lstm"].finding
    difference = final.winner.test.mean - next(r for r in final.rows if r.label == "lstm").test.mean
    assert final.margins["lstm"].value == pytest.approx(difference)


def test_the_same_epochs_come_to_the_same_cell_also_after_a_stop(auto, recipe, monkeypatch):
    whole = auto()
    first = trials()
    Path("studies.db").unlink()
    ended = 0

    class Stopping:
        def __call__(self, event):
            nonlocal ended
            ended += isinstance(event, TrialFinished)
            if ended == 5:
                ended = 99
                raise StudyStopped("a")

    import cellwright.search.studies.start as start

    run_study = start.run_study

    def stopping(*given, **more):
        watch, own = Stopping(), more.pop("watch")

        def both(event):
            if own is not None:
                own(event)
            watch(event)

        return run_study(*given, watch=both, **more)

    monkeypatch.setattr(start, "run_study", stopping)
    with pytest.raises(StudyStopped):
        auto()
    assert len(trials()) < len(first)
    again = auto()
    assert trials() == first
    assert again.cell == whole.cell
    assert [r.valid for r in again.final.rows] == [r.valid for r in whole.final.rows]


def test_a_larger_budget_goes_on(auto):
    auto()
    first = trials()
    more = auto("budget.epochs=18")
    assert trials()[: len(first)] == first
    assert len(trials()) > len(first)
    assert more.final is not None


def test_a_study_from_before_a_setting_came_goes_on(auto):
    auto()
    with sqlite3.connect("studies.db") as store:
        (written,) = store.execute("SELECT evaluation FROM cellwright_studies").fetchone()
        evaluation = json.loads(written)
        del evaluation["arguments"]["recipe"]["model"]["precision"]
        store.execute("UPDATE cellwright_studies SET evaluation = ?", [json.dumps(evaluation)])
    first = trials()
    auto("budget.epochs=18")
    assert trials()[: len(first)] == first
    assert len(trials()) > len(first)


def test_time_ends_it_but_not_before_there_is_something(recipe):
    chosen = recipe("auto", "budget.minutes=0.0001", "method.initial=['gru', 'mgu']", *SMALL)
    found = search(chosen, name="a", executor="in-process", progress=False)
    assert found.ledger.trials == 1  # gru itself, which is no finding
    assert found.final is None
    longer = chosen.model_copy(update={"budget": chosen.budget.model_copy(update={"minutes": 9})})
    found = search(longer, name="a", trials=4, executor="in-process", progress=False)
    assert found.ledger.trials == 4
    assert all(len(row.valid.values) == 2 for row in found.final.rows)


def test_the_best_are_those_that_came_farthest(auto):
    auto()
    with open_store("studies.db") as store:
        study = find_study(store, "a")
        records = [t for t in list_trials(store, study) if t.status == "ok"]
        longest = max(t.fidelity for t in records)
        best = min((t for t in records if t.fidelity == longest), key=lambda t: t.value)
        assert best_cells(store, study, 1)[0].id == best.cell_id
        assert best_cells(store, study, 1, [best.cell_id])[0].id != best.cell_id
        for cell in best_cells(store, study, 9):
            assert cell.name in zoo or cell.name.startswith("a-")
            assert cell.name not in zoo or zoo[cell.name] == cell
