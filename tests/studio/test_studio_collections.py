"""Suites, sensitivity analyses and grids in the studio: it says what the commands have made."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import studio_server  # noqa: F401  (lets `studio_material` be found)
from studio_material import write_run

import cellwright as cw
from api.test_sensitivity import SEARCH, TRAINING
from api.test_suites import SUITE, TOY
from cellwright.base.locks import training_lock
from cellwright.base.threads import threads_for
from cellwright.grids.folder import open_grid
from cellwright.grids.recipes import load_grid_recipe, trials_of
from cellwright.grids.time_left import time_left
from cellwright.studio.watch import Watch
from runs.support import write_corpus


def row_of(watch: Watch, identity: str) -> dict[str, Any]:
    return next(row for row in watch.rows() if row["id"] == identity)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cells on two tasks, and a third task whose data is not there."""
    folder = tmp_path_factory.mktemp("suite")
    with pytest.MonkeyPatch.context() as patch, threads_for(1):
        patch.chdir(folder)
        patch.setenv("CELLWRIGHT_DATA", str(folder / "data"))
        patch.setenv("CELLWRIGHT_CACHE", str(folder / "cache"))
        Path("few.toml").write_text(TOY.format(48))
        Path("many.toml").write_text(TOY.format(64))
        Path("s.toml").write_text(SUITE)
        cw.compare_suite(
            ["gru", "rnn"], "s.toml", out="out", seeds=2, executor="in-process", progress=False
        )
    return folder


def test_a_suite_has_the_scores_and_averages_of_its_results(suite: Path):
    watch = Watch(str(suite))
    results = json.loads((suite / "out/results.json").read_text())
    detail, row = watch.detail("out"), row_of(watch, "out")
    assert detail["cells"] == [cell["label"] for cell in results["cells"]]
    tasks = {task["label"]: task for task in detail["tasks"]}
    assert list(tasks) == ["few", "ptb", "many"]
    for label in ("few", "many"):
        scores = [cell["tasks"][label]["valid"]["mean"] for cell in results["cells"]]
        assert [cell["value"] for cell in tasks[label]["cells"]] == scores
        assert [cell["shown"] for cell in tasks[label]["cells"]] == [f"{s:.2f}" for s in scores]
        assert {c["value"] for c in tasks[label]["cells"] if c["best"]} == {max(scores)}
    assert tasks["many"]["figures"] == "accuracy and cross_entropy"
    assert tasks["ptb"]["why"] == results["missing"]["ptb"]
    best = results["cells"][0]
    assert (row["cell"], row["value"]) == (best["label"], best["average"]["valid"]["mean"])
    assert (row["state"], row["done"], row["total"]) == ("finished", 2, 2)
    assert row["note"] == "1 without data"


def test_a_suite_that_goes_on_shows_how_far_its_tasks_are(suite: Path, tmp_path: Path):
    folder = Path(shutil.copytree(suite / "out", tmp_path / "here" / "out")).parent
    shutil.rmtree(folder / "out/many")
    shutil.rmtree(folder / "out/few/runs/rnn-seed1")
    watch = Watch(str(folder))
    detail, row = watch.detail("out"), row_of(watch, "out")
    assert (row["state"], row["done"], row["value"]) == ("open", 0, None)
    assert row["part"] < 0.5  # one of the two tasks has not begun
    assert detail["averages"] is None
    tasks = {task["label"]: task for task in detail["tasks"]}
    assert (tasks["many"]["state"], tasks["many"]["cells"]) == ("waiting", [])
    standings = watch.detail("out/few")["standings"]
    assert [(c["label"], c["shown"]) for c in tasks["few"]["cells"]] == [
        (one["label"], one["valid_shown"]) for one in standings
    ]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"cells": 3, "tasks": {}}', '{"cells": [{"label": 1}]}']
)
def test_results_that_are_damaged_do_not_hide_the_tasks(suite: Path, tmp_path: Path, text: str):
    folder = Path(shutil.copytree(suite / "out", tmp_path / "here" / "out")).parent
    (folder / "out/results.json").write_text(text)
    watch = Watch(str(folder))
    assert row_of(watch, "out")["done"] == 2
    assert watch.detail("out")["tasks"][0]["state"] == "finished"


def test_a_sensitivity_analysis_is_drawn_by_its_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    text = str(write_corpus(tmp_path / "text"))
    with threads_for(1):
        cw.sensitivity(
            "ess-laptop", {"nodes": [1]}, text, settings=SEARCH, training_settings=TRAINING,
            epochs=1, seeds=1, against=["lstm"], out="out", executor="in-process", progress=False,
        )  # fmt: skip
    watch = Watch(str(tmp_path))
    [axis] = watch.detail("out")["axes"]
    points = json.loads((tmp_path / "out/points.json").read_text())
    means = {each["counts"]["nodes"]: each["found"]["valid"]["mean"] for each in points["points"]}
    assert dict(zip(axis["values"], axis["found"], strict=True)) == means
    assert axis["values"] == sorted(means)
    assert [one["label"] for one in axis["against"]] == ["lstm"]
    assert axis["values"][axis["own"]] == points["points"][0]["counts"]["nodes"]
    assert row_of(watch, "out")["kind"] == "sensitivity"
    (tmp_path / "out/points.json").write_text("[]")
    assert Watch(str(tmp_path)).detail("out")["axes"] == []


def test_the_time_left_of_a_grid_is_what_its_command_says(tmp_path: Path):
    """Less what the present stage has taken since."""
    recipe, path = load_grid_recipe("grid-first"), tmp_path / "grid"
    open_grid(path, recipe)
    values = json.loads((path / "grid.json").read_text())
    values |= {"wall": {"lstm": 600.0, "random": 0.01}, "done": ["lstm", "random"]}
    (path / "grid.json").write_text(json.dumps(values))
    begun = time.time() - 100
    os.utime(path / "grid.json", (begun, begun))
    write_run(path / "trained/others/trial-1/runs/gru", cw.zoo["gru"], 2, 0, ended=False)
    trials = {name: trials_of(stage) for name, stage in recipe.stages.items()}
    said = time_left(recipe, values["wall"], trials, set(values["done"]))
    assert said is not None
    with training_lock(path / "trained/others/trial-1/runs/gru"):
        row = row_of(Watch(str(tmp_path)), "grid")
    assert row["state"] == "running"
    assert said - 100 - 60 < row["left"] <= said - 100  # a slow machine may take its time
    assert (row["done"], row["total"], row["seconds"]) == (2, 3, 600.01)
    assert row_of(Watch(str(tmp_path)), "grid")["left"] is None
