"""`cellwright tune` and `cellwright grid`: what they print, how they stop, and what they refuse."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from cellwright.cli.search import study_progress
from cellwright.trials.study import TrialFinished
from runs.support import SETTINGS

pytest.importorskip("optuna")


@pytest.fixture
def small(corpus: Path, folder: Path) -> list[str]:
    """A recipe for tuning that takes a moment, as arguments."""
    child = "\n".join(SETTINGS)
    (folder / "small.toml").write_text(f'extends = "laptop"\ntask.data = "text"\n{child}\n')
    return [
        "tune-laptop", "--executor", "in-process", "--set", "training=small.toml",
        "--set", "tune.model.hidden=[4, 6]", "--set", "tune.training.batch=[4]",
        "--set", "method.epochs=1", "--set", "method.startup=2",
    ]  # fmt: skip


def test_what_tuning_prints(run, small):
    found = run("tune", *small, "--trials", "5", "--name", "first", "--baseline")
    assert found.code == 0, found.err
    assert "first: tpe over settings on text, 5 trials of up to 1 epoch, seed 0" in found.out
    assert "training.learning_rate" in found.out
    assert "how much of the differences between trials each setting explains" in found.out
    assert "random search at the same cost" in found.out
    assert "settings  studies/first/best.toml" in found.out
    [command] = [line for line in found.out.splitlines() if line.startswith("next")]
    words = command.split()[1:]
    assert words[:3] == ["cellwright", "train", "studies/first/best.json"]
    trained = run(*words[1:], "--name", "again")
    assert trained.code == 0, trained.err
    again = run("tune", *small, "--trials", "5", "--name", "first")
    assert "going on: 5 trials" in again.out


def test_cells_are_named_behind_the_recipe(run, small):
    found = run("tune", small[0], "gru", "rnn", *small[1:], "--trials", "3", "--name", "first")
    assert found.code == 0, found.err
    rows = Path("studies/first/trials.csv").read_text().splitlines()
    assert {row.split(",")[8] for row in rows[1:]} <= {"gru", "rnn"}


def test_ctrl_c_loses_nothing(run, small, monkeypatch):
    real = study_progress.Pace.add

    def stop_after_trial_1(self, event):
        real(self, event)
        if isinstance(event, TrialFinished) and event.number == 1:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(study_progress.Pace, "add", stop_after_trial_1)
        stopped = run("tune", *small, "--trials", "4", "--name", "first")
    assert stopped.code == 130
    assert "go on: the same command again" in stopped.err
    found = run("tune", *small, "--trials", "4", "--name", "first")
    assert found.code == 0
    assert "going on: 2 trials" in found.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tune"], "a RECIPE is missing"),
        (["tune", "tune-lptop"], "did you mean 'tune-laptop'?"),
        (["tune", "tune-laptop", "lstmm"], "there is no cell 'lstmm'; did you mean 'lstm'?"),
        (["tune", "tune-laptop", "--set", "tune.model.hiden=[3]"], "did you mean 'model.hidden'?"),
        (["tune", "tune-laptop", "--data", "no/such"], "no/such"),
        (["grid"], "a RECIPE is missing"),
        (["grid", "grid-frist"], "did you mean 'grid-first'?"),
        (["grid", "grid-first", "--set", "stages.lstm.trails=3"], "did you mean 'trials'?"),
        (["compare", "gru", "--tune", "2"], "a recipe for tuning"),
        (["compare", "gru", "--tune", "2", "--recipe", "laptop"], "is a recipe for a training"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(run, folder, arguments, says):
    found = run(*arguments)
    assert found.code != 0
    assert says in found.err
    assert "Traceback" not in found.err
    assert not Path("studies.db").exists() or not Path("studies").exists()


def test_the_recipes_are_listed(run):
    assert "tune-blm-sick-r" in run("tune", "--list-recipes").out
    assert "enas-pairs-laptop" in run("grid", "--list-recipes").out


def test_a_grid_says_what_came_out(run, small, folder):
    (folder / "tune.toml").write_text(
        'training = "small.toml"\ntrials = 2\nmethod.epochs = 1\nmethod.startup = 1\n'
        "[tune.model]\nhidden = [4, 6]\n"
    )
    (folder / "mine.toml").write_text(
        'seeds = 2\n[stages.a]\nkind = "tune"\nrecipe = "tune.toml"\ncells = ["gru"]\n'
        'row = {cell = "GRU"}\ncolumn = "text"\n'
    )
    found = run("grid", "mine.toml", "--executor", "in-process")
    assert found.code == 0, found.err
    assert "stage 1 of 1, a: tune" in found.out
    assert "text valid" in found.out
    assert "report: grids/mine/index.html" in found.out
    other = run("grid", "mine.toml", "--executor", "in-process", "--set", "stages.a.seed=3")
    assert other.code == 1
    assert "the stage a was begun with another seed" in other.err
