"""`cellwright bench build`: a benchmark of one's own, killed and gone on with."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from cellwright.bench import load
from cellwright.bench.synthetic import synthetic
from cellwright.cell.zoo import zoo
from runs.support import SETTINGS

SMALL = [word for setting in SETTINGS for word in ("--set", setting)]
BUILD = ["bench", "build", "--data", "text", "--recipe", "laptop", *SMALL, "--epochs", "2"]
ON_TEXT = ["--executor", "in-process", "--data", "text", "--set", "training.evaluation_batch=4"]
LOSSES = ("train", "valid", "test")


@pytest.fixture
def build(run, corpus):
    def build(*arguments: str):
        return run(*BUILD, "--executor", "in-process", *arguments)

    return build


def test_a_benchmark_of_ones_own(build, run):
    done = build("--cells", "2", "--seeds", "2")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == (
        f"2 cells × 2 seeds × 2 epochs on {Path('text').absolute()}: recipe laptop, 1 worker"
    )
    assert done.out.endswith("text.bench: 2 architectures, 4 runs, 0 of them diverged\n")
    found = load("text.bench")
    assert (found.title, found.corpus) == ("text", "text")
    assert found.names == ("nbnlp-rnn", "nbnlp-lstm")
    assert run("bench", "top", "text.bench").code == 0
    # Once more: everything is there already, and nothing is trained.
    before = Path("text.bench").read_bytes()
    again = build("--cells", "2", "--seeds", "2")
    assert "4 of 4 trainings are there already" in again.out
    assert Path("text.bench").read_bytes() == before


def test_cells_like_those_of_another_benchmark(build):
    from cellwright.bench import save

    save(synthetic(12, epochs=2), "other.bench")
    done = build("--architectures", "other.bench", "--cells", "2", "--seeds", "1",
                 "--no-baselines", "-o", "second.bench")  # fmt: skip
    assert done.code == 0, done.err
    assert set(load("second.bench").graphs) <= set(load("other.bench").graphs)
    few = build("--architectures", "other.bench", "--cells", "99", "-o", "third.bench")
    assert few.code == 1
    assert "so 99 cannot be chosen" in few.err


def test_cells_of_a_file_and_how_their_word_vectors_agree_with_people(build):
    cells = [zoo["gru"], zoo["mgu"], zoo["gru"].renamed("again")]
    Path("cells.json").write_text(f"[{','.join(cell.to_json() for cell in cells)}]")
    Path("pairs.tsv").write_text("w0\tw1\t5\nw2\tw3\t1\nw4\tw5\t3\nw6\tw7\t9\n")
    done = build("--architectures", "cells.json", "--seeds", "1", "-o", "given.bench",
                 "--set", f"task.similarity=['{Path('pairs.tsv').absolute()}']")  # fmt: skip
    assert done.code == 0, done.err
    found = load("given.bench")
    assert found.names == ("gru", "mgu")
    assert list(found.scores) == ["pairs"]
    assert np.isfinite(found.scores["pairs"]).all()


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--space", "enass"], 1, "did you mean 'enas'"),
        (["--space-set", "nodes"], 2, "KEY=VALUE"),
        (["--space-set", "nodes=x"], 1, "nodes must be a whole number"),
        (["--space-set", "node=3"], 1, "has no setting 'node'"),
        (["--executor", "rays"], 1, "did you mean 'ray'"),
        (["--workers", "2"], 1, "one trial at a time"),
        (["--space-set", "name=x"], 1, "has no setting 'name'"),
        (["--threads", "99999"], 1, "threads should be from 1 to "),
        (["--cells", "0"], 2, "--cells"),
        (["--recipe", "labtop"], 1, "did you mean 'laptop'"),
        (["--data", "nowhere"], 1, "unknown corpus 'nowhere'"),
        (["--like", "no.bench"], 1, "no.bench"),
        (["--architectures", "no.json"], 1, "no.json"),
        (["--architectures", "text/train.txt"], 1, "no format is recognised"),
        (["--architectures", "text/train.txt", "--space-set", "nodes=3"], 2, "--space-set"),
        (["--set", "task.similarity=['wordsim']"], 1, "did you mean 'wordsim353'"),
        (["-o", "no/x.bench"], 1, "there is no folder no"),
    ],
)
def test_what_cannot_be_is_told_at_once(build, arguments: list[str], code: int, told: str):
    done = build("--cells", "2", *arguments)
    assert done.code == code, done.out
    assert told in done.err
    assert not list(Path().glob("*.bench*"))


def test_a_file_of_others_is_not_written_over(build):
    Path("text.bench").write_text("mine")
    done = build("--cells", "1")
    assert done.code == 1
    assert "text.bench is there already" in done.err
    assert not Path("text.bench.db").exists()
    assert Path("text.bench").read_text() == "mine"


def test_other_settings_are_told(build):
    assert build("--cells", "1", "--seeds", "1").code == 0
    done = build("--cells", "1", "--seeds", "2")
    assert done.code == 1
    assert "was begun with search.settings.repeats = 1, not 2" in done.err


def test_killed_and_gone_on_with_it_is_the_same(build):
    choice = ["--cells", "2", "--seeds", "2"]
    command = [sys.executable, "-m", "cellwright", *BUILD, *choice, "-o", "killed.bench"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if line.startswith("1 of 4"))
        process.kill()
    assert not Path("killed.bench").exists()
    done = build(*choice, "-o", "killed.bench")
    assert done.code == 0, done.err
    assert "of 4 trainings are there already" in done.out
    assert build(*choice, "-o", "whole.bench").code == 0
    killed, whole = load("killed.bench"), load("whole.bench")
    assert killed.names == whole.names
    for name in LOSSES:
        assert np.array_equal(getattr(killed, name), getattr(whole, name))


def test_stopped_by_hand_it_says_how_to_go_on(build, monkeypatch):
    @contextmanager
    def pressing(metric):
        yield lambda now: os.kill(os.getpid(), signal.SIGINT) if now.done == 1 else None

    with monkeypatch.context() as patch:
        patch.setattr("cellwright.cli.bench.build.shown", pressing)
        done = build("--cells", "2", "--seeds", "1")
    assert done.code == 130
    assert "stopped; what has ended is kept in text.bench.db, and the same command goes" in done.err
    assert not Path("text.bench").exists()
    done = build("--cells", "2", "--seeds", "1")
    assert done.code == 0
    assert "1 of 2 trainings are there already" in done.out


def test_the_help_teaches_by_examples_that_run(run, corpus):
    """On a text of a few hundred words, where each takes a moment."""
    text = run("bench", "build", "--help", width=80).out
    assert max(map(len, text.splitlines())) <= 80
    lines = [line.strip()[2:] for line in run("bench", "build", "--help").out.splitlines()
             if line.strip().startswith("$ ")]  # fmt: skip
    assert len(lines) >= 3
    for line in lines:
        arguments = shlex.split(line)[1:]
        own = [*ON_TEXT] if arguments[1] == "build" else []
        outcome = run(*arguments, *own)
        assert outcome.code == 0, f"{line}\n{outcome.out}{outcome.err}"
