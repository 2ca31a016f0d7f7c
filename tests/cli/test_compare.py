"""`cellwright compare` trains cells alike, shows how it goes, and says what came out."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from cellwright.cli.compare_progress import Progress, bars, status_line
from cellwright.compare.running import Event
from cellwright.tasks.metric import Metric
from cli.conftest import SHORT


def test_a_comparison_from_start_to_end(run, corpus: Path):
    arguments = ("compare", "gru", "--data", "text", *SHORT, "--seeds", "1", "-o", "c")
    done = run(*arguments)
    assert (done.code, done.err) == (0, "")
    assert "1 cell, 1 seed: 1 training; recipe laptop on text" in done.out
    assert re.search(r"^gru seed 0  valid +[\d.]+  test +[\d.]+ .* \(1 of 1\)$", done.out, re.M)
    assert "There is one seed only." in done.out
    assert "report: c/index.html" in done.out
    again = run(*arguments)
    assert "1 training, 1 of them done before" in again.out
    assert "seed 0  valid" not in again.out
    figures = re.compile(r"^gru +[\d,]+ +[\d.]+ +[\d.]+", re.M)
    assert figures.findall(done.out)[-1] == figures.findall(again.out)[-1]


def test_a_training_that_fails_is_named_and_tried_again(run, corpus: Path):
    arguments = ("compare", "gru", "--data", "text", *SHORT, "--seeds", "1", "-o", "c")
    done = run(*arguments, "--limit-seconds", "0.2", "--retries", "1")
    assert done.code == 1
    why = "ran for more than its 0.2 seconds"
    assert f"gru seed 0  failed: {why}  (to be tried again)" in done.out
    assert f"gru seed 0  failed: {why}  (1 of 1)" in done.out
    assert "error: 1 training failed\n" in done.err
    assert f"gru, seed 0: {why} (the last of 2 attempts)" in done.err
    assert "report: c/index.html" in done.out
    again = run(*arguments, "--executor", "in-process")
    assert (again.code, again.err) == (0, "")
    assert "1 cell, 1 seed: 1 training; recipe laptop on text" in again.out
    assert re.search(r"^gru seed 0  valid +[\d.]+  test +[\d.]+ .* \(1 of 1\)$", again.out, re.M)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "c"], "a CELL is missing, or --random SPACE"),
        (["gru", "gru", "-o", "c"], "gru and gru are the same cell"),
        (["gruu", "-o", "c"], "did you mean"),
        (["--random", "ess:x", "-o", "c"], "random cells are asked for as SPACE:N"),
        (["gru", "--set", "training.epoch=3", "-o", "c"], "did you mean 'training.epochs'"),
        (["gru", "--data", "nowhere", "-o", "c"], "nowhere"),
        (["gru", "--data", "text", "-o", "text"], "text has other files"),
        (["gru", "--seeds", "0", "-o", "c"], "--seeds"),
        (["gru", "--workers", "0", "-o", "c"], "--workers"),
        (["gru", "--threads", "0", "-o", "c"], "--threads"),
        (["gru", "--threads", "99999", "-o", "c"], "threads should be from 1 to "),
        (["gru", "--workers", "99999", "-o", "c"], "workers should be from 1 to "),
        (["gru", "--seeds", "99999", "-o", "c"], "--seeds"),
        (["gru", "--limit-gigabytes", "inf", "-o", "c"], "--limit-gigabytes"),
        (["gru", "--executor", "locl", "-o", "c"], "did you mean 'local'"),
        (["gru", "--address", "auto", "-o", "c"], "an address is for a Ray cluster"),
        (["gru", "--executor", "in-process", "--limit-seconds", "1", "-o", "c"], "has no limits"),
        (["gru", "--limit-gigabytes", "0", "-o", "c"], "--limit-gigabytes"),
        (["gru", "--retries", "-1", "-o", "c"], "--retries"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_made(
    run, corpus: Path, arguments: list[str], words: str
):
    done = run("compare", *arguments)
    assert done.code in (1, 2)
    assert words in done.err
    assert not Path("c").exists()


def test_the_time_left_is_shared_by_the_workers():
    progress = Progress(4, 10, 2, {("a", 0): 100.0})
    assert progress.left == pytest.approx(150.0)  # three more of 100 s, two at a time
    progress.add(Event("a", 1, "begun"))
    values = {"epoch": 6, "part": 0.5, "seconds": 110.0, "valid": 4.5, "best": 4.0}
    progress.add(Event("a", 1, "moved", values))
    assert progress.left == pytest.approx((90.0 + 2 * 100.0) / 2)
    assert progress.done == pytest.approx((1 + 0.55) / 4)
    assert progress.going[("a", 1)].best == 4.0
    progress.add(Event("a", 1, "again", {"message": "no"}))
    assert progress.done == pytest.approx(1 / 4)
    progress.add(Event("a", 1, "begun"))
    progress.add(Event("a", 1, "failed", {"message": "no"}))
    assert progress.done == pytest.approx(2 / 4)
    assert Progress(1, 1, 1, {}).left is None


def test_a_cluster_that_is_starting_has_no_workers_yet():
    progress = Progress(2, 10, 0, {("a", 0): 100.0})
    assert progress.left == pytest.approx(100.0)


def test_where_there_are_no_bars_a_line_says_how_far_trainings_are():
    f1 = Metric.model_validate({"name": "F1", "form": "percent"})
    progress = Progress(3, 2, 2, {})
    assert status_line(progress, f1) is None
    for label in ("a", "b"):
        progress.add(Event(label, 0, "begun"))
    values = {"epoch": 2, "part": 0.5, "seconds": 30.0, "valid": 0.2, "best": 0.2}
    progress.add(Event("a", 0, "moved", values))
    assert status_line(progress, f1) == (
        "a seed 0: epoch 2 of 2, 75%, valid 80.00; b seed 0: starting, 0%; 0:45 left in all"
    )


def test_bars_show_the_metric():
    f1 = Metric.model_validate({"name": "F1", "form": "percent"})
    progress = Progress(1, 10, 1, {})
    progress.add(Event("a", 0, "begun"))
    assert "starting" in drawn(progress, f1)
    values = {"epoch": 6, "part": 0.5, "seconds": 11.0, "valid": 0.2, "best": 0.0825}
    progress.add(Event("a", 0, "moved", values))
    assert "epoch 6 of 10 best 91.75" in drawn(progress, f1)


def drawn(progress: Progress, metric: Metric) -> str:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(bars(progress, metric))
    return " ".join(console.export_text().split())


# -- suites ----------------------------------------------------------------------------------------


@pytest.fixture
def suite(corpus: Path) -> Path:
    """Two tasks of words, one of which has no data."""
    path = Path("s.toml")
    task = '[[tasks]]\nlabel = "{0}"\nrecipe = "laptop"\ndata = "{0}"\n'
    path.write_text(f'title = "Words"\n{task.format("text")}{task.format("ptb")}')
    return path


def test_a_suite_from_start_to_end(run, suite: Path, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CELLWRIGHT_DATA", str(folder))
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(folder / "cache"))
    arguments = ("compare", "gru", "rnn", "--suite", "s.toml", *SHORT, "--seeds", "1",
                 "--executor", "in-process")  # fmt: skip
    done = run(*arguments)
    assert done.code == 0, done.err
    assert "ptb is missing: ptb is not on this machine" in done.err
    assert "task 1 of 1: text" in done.out
    assert re.search(r"^validation data\ncell +text +average +parameters +time$", done.out, re.M)
    rows = re.findall(r"^(gru|rnn) +([\d.]+) +([\d.]+) +[\d.]+k? +[\d.]+ s$", done.out, re.M)
    assert len(rows) == 4
    assert all(score == average for _, score, average in rows)
    best = rows[0][0]
    assert f"{best} has the lowest validation average, {rows[0][1]} over 1 task" in done.out
    assert "Averages are over 1 of the 2 tasks of Words" in done.out
    assert "report: suite/index.html" in done.out
    again = run(*arguments)
    assert "2 trainings, 2 of them done before" in again.out
    assert again.out.partition("validation data")[2] == done.out.partition("validation data")[2]
    narrow = run(*arguments, width=30)
    assert "not shown at this width:" in narrow.out


def test_a_training_of_a_suite_that_fails_is_named_with_its_task(run, suite: Path):
    suite.write_text(suite.read_text().rpartition("[[tasks]]")[0])
    done = run("compare", "gru", "--suite", "s.toml", *SHORT, "--seeds", "1", "-o", "c",
               "--limit-seconds", "0.1", "--retries", "0")  # fmt: skip
    assert done.code == 1
    assert "text/gru, seed 0: ran for more than its 0.1 seconds" in done.err
    assert "No cell has an average" in done.out
    assert "text: gru failed with seed 0" in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--suite", "glu"], "did you mean 'glue'"),
        (["--suite", "s.toml", "--recipe", "laptop"], "--recipe is for one task"),
        (["--suite", "s.toml", "--data", "text"], "--data is for one task"),
        (["--suite", "s.toml", "--search", "x"], "--search is for one task"),
        (["--suite", "s.toml", "-o", "text"], "text has other files, such as "),
        (["--suite", "s.toml", "--set", "training.epoch=1"], "text: the setting "),
    ],
)
def test_what_is_wrong_with_a_suite_is_said_at_once(
    run, suite: Path, arguments: list[str], words: str
):
    done = run("compare", "gru", *arguments)
    assert done.code in (1, 2)
    assert words in done.err
    assert not Path("suite").exists()
