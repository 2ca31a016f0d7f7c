"""Runs that an earlier version made are shown, listed, and gone on with as if nothing had been."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cellwright as cw
from cellwright.runs.checkpoints import load_state
from cellwright.runs.curves import curve_of
from cellwright.runs.earlier import evaluation_of_today, recipe_of_today
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.listing import list_runs
from cellwright.runs.recipes import Recipe, recipe_from_json
from cellwright.runs.run import fresh_run, reopen, resume
from cellwright.runs.runner import train
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.language.settings import LanguageSettings
from earlier_forms import write_before
from runs.support import outcome, small_recipe, small_run, write_corpus

RUN = """{
  "format": "cellwright-run/1",
  "id": "c6f1f6d2a5be3c64",
  "created": "2026-01-16T18:13:12.348332+00:00",
  "status": "stopped",
  "data": {"name": "ptb", "folder": "/text/ptb", "fingerprint": "ed5d", "description": "ptb: 9"},
  "seed": 3,
  "backend": "auto",
  "threads": 1,
  "versions": {"cellwright": "0.1.0"},
  "cell": {"name": "gru", "id": "cdb0c692efc1d7a9"},
  "recipe": {
    "name": "mine",
    "description": "A small model",
    "data": "ptb",
    "model": {"kind": "one-layer", "hidden": 24, "dropout_output": 0.2, "dropout_x": 0.1,
      "dropout_hidden": 0.0, "dropout_embedding": 0.1, "dropout_words": 0.0, "ar": 0.0,
      "tar": 0.0, "init_range": 0.04},
    "training": {"optimizer": "adam", "learning_rate": 0.004, "weight_decay": 0.0, "clip": 0.25,
      "epochs": 4, "batch": 32, "evaluation_batch": 10, "bptt": 30, "bptt_spread": 4.0,
      "bptt_shortest": 6, "bptt_halve": 0.1, "decay": 0.8, "decay_after": 5,
      "average_after": null, "patience": null, "explode_above": 20.0}
  }
}
"""
"""As that version wrote it; by hand, so that it stays what it is."""


class Cut(Exception):  # noqa: N818
    """Ends a run from inside."""


def test_what_it_says_is_found_where_it_is_today(tmp_path: Path):
    (tmp_path / "run.json").write_text(RUN)
    info = RunFolder.open(tmp_path).info
    assert (info.id, info.status, info.seed, info.cell.name) == (
        "c6f1f6d2a5be3c64", "stopped", 3, "gru",
    )  # fmt: skip
    assert info.metric == PERPLEXITY
    assert info.recipe.task == LanguageSettings(
        data="ptb", folder="/text/ptb", bptt=30, bptt_spread=4, bptt_shortest=6, bptt_halve=0.1
    )
    assert (info.recipe.model.hidden, info.recipe.training.epochs) == (24, 4)
    assert (info.data.name, info.data.fingerprint) == ("ptb", "ed5d")


def test_a_run_is_gone_on_with(text_folder: Path, tmp_path: Path):
    whole = small_run(text_folder, tmp_path / "whole")
    train(whole.folder, whole.training, metrics_steps=2)
    run = small_run(text_folder, tmp_path / "run")
    left = iter(range(20, -1, -1))

    def cut(event: object) -> None:
        if next(left) == 0:
            raise Cut

    with pytest.raises(Cut):
        train(run.folder, run.training, watch=cut, checkpoint_steps=1, metrics_steps=2)
    before = write_before(run.folder.path / "run.json")
    assert before["format"] == "cellwright-run/1"
    assert "task" not in before["recipe"]
    assert RunFolder.open(run.folder.path).info == run.folder.info
    assert [found.info.recipe for found in list_runs(tmp_path).runs][1] == run.folder.info.recipe
    resume(run.folder.path, metrics_steps=2)
    assert outcome(RunFolder.open(run.folder.path)) == outcome(whole.folder)
    now = json.loads((run.folder.path / "run.json").read_text())
    assert now["format"] == "cellwright-run/2"


def test_a_checkpoint_has_what_it_had(text_folder: Path, tmp_path: Path):
    """Else one of an earlier version could not be gone on with."""
    run = small_run(text_folder, tmp_path / "run", "training.epochs=1")
    train(run.folder, run.training)
    state = load_state(run.folder.path / "last.safetensors")
    assert set(state) == {"run", "made_with", "position", "training"}  # the second may be missing
    assert set(state["training"]) == {
        "status", "curve", "step", "losses", "words", "seconds", "averaged_steps",
    }  # fmt: skip


def test_records_of_steps_with_their_earlier_names_do_not_matter(text_folder: Path, tmp_path: Path):
    run = small_run(text_folder, tmp_path / "run", "training.epochs=1")
    train(run.folder, run.training, metrics_steps=1)
    path = run.folder.path / "metrics.jsonl"
    before = path.read_text().replace('"size"', '"tokens"').replace("speed", "tokens_per_second")
    path.write_text(before)
    assert len(curve_of(run.folder)) == 1


def test_data_that_had_a_folder_of_its_own(tmp_path: Path):
    folder = write_corpus(tmp_path / "texts" / "ptb")
    recipe = small_recipe("task.data=ptb")
    run = fresh_run(cw.zoo["rnn"], recipe, data_folder=folder.parent, path=tmp_path / "run")
    path = run.folder.path
    before = write_before(path / "run.json")
    assert before["data"]["folder"] == str(folder.parent)
    assert reopen(path).task.describe() == before["data"]["description"]


@pytest.mark.parametrize("wrong", ["recipe", "data", "cell"])
def test_what_is_missing_is_told(tmp_path: Path, wrong: str):
    values = json.loads(RUN)
    del values[wrong]
    (tmp_path / "run.json").write_text(json.dumps(values))
    with pytest.raises(RunError, match=f"run.json is damaged, or of another version: {wrong}"):
        RunFolder.open(tmp_path)


def test_trainings_have_their_names_of_today():
    before = {"data": "ptb", "training": "darts-ptb-laptop", "search": {"model": {"hidden": 3}}}
    assert recipe_of_today(before) == {
        "training": "darts-ptb-training-laptop",
        "search": {},
        "model": {"hidden": 3},
        "task": {"kind": "language", "data": "ptb", "folder": None},
    }


def test_an_evaluation_is_called_as_it_is_called_today():
    recipe = json.loads(RUN)["recipe"]
    before = {
        "function": "cellwright.run.trials:train_trial",
        "arguments": {
            "recipe": recipe, "value": "best", "text": {"train": 9}, "text_fingerprint": "ed5d",
            "threads": 1, "checkpoints": "checkpoints/s", "longest": None,
        },
    }  # fmt: skip
    after = evaluation_of_today(before)
    assert after["function"] == "cellwright.trials.evaluator:train_trial"
    arguments = after["arguments"]
    assert (arguments["most"], arguments["fingerprint"]) == ({"train": 9}, "ed5d")
    assert set(arguments) == {
        "recipe", "value", "most", "fingerprint", "threads", "checkpoints", "longest",
    }  # fmt: skip
    # As a study would write it today, so that it can be gone on with.
    today = recipe_from_json(Recipe, arguments["recipe"]).model_dump(mode="json")
    assert today == arguments["recipe"]


def test_settings_that_came_later_are_as_they_were_without_them():
    recipe = json.loads(RUN)["recipe"]
    today = evaluation_of_today(
        {"function": "cellwright.run.trials:train_trial", "arguments": {"recipe": recipe}}
    )
    for later in ("init_range_embedding", "bias_start", "precision"):
        del today["arguments"]["recipe"]["model"][later]
    del today["arguments"]["recipe"]["training"]["anneal"]
    filled = evaluation_of_today(today)["arguments"]["recipe"]
    assert filled["model"]["init_range_embedding"] == 0.1
    assert filled["model"]["bias_start"] == "zero"
    assert filled["model"]["precision"] == "float32"
    assert filled["training"]["anneal"] == 1.0
    filled["model"]["init_range_embedding"] = "width"
    same = {**today, "arguments": {"recipe": filled}}
    assert evaluation_of_today(same) == same


def test_evaluations_of_others_stay_as_they_are():
    own = {"function": "my.module:score", "arguments": {"text": {"train": 9}, "recipe": "laptop"}}
    assert evaluation_of_today(own) == own
    by_name = {"function": "cellwright.run.trials:train_trial", "arguments": {"recipe": "ess-ptb"}}
    assert evaluation_of_today(by_name)["arguments"] == {"recipe": "ess-ptb-training"}
