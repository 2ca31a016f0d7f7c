"""Studies from recipes: every method trains, and what comes out depends on the seed alone."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import pytest

from cellwright.base.errors import UserError
from cellwright.search.studies.baseline import baseline_of, compare, read_baseline, run_baseline
from cellwright.search.studies.start import make_executor, prepare, run_prepared
from cellwright.trials.checkpoint_files import checkpoint_numbers
from cellwright.trials.executors import ExecutorError, InProcess, LocalProcesses
from cellwright.trials.store import Store, find_study, list_trials, read_ledger
from cellwright.trials.study import StudyError, StudyStopped, TrialFinished


def trials_of(store: Store, name: str) -> list[tuple[Any, ...]]:
    """What has to be the same in two studies of one seed."""
    found = list_trials(store, find_study(store, name))
    return [(t.number, t.cell_id, t.fidelity, t.seed, t.status, t.value) for t in found]


PACKAGES = {"tpe": "optuna", "smac": "smac", "bayesian-optimization": "xgboost"}
SMALLER = {
    "bayesian-optimization": ["method.initial=4", "method.batch=2", "pool.cells=12"],
    "smac": ["method.initial=4", "pool.cells=12"],
    "tpe": ["method.startup=4"],
}
METHODS = ["asynchronous-hyperband", "hyperband", "local-search", *PACKAGES]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs(recipe, store, method):
    if method in PACKAGES and not importlib.util.find_spec(PACKAGES[method]):
        pytest.skip(f"needs {PACKAGES[method]}")
    chosen = recipe(f"{method}-laptop", "trials=8", *SMALLER.get(method, []))
    prepared = prepare(chosen, 1)
    found = run_prepared(prepared, store, InProcess())
    assert found.trials == found.ended == chosen.trials
    assert found.best is not None
    assert prepared.name == f"{method}-laptop-1"
    assert not Path("checkpoints").exists()
    if "hyperband" in method:
        ledger = read_ledger(store, find_study(store, prepared.name))
        records = list_trials(store, find_study(store, prepared.name))
        went_on = [t for t in records if t.measures["begun_at"]]
        assert went_on
        taken_over = sum(t.measures["begun_at"] for t in went_on)
        assert ledger.epochs == sum(t.fidelity for t in records) - taken_over


def test_hyperband_keeps_no_more_trainings_than_can_go_on(recipe, store):
    prepared = prepare(recipe("hyperband-laptop", "method.epochs=4", "method.eta=2"), 1)
    kept = []

    def watch(event: object) -> None:
        if isinstance(event, TrialFinished):
            kept.append(checkpoint_numbers(prepared.checkpoints))

    run_prepared(prepared, store, InProcess(), watch=watch)
    trials = list_trials(store, find_study(store, prepared.name))
    # Brackets of 4, 3 and 3 cells: 2 of 4 go on, then 1 of 2; 1 of 3; none of the last.
    assert [len(numbers) for numbers in kept[:4]] == [1, 2, 2, 2]
    losses = sorted((t.value or math.inf, t.number) for t in trials[:4])
    assert kept[3] == sorted(number for _, number in losses[:2])
    went_on = [t for t in trials if "continues" in t.info]
    assert went_on
    assert all(t.measures["begun_at"] for t in went_on)


def test_stopped_and_gone_on_with_is_the_same_study(recipe, store):
    chosen = recipe("studies-laptop", "trials=7", "method.population=4", "method.lag=2")
    run_prepared(prepare(chosen, 3, name="whole"), store, InProcess())

    def stop_at_5(event: object) -> None:
        if isinstance(event, TrialFinished) and event.number == 5:
            raise StudyStopped("cut")

    with pytest.raises(StudyStopped):
        run_prepared(prepare(chosen, 3, name="cut"), store, InProcess(), watch=stop_at_5)
    assert len(trials_of(store, "cut")) < 7
    with LocalProcesses(2, threads=1) as executor:
        run_prepared(prepare(chosen, 3, name="cut"), store, executor)
    assert trials_of(store, "cut") == trials_of(store, "whole")
    run_prepared(prepare(chosen, 4, name="other"), store, InProcess())
    assert trials_of(store, "other") != trials_of(store, "whole")


def test_other_settings_under_the_same_name_are_refused(recipe, store):
    run_prepared(prepare(recipe("studies-laptop"), 0), store, InProcess(), trials=1)
    changed = recipe("studies-laptop", "child.model.hidden=7")
    with pytest.raises(StudyError, match=r"begun with .*hidden = 6, not 7; .* another name"):
        run_prepared(prepare(changed, 0), store, InProcess())


def test_random_search_at_the_same_cost(recipe, store):
    chosen = recipe("studies-laptop", "trials=5", "method.population=4", "method.lag=2")
    prepared = prepare(chosen, 0)
    run_prepared(prepared, store, InProcess())
    study = read_ledger(store, find_study(store, prepared.name))
    assert study.trials == 5
    assert study.epochs == sum(
        t.measures["epochs"] for t in list_trials(store, find_study(store, prepared.name))
    )
    random = run_baseline(prepared, store, InProcess(), study)
    assert random.study == "studies-laptop-0-random"
    assert random.method == "random"
    assert study.epochs <= random.epochs < study.epochs + chosen.method.epochs
    again = run_baseline(prepared, store, InProcess(), study)
    assert again.trials == random.trials
    assert read_baseline(store, prepared.name) == again
    own = {cell for _, cell, *_ in trials_of(store, prepared.name)}
    assert own.isdisjoint(cell for _, cell, *_ in trials_of(store, random.study))
    verdict = compare(study, random)
    assert verdict.difference == pytest.approx(random.value - study.value)
    assert verdict.winner == ("method" if study.value < random.value else "random")


def test_a_random_search_that_was_cut_short_ends_the_same(recipe, store):
    """Cells that diverge cost less, and leave room for more; whenever they are counted."""
    chosen = recipe("studies-laptop", "trials=6", "method.population=4", "method.lag=2",
                    "child.training.learning_rate=3.0",
                    "child.training.explode_above=3.2")  # fmt: skip
    prepared = prepare(chosen, 0)
    run_prepared(prepared, store, InProcess())
    study = read_ledger(store, find_study(store, prepared.name))
    whole = run_baseline(prepared, store, InProcess(), study)
    assert whole.diverged
    other = prepare(chosen, 0, name="other")
    run_prepared(baseline_of(other), store, InProcess(), trials=1)
    cut = run_baseline(other, store, InProcess(), study)
    assert (cut.trials, cut.epochs) == (whole.trials, whole.epochs)


def test_by_seconds(recipe, store):
    prepared = prepare(recipe("studies-laptop", "trials=2"), 0)
    run_prepared(prepared, store, InProcess())
    study = read_ledger(store, find_study(store, prepared.name))
    random = run_baseline(prepared, store, InProcess(), study, unit="seconds")
    assert random.seconds >= study.seconds


def test_nobody_wins_without_values(store):
    from dataclasses import replace

    from cellwright.trials.store import create_study

    empty = read_ledger(store, create_study(store, "e", {"method": "random"}, {}))
    assert (empty.trials, empty.epochs, empty.wall, empty.value) == (0, 0, 0.0, None)
    assert compare(empty, replace(empty, study="f")).winner == "nobody"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (['method.initial=["lstmm"]'], "'lstmm', which space 'fenas' does not know"),
        (['method.initial=["fenas-gru"]'], "'fenas-gru', .* is not a cell of the space"),
        (["method.initial=[5, {}]"], "initial must be cells, not 5"),
        (["method.population=2"], "lag must be at most the population"),
        (["task.data=nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_started(recipe, settings, message):
    with pytest.raises(UserError, match=message):
        prepare(recipe("studies-laptop", *settings), 0)


def test_a_cell_of_the_zoo_may_begin(recipe):
    chosen = recipe("studies-laptop", "space.kind=enas", "space.nodes=8",
                    'method.initial=["darts-v1"]')  # fmt: skip
    with pytest.raises(UserError, match="darts-v1"):
        prepare(chosen, 0)
    chosen = recipe("studies-laptop", "space.kind=enas", "space.nodes=6",
                    'method.initial=["sentpair-7"]')  # fmt: skip
    trial = prepare(chosen, 0).method.ask()
    assert trial is not None
    assert trial.cell.name == "sentpair-7"


def test_executors(recipe):
    chosen = recipe("studies-laptop")
    with make_executor("local", chosen, workers=2) as executor:
        assert executor.slots == 2
    with pytest.raises(ExecutorError, match="no executor 'lokal'; did you mean 'local'"):
        make_executor("lokal", chosen)
    with pytest.raises(ExecutorError, match="address is for a Ray cluster"):
        make_executor("local", chosen, address="auto")
    with pytest.raises(ExecutorError, match="one trial at a time"):
        make_executor("in-process", chosen, workers=2)
