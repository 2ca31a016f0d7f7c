"""`cellwright compare` trains cells alike, shows how it goes, and says what came out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cellwright.cli.compare_progress import Progress
from cellwright.compare.running import Event
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
    progress.add(Event("a", 1, "begun", {}))
    values = {"epoch": 6, "step": 5, "steps": 10, "seconds": 110.0}
    progress.add(Event("a", 1, "step", values))
    assert progress.left == pytest.approx((90.0 + 2 * 100.0) / 2)
    assert progress.done == pytest.approx((1 + 0.55) / 4)
    progress.add(Event("a", 1, "epoch", {"epoch": 6, "seconds": 120.0, "valid": 4.0}))
    assert progress.going[("a", 1)].best == 4.0
    progress.add(Event("a", 1, "failed", {"message": "no"}))
    assert progress.done == pytest.approx(2 / 4)
    assert Progress(1, 1, 1, {}).left is None
