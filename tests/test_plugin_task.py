"""A task of a plug-in goes through everything: train, one-shot searches, study, compare, bench."""

from __future__ import annotations

import dataclasses
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cellwright as cw
import toy_task
from cellwright.base.errors import UserError
from cellwright.bench import load as load_benchmark
from cellwright.runs.folder import RunFolder
from cellwright.tasks.registry import TaskKind
from cellwright.tasks.task import Score
from cellwright.testing import TASK_CHECKS, TaskCase, check_task

KIND = "toy_task:toy_kind"
CASE = TaskCase(KIND, {"sentences": 24}, {"hidden": 4}, batch=8)

TRAINING = f"""
description = "Letters"
[task]
kind = "{KIND}"
sentences = 48
[training]
optimizer = "adam"
learning_rate = 0.02
batch = 8
evaluation_batch = 24
epochs = 2
average_after = "none"
"""

ONE_SHOT = f"""
training = "training.toml"
[task]
kind = "{KIND}"
sentences = 48
[model]
hidden = 4
[search]
kind = "KIND"
nodes = 3
batch = 8
evaluation_batch = 24
optimizer = "adam"
learning_rate = 0.02
EXTRA
"""

STUDY = f"""
training = "training.toml"
trials = 4
[task]
kind = "{KIND}"
[space]
kind = "enas"
nodes = 3
[method]
kind = "random"
epochs = 2
[text]
train = 24
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "training.toml").write_text(TRAINING)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def one_shot(folder: Path, kind: str, extra: str) -> Path:
    path = folder / f"{kind}.toml"
    path.write_text(ONE_SHOT.replace("KIND", kind).replace("EXTRA", extra))
    return path


@pytest.mark.parametrize("check", TASK_CHECKS, ids=lambda check: check.__name__)
def test_it_holds_what_a_task_has_to_hold(check):
    check(CASE)


def test_training_keeps_the_metric_and_the_figures(folder: Path):
    run = cw.train("gru", recipe="training.toml", name="run", progress=False)
    assert run.status == "ok"
    assert run.metric == toy_task.ACCURACY
    assert 0 <= run.valid <= 100
    assert run.curve[0].figures["valid"]["cross_entropy"] > 0
    again = cw.load("runs/run")
    assert again.curve == run.curve
    assert cw.evaluate(again).value == run.test
    assert "accuracy" in repr(again)
    assert RunFolder.open("runs/run").info.recipe.task.kind == KIND


def test_a_training_learns(folder: Path):
    more = {"training.epochs": 12, "task.sentences": 192}
    run = cw.train("lstm", recipe="training.toml", settings=more, name="run", progress=False)
    assert run.valid > 75


@pytest.mark.parametrize(
    ("kind", "extra"),
    [
        ("darts", "epochs = 2"),
        ("i-darts", "epochs = 2"),
        ("ess", "m = 2\nrounds = 1\nedges = 'highway'\nsoftmax = 'node'"),
        ("enas", "epochs = 1\ncontroller_steps = 3\ncandidates = 3\nfinalists = 2\nscreening = 1"),
        ("random-sharing", "epochs = 1\ncandidates = 3\nfinalists = 2"),
    ],
)
def test_one_shot_searches_find_a_cell(folder: Path, kind: str, extra: str):
    found = cw.search(one_shot(folder, kind, extra), name=kind, progress=False)
    assert found.status == "ok"
    assert found.metric.higher_is_better
    assert not found.cell.is_supernet
    assert 0 <= found.rows()[0]["while searching"] <= 100


def test_a_search_of_several_seeds_chooses_by_accuracy(folder: Path):
    recipe = one_shot(folder, "darts", "epochs = 1")
    found = cw.search(recipe, seeds=2, settings={"selection_epochs": 1}, name="two", progress=False)
    first, second = found.candidates
    assert first.retrained <= second.retrained
    values = [row["retrained"] for row in found.rows()]
    assert values == sorted(values, reverse=True)


def test_a_study_takes_its_best_trial_by_accuracy(folder: Path):
    found = cw.search("study.toml", workers=1, executor="in-process", progress=False)
    values = [row["valid"] for row in found.rows()]
    assert len(values) == 4
    assert found.metric.value(found.ledger.value) == max(values)
    assert found.curve == sorted(found.curve)


def test_cells_are_compared_by_accuracy(folder: Path):
    settings = {"training.epochs": 1}
    table = cw.compare(
        ["gru", "rnn"], recipe="training.toml", settings=settings, seeds=2,
        executor="in-process",
        progress=False,
    )  # fmt: skip
    means = [row["valid"] for row in table.rows()]
    assert means == sorted(means, reverse=True)
    assert "accuracy" in table.title
    page = (folder / "comparison" / "index.html").read_text()
    assert "accuracy" in page
    assert "erplexity" not in page


def test_a_benchmark_of_it_says_what_was_measured(folder: Path):
    command = "bench build -o toy.bench --recipe training.toml --cells 3 --seeds 1 --epochs 1"
    space = "--workers 1 --space enas --space-set nodes=2 --no-baselines"
    words = [sys.executable, "-m", "cellwright", *command.split(), *space.split()]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    benchmark = load_benchmark("toy.bench")
    assert benchmark.metric == toy_task.ACCURACY
    assert benchmark.kind == KIND
    assert len(benchmark) == 3


def test_a_plug_in_that_is_not_there_is_named(folder: Path):
    (folder / "lost.toml").write_text(TRAINING.replace("toy_task", "no_such_module"))
    with pytest.raises(UserError, match="no_such_module"):
        cw.train("gru", recipe="lost.toml", progress=False)


# -- the suite finds broken tasks ----------------------------------------------------------------


def broken(**changes) -> TaskCase:
    """The toy task with some of its methods replaced."""

    class Broken(toy_task.ToyTask):
        def limited(self, most):
            return Broken(super().limited(most)._parts)

        def halves(self):
            return tuple(Broken(half._parts) for half in super().halves())

    for name, method in changes.items():
        setattr(Broken, name, method)

    def opened(settings, progress):
        return Broken(toy_task._open(settings, progress)._parts)

    kind = dataclasses.replace(toy_task.toy_kind(), open=opened)
    assert isinstance(kind, TaskKind)
    return dataclasses.replace(CASE, kind=kind)


def test_a_loss_that_is_nan_is_found():
    case = broken(measure=lambda self, model, batches, theta=None: Score(math.nan))
    with pytest.raises(AssertionError, match="the loss of an untrained model is nan"):
        check_task(case)


def test_batches_that_differ_for_the_same_seed_are_found():
    calls = []

    def batches(self, part, size, seed, epoch):
        calls.append(seed)
        return toy_task.ToyTask.batches(self, part, size, len(calls), epoch)

    with pytest.raises(AssertionError, match="the same seed and epoch gave other batches"):
        check_task(broken(batches=batches))


def test_a_model_that_copies_its_weights_is_found(monkeypatch: pytest.MonkeyPatch):
    import copy

    real = toy_task.ToyModel.around
    monkeypatch.setattr(
        toy_task.ToyModel, "around", lambda self, cell, bank: copy.deepcopy(real(self, cell, bank))
    )
    with pytest.raises(AssertionError, match="around copies weights"):
        check_task(CASE)


def test_a_model_that_forgets_theta_is_found(monkeypatch: pytest.MonkeyPatch):
    real = toy_task.ToyModel.loss

    def loss(self, batch, carried, *, theta=None):
        fixed = theta and {name: value.detach() for name, value in theta.items()}
        return real(self, batch, carried, theta=fixed)

    monkeypatch.setattr(toy_task.ToyModel, "loss", loss)
    with pytest.raises(AssertionError, match="θ has no gradient"):
        check_task(CASE)
