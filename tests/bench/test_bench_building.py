"""Building a benchmark: which cells, which trainings, what the table has of them."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from bench_tables import run as made_run
from sqlalchemy import text

import cellwright as cw
from cellwright.bench import BenchError, assemble
from cellwright.bench.building import build, collect, drawn, like, stratified
from cellwright.bench.building.choosing import spread_first
from cellwright.bench.building.method import Repeated
from cellwright.bench.building.recording import run_of
from cellwright.bench.runs import Architecture
from cellwright.bench.synthetic import synthetic
from cellwright.cli.bench.build_progress import described
from cellwright.runs.run import fresh_run
from cellwright.runs.runner import train
from cellwright.spaces import Enas, NasBenchNlp
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.trials.executors import InProcess
from cellwright.trials.outcome import Outcome
from cellwright.trials.store import StoreError, TrialRecord, find_study, list_trials, open_store
from cellwright.trials.study import StoreLost, StudyError
from runs.support import small_recipe, write_corpus

ZOO = tuple(cw.zoo[name] for name in ("nbnlp-rnn", "nbnlp-lstm", "nbnlp-gru"))


# -- the list of trainings ---------------------------------------------------------------------


def asked(method: Repeated, most: int) -> list[tuple[str, str, int]]:
    found = []
    while len(found) < most and (trial := method.ask()) is not None:
        found.append((trial.cell.name, trial.cell.id, trial.seed))
    return found


def test_each_cell_has_each_seed_and_the_given_ones_come_first():
    trials = asked(Repeated(NasBenchNlp(), epochs=5, first=ZOO, repeats=2), 14)
    assert [name for name, _, _ in trials[::2]] == [
        "nbnlp-rnn", "nbnlp-lstm", "nbnlp-gru", "drawn-3", "drawn-4", "drawn-5", "drawn-6",
    ]  # fmt: skip
    assert [trial[:2] for trial in trials[::2]] == [trial[:2] for trial in trials[1::2]]
    assert [seed for _, _, seed in trials] == [0, 1] * 7
    assert len({id for _, id, _ in trials}) == 7


def test_a_longer_list_begins_with_the_shorter_one_and_the_seed_decides():
    def listed(most: int, **settings: int) -> list[tuple[str, str, int]]:
        return asked(Repeated(NasBenchNlp(), epochs=5, **settings), most)

    assert listed(12)[:6] == listed(6)
    assert listed(6, seed=1) != listed(6)


def test_some_have_all_seeds_and_the_others_one():
    trials = asked(Repeated(NasBenchNlp(), epochs=5, first=ZOO, repeats=3, repeated=2), 10)
    assert [(name, seed) for name, _, seed in trials] == [
        ("nbnlp-rnn", 0), ("nbnlp-rnn", 1), ("nbnlp-rnn", 2),
        ("nbnlp-lstm", 0), ("nbnlp-lstm", 1), ("nbnlp-lstm", 2),
        ("nbnlp-gru", 0), ("drawn-3", 0), ("drawn-4", 0), ("drawn-5", 0),
    ]  # fmt: skip
    once = Repeated(NasBenchNlp(), epochs=5, first=ZOO, repeats=3, repeated=0)
    assert [(name, seed) for name, _, seed in asked(once, 4)][-1] == ("drawn-3", 0)
    without = asked(Repeated(NasBenchNlp(), epochs=5, first=ZOO), 6)
    assert [id for _, id, seed in trials if not seed] == [id for _, id, _ in without]
    few = Repeated(NasBenchNlp(), epochs=5, first=ZOO, drawn=False, repeats=3, repeated=50)
    assert len(asked(few, 100)) == few.trials_of(3) == 9
    assert few.finished


def test_repeated_ones_are_good_and_bad_ones():
    cells = tuple(range(12))
    assert spread_first(cells, 5, kept=2)[:5] == (0, 1, 3, 7, 10)
    assert sorted(spread_first(cells, 5, kept=2)) == list(cells)
    assert spread_first(cells, 1, kept=2) == spread_first(cells, 0, kept=2) == cells
    assert spread_first(cells, 99, kept=2) == cells


def test_a_space_that_has_no_more_cells_ends_the_list():
    space = Enas(nodes=1)
    method = Repeated(space, epochs=1, repeats=2)
    trials = asked(method, 1000)
    assert len(trials) == 2 * space.distinct_size()
    assert method.finished


def test_the_method_comes_back_from_its_state():
    method = Repeated(NasBenchNlp(), epochs=5, first=ZOO[:1], repeats=2)
    trials = [method.ask() for _ in range(5)]
    method.tell(trials[2], Outcome(1.0))
    again = Repeated.from_state(method.state(), NasBenchNlp())
    assert again.ask() == method.ask()


# -- a stratified sample -----------------------------------------------------------------------


def ladder(losses: list[float]) -> list[Architecture]:
    method = Repeated(NasBenchNlp(), epochs=1)  # its cells are all different
    return [
        Architecture(f"a{n}", method.ask().cell, [made_run([loss + 1, loss])])
        for n, loss in enumerate(losses)
    ]


def test_one_cell_from_each_stratum_of_the_final_test_loss():
    order = np.random.default_rng(0).permutation(20)
    benchmark = assemble(ladder([float(place) for place in order]), title="ladder")
    for seed in range(5):
        chosen = stratified(benchmark, 5, seed=seed)
        losses = [float(order[int(cell.name[1:])]) for cell in chosen]
        assert [int(loss) // 4 for loss in losses] == [0, 1, 2, 3, 4]
    assert stratified(benchmark, 5, seed=1) == stratified(benchmark, 5, seed=1)
    assert len({stratified(benchmark, 5, seed=seed) for seed in range(5)}) > 1
    assert {cell.id for cell in stratified(benchmark, 20)} == set(benchmark.graphs)


def test_what_never_ended_well_is_not_chosen_and_baselines_are():
    rows = ladder([float(n) for n in range(9)])
    rows.append(Architecture("exploded", ZOO[0], [made_run([math.nan], status="diverged")]))
    rows.append(Architecture("nbnlp-gru", ZOO[2], [made_run([9.0, 8.5])]))
    benchmark = assemble(rows, title="ladder")
    for seed in range(5):
        names = [cell.name for cell in stratified(benchmark, 4, seed=seed, first=ZOO)]
        assert names[0] == "nbnlp-gru"
        assert [int(name[1:]) // 3 for name in names[1:]] == [0, 1, 2]
    with pytest.raises(BenchError, match=r"has 10 different cells .* so 11 cannot be chosen"):
        stratified(benchmark, 11)


# -- from a trial to a run ---------------------------------------------------------------------


def record(**values: object) -> TrialRecord:
    fields = dict.fromkeys(TrialRecord.__dataclass_fields__)
    fields |= {"number": 4, "fidelity": 3, "seed": 1, "measures": {}, "parameters": 77}
    return TrialRecord(**{**fields, **values})  # type: ignore[arg-type]


CURVES = {
    "train": [3.0, 2.5, 2.0], "valid": [4.0, 3.0, 3.5], "test": [4.5, 3.25, 3.0],
    "seconds": [2.0, 1.0, 1.5],
}  # fmt: skip


def test_a_run_has_the_curves_of_its_trial():
    run = run_of(record(status="ok", cost=4.5), CURVES, {"a": 1}, "x/1")
    assert (run.status, run.seed, run.parameters, run.label) == ("ok", 1, 77, "x/1")
    assert (run.train[0], run.best_epoch, run.best_test) == (3.0, 2, 3.25)
    assert run.total_seconds == 4.5
    assert run.settings == {"a": 1}


def test_a_training_that_diverged_in_an_epoch_pays_for_it():
    two = {name: values[:2] for name, values in CURVES.items()}
    run = run_of(record(status="exploded", cost=3.75, measures={"epochs": 3}), two, {}, "")
    assert (run.status, run.message, run.epochs) == ("diverged", "exploded", 3)
    assert math.isnan(run.valid[2])
    assert run.seconds.tolist() == [2.0, 1.0, 0.75]
    # It was measured in the last epoch, and the loss was not finite there.
    none = {**CURVES, "valid": [4.0, 3.0, None]}
    run = run_of(record(status="loss is nan", cost=4.5, measures={"epochs": 3}), none, {}, "")
    assert (run.status, run.epochs) == ("diverged", 3)
    assert run.valid.tolist()[:2] == [4.0, 3.0]


def test_a_training_that_failed_has_no_epochs():
    run = run_of(record(error="it crashed\nmore"), {}, {}, "")
    assert (run.status, run.message, run.epochs) == ("failed", "it crashed", 0)


def test_a_training_that_the_recipe_ended_is_stopped():
    two = {name: values[:2] for name, values in CURVES.items()}
    assert run_of(record(status="ok", cost=3.0), two, {}, "").status == "stopped"


# -- a build -----------------------------------------------------------------------------------


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return small_recipe().on(str(write_corpus(tmp_path / "text")))


def built(recipe, store: str, **settings: int):
    choice = {"cells": 2, "repeats": 2, "epochs": 2, **settings}
    building = drawn("mine", NasBenchNlp(), recipe, first=ZOO[2:], **choice)
    with open_store(store) as opened, InProcess() as executor:
        seen: list = []
        build(opened, building, executor, seen.append)
        return collect(opened, building, "mine"), seen


def test_a_build_trains_every_cell_with_every_seed(recipe):
    found, seen = built(recipe, "a.db")
    assert found.names == ("nbnlp-gru", "drawn-1")
    assert found.seed.tolist() == [0, 1] * 2
    assert np.diff(found.first_epoch).tolist() == [2] * 4
    assert found.corpus == "text"
    assert all(np.isfinite(getattr(found, name)).all() for name in ("train", "valid", "test"))
    assert found.settings[0]["model.hidden"] == 6
    assert [now.done for now in seen if now.event is None] == [0]
    assert (seen[-1].done, seen[-1].total, seen[-1].left) == (4, 4, 0)


def test_a_training_is_that_of_a_run_by_itself(recipe):
    found, _ = built(recipe, "a.db", cells=1)
    training = recipe.training.model_copy(update={"epochs": 2})
    alone = fresh_run(ZOO[2], recipe.model_copy(update={"training": training}), 1, path=Path("run"))
    result = train(alone.folder, alone.training)
    [_, row] = found.architecture(found.find("nbnlp-gru")).runs
    assert row.seed == 1
    assert row.valid.tolist() == [record.valid for record in result.curve]
    assert row.test.tolist() == [record.test for record in result.curve]
    assert row.parameters == result.parameters


def test_the_same_build_has_the_same_losses(recipe):
    first, _ = built(recipe, "a.db")
    second, _ = built(recipe, "b.db")
    assert first.cells[1] == second.cells[1]
    for name in ("train", "valid", "test"):
        assert np.array_equal(getattr(first, name), getattr(second, name))


def test_a_build_goes_on_and_grows(recipe):
    small, _ = built(recipe, "a.db", cells=1)
    large, seen = built(recipe, "a.db")
    assert (seen[0].done, seen[0].total) == (2, 4)
    assert large.names[:1] == small.names
    assert np.array_equal(large.valid[: len(small.valid)], small.valid)
    again, seen = built(recipe, "a.db")
    assert [now.done for now in seen] == [4]
    assert np.array_equal(again.seconds, large.seconds)
    with open_store("a.db") as store:
        assert len(list_trials(store, find_study(store, "mine"))) == 4
    with pytest.raises(StudyError, match="was begun with"):
        built(recipe, "a.db", epochs=3)


def test_a_store_that_is_lost_is_told(recipe, monkeypatch):
    def lost(*_, watch, **__):
        watch(StoreLost("the store x is gone", 9.0))

    monkeypatch.setattr(sys.modules[build.__module__], "run_study", lost)
    building = drawn("mine", NasBenchNlp(), recipe, cells=2, repeats=2, epochs=2)
    seen: list = []
    with open_store("a.db") as store, InProcess() as executor:
        build(store, building, executor, seen.append)
    assert [described(now, PERPLEXITY) for now in seen] == ["", "the store x is gone"]
    assert (seen[-1].done, seen[-1].total) == (0, 4)


def test_curves_that_do_not_fit_together_are_told(recipe):
    built(recipe, "a.db", cells=1)
    building = drawn("mine", NasBenchNlp(), recipe, first=ZOO[2:], cells=1, repeats=2, epochs=2)
    shorter = text("UPDATE cellwright_curves SET numbers = '[1.0]' WHERE name = 'test'")
    with open_store("a.db") as store:
        store.write(lambda connection: connection.execute(shorter))
        with pytest.raises(StoreError, match="trial 0 of study 'mine' is damaged"):
            collect(store, building, "mine")


def test_failures_are_no_results(recipe, monkeypatch):
    """Nor are they divergence; and where there is nothing else, there is no benchmark."""
    module = sys.modules[build.__module__]
    monkeypatch.setattr(module, "EVALUATOR", "trials.evaluators:gone")
    with pytest.raises(BenchError, match=r"all 2 trainings failed.*\ntrial 0 and 1 more: Runtime"):
        built(recipe, "a.db", cells=1)
    monkeypatch.setattr(module, "EVALUATOR", "trials.evaluators:gone_at_first")
    found, _ = built(recipe, "b.db", cells=1)
    first, second = found.architecture(0).runs
    assert (first.status, first.message) == ("failed", "RuntimeError: the data is gone")
    assert second.status == "ok"


def test_a_build_that_has_not_ended_is_no_benchmark_yet(recipe):
    built(recipe, "a.db", cells=1)
    more = drawn("mine", NasBenchNlp(), recipe, first=ZOO[2:], cells=3, repeats=2, epochs=2)
    with open_store("a.db") as store, pytest.raises(BenchError, match="4 of 6 trainings"):
        collect(store, more, "mine")


def test_too_small_a_space_is_told(recipe):
    space = Enas(nodes=1)
    building = drawn("few", space, recipe, cells=1000, repeats=1, epochs=1, first=())
    with open_store("a.db") as store, InProcess() as executor:
        build(store, building, executor)
        with pytest.raises(BenchError, match=r"only \d different cells could be drawn, not 1,000"):
            collect(store, building, "few")


def test_a_second_corpus(recipe):
    other = synthetic(30, epochs=3)
    building = like("second", other, recipe, cells=2, repeats=1, epochs=1)
    with open_store("a.db") as store, InProcess() as executor:
        build(store, building, executor)
        found = collect(store, building, "second")
    assert len(found) == 2
    assert set(found.graphs) <= set(other.graphs)
    assert set(found.names) <= set(other.names)
