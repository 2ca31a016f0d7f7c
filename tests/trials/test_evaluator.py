"""Trials that really train: what they report, and that going on changes nothing."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest

import cellwright as cw
from cellwright.data.errors import DataError
from cellwright.runs.errors import RecipeError, RunError
from cellwright.search.blackbox.methods import method
from cellwright.spaces import Enas
from cellwright.trials import checkpoints, evaluator
from cellwright.trials.checkpoint_files import checkpoint_numbers
from cellwright.trials.evaluator import train_trial
from cellwright.trials.executors import Call, InProcess
from cellwright.trials.executors.running import run_call
from cellwright.trials.outcome import Outcome
from cellwright.trials.store import best_trials, find_study, open_store, read_curves
from cellwright.trials.study import run_study
from cellwright.trials.trial import Trial
from runs.support import SETTINGS, small_recipe

TIMES = ("cost", "peak_memory", "epochs", "begun_at")


@pytest.fixture(scope="module")
def recipe(text_folder: Path) -> dict[str, Any]:
    """A training of a moment, as JSON values."""
    made = small_recipe("training.average_after=1", "training.decay_after=1")
    return made.on(str(text_folder)).model_dump()


def trial(fidelity: int, number: int = 0, cell: str = "gru", seed: int = 3, **info: Any) -> Any:
    return Trial(number, cw.zoo[cell], fidelity, seed, info).to_json()


def timeless(outcome: dict[str, Any]) -> dict[str, Any]:
    """What two trainings of one seed have in common, bit for bit."""
    kept = {name: value for name, value in outcome.items() if name not in TIMES}
    return {**kept, "curves": {k: v for k, v in kept["curves"].items() if k != "seconds"}}


def test_a_cell_that_cannot_learn_is_not_trained_and_the_outcome_says_why(recipe, monkeypatch):
    monkeypatch.delattr(evaluator, "Training")
    dead = cw.Cell([cw.Node("a", "linear", ("x",)), cw.Node("h", "mul", ("a", "h0"))], ["h"])
    found = train_trial(Trial(0, dead, 2, 0).to_json(), recipe=recipe)
    outcome = Outcome.from_json(found)
    assert outcome.status == "dead: its output is zero at every step, whatever it reads"
    assert math.isinf(outcome.loss)
    assert (found["epochs"], found["begun_at"], outcome.cost) == (0, 0, 0.0)


def test_an_outcome_has_the_curves_and_the_cost(recipe):
    found = train_trial(trial(3), recipe=recipe)
    assert Outcome.from_json(found).status == "ok"
    assert len(found["curve"]) == 3
    assert found["value"] == min(found["curve"])
    best = found["curve"].index(found["value"])
    assert found["test"] == found["curves"]["test"][best]
    assert found["cost"] == pytest.approx(sum(found["curves"]["seconds"]), rel=0.2)
    assert (found["epochs"], found["begun_at"]) == (3, 0)
    vocabulary, hidden = 22, recipe["model"]["hidden"]
    cell = cw.zoo["gru"].parameters(hidden, hidden)
    assert found["parameters"] == vocabulary * hidden + vocabulary + cell
    last = train_trial(trial(3), recipe=recipe, value="last")
    assert last["value"] == found["curve"][-1]


def test_a_trial_that_is_too_large_says_so_in_a_line(recipe):
    large = {**recipe, "model": {**recipe["model"], "hidden": 1_000_000}}
    call = Call("cellwright.trials.evaluator:train_trial", {"trial": trial(1), "recipe": large})
    ended = run_call(call)
    assert ended["kind"] == "error"
    assert ended["message"].startswith("the model takes 96.0 TB of memory at least")
    assert "\n" not in ended["message"]


def test_the_seed_decides(recipe):
    same = train_trial(trial(2), recipe=recipe, threads=1)
    assert timeless(train_trial(trial(2), recipe=recipe, threads=1)) == timeless(same)
    assert timeless(train_trial(trial(2, seed=4), recipe=recipe)) != timeless(same)


def test_the_schedule_does_not_depend_on_the_fidelity(recipe):
    short, long = (train_trial(trial(epochs), recipe=recipe) for epochs in (2, 5))
    assert long["curve"][:2] == short["curve"]


def test_a_trial_goes_on_from_a_checkpoint(recipe, tmp_path):
    how: dict[str, Any] = {"recipe": recipe, "checkpoints": str(tmp_path / "kept"), "longest": 6}
    whole = train_trial(trial(6), recipe=recipe)
    first = train_trial(trial(2), **how)
    assert checkpoint_numbers(tmp_path / "kept") == [0]
    second = train_trial(trial(4, 1, continues=0), **how)
    assert (second["begun_at"], second["epochs"]) == (2, 2)
    assert checkpoint_numbers(tmp_path / "kept") == [1]
    third = train_trial(trial(6, 2, continues=1), **how)
    assert timeless(third) == timeless(whole)
    assert second["curve"][:2] == first["curve"]
    assert checkpoint_numbers(tmp_path / "kept") == []
    together = sum(found["cost"] for found in (first, second, third))
    assert together == pytest.approx(sum(third["curves"]["seconds"]), rel=0.2)


@pytest.mark.parametrize("harm", ["removed", "cut", "other seed", "other settings", "pipe"])
def test_without_an_intact_checkpoint_it_begins_anew(recipe, tmp_path, harm):
    how: dict[str, Any] = {"recipe": recipe, "checkpoints": str(tmp_path), "longest": 9}
    whole = train_trial(trial(3), recipe=recipe)
    other = harm == "other seed"
    settings = {**recipe["training"], "learning_rate": 1e-3}
    changed = {**recipe, "training": settings} if harm == "other settings" else recipe
    train_trial(trial(2, seed=99 if other else 3), **{**how, "recipe": changed})
    path = tmp_path / "0.safetensors"
    if harm in ("removed", "pipe"):
        path.unlink()
    if harm == "pipe":
        os.mkfifo(path)
    if harm == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    again = train_trial(trial(3, 1, continues=0), **how)
    assert again["begun_at"] == 0
    assert timeless(again) == timeless(whole)


def test_an_attempt_that_was_cut_short_is_not_begun_anew(recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "SAVE_SECONDS", 0.0)
    whole = train_trial(trial(4), recipe=recipe)
    learned: list[int] = []
    real = evaluator.Training._take_step

    def take_step(self: Any) -> Any:
        learned.append(len(self.result().curve))
        if len(learned) == kill_at:
            raise KeyboardInterrupt
        return real(self)

    monkeypatch.setattr(evaluator.Training, "_take_step", take_step)
    kill_at = 20
    with pytest.raises(KeyboardInterrupt):
        train_trial(trial(4), recipe=recipe, checkpoints=str(tmp_path))
    reached, kill_at = learned[-1], 0
    assert reached >= 1
    learned.clear()
    again = train_trial(trial(4), recipe=recipe, checkpoints=str(tmp_path))
    assert learned[0] == reached
    assert timeless(again) == timeless(whole)
    assert again["epochs"] == 4
    assert again["cost"] == pytest.approx(sum(again["curves"]["seconds"]), rel=0.2)
    assert checkpoint_numbers(tmp_path) == []


def test_a_cell_that_diverges_is_a_result(recipe, tmp_path):
    settings = {**recipe["training"], "explode_above": 1e-3}
    how = {**recipe, "training": settings}
    found = train_trial(trial(2), recipe=how, checkpoints=str(tmp_path), longest=9)
    assert found["status"] == "exploded"
    assert (found["value"], found["curve"], found["epochs"]) == (None, [], 1)
    assert Outcome.from_json(found).loss == math.inf
    assert checkpoint_numbers(tmp_path) == []


def test_part_of_the_text(recipe):
    whole = train_trial(trial(1), recipe=recipe)
    part = train_trial(trial(1), recipe=recipe, most={"train": 100, "valid": 50})
    assert part["parameters"] == whole["parameters"]
    assert part["curve"] != whole["curve"]
    with pytest.raises(DataError, match="parts train, valid, test, not 'tset'"):
        train_trial(trial(1), recipe=recipe, most={"tset": 5})
    with pytest.raises(RunError, match="is not what the study was begun with"):
        train_trial(trial(1), recipe=recipe, fingerprint="another")


def test_recipes_by_name_and_bad_arguments(recipe):
    by_name = evaluator.recipe_of("laptop", SETTINGS)
    assert by_name.model.hidden == recipe["model"]["hidden"]
    with pytest.raises(RunError, match="one of best, last, not 'lats'"):
        train_trial(trial(1), recipe=recipe, value="lats")
    with pytest.raises(RecipeError, match="unknown recipe 'labtop'; did you mean 'laptop'"):
        train_trial(trial(1), recipe="labtop")
    with pytest.raises(RunError, match="not the values of a training recipe"):
        train_trial(trial(1), recipe={"model": {}})


def test_a_study_that_trains(recipe, tmp_path: Path):
    search = method("hyperband", Enas(nodes=3), epochs=3, eta=3, rounds=1, seed=1)
    arguments = {"recipe": recipe, "checkpoints": str(tmp_path / "kept"), "longest": 3}
    call = Call("cellwright.trials.evaluator:train_trial", arguments)
    with open_store(str(tmp_path / "studies.db")) as store:
        found = run_study(store, "s", search, call, InProcess(), trials=6)
        assert found.states["finished"] == 6
        study = find_study(store, "s")
        best = best_trials(store, study, 1)[0]
        assert min(read_curves(store, study)[best.number]) == best.value
        assert best.measures["test"] in read_curves(store, study, name="test")[best.number]
