"""What is shown while a training goes on is computed from its events."""

from __future__ import annotations

import math

import pytest

from cellwright.cli.train_progress import (
    WINDOW,
    Pace,
    bars,
    epoch_line,
    epoch_lines,
    status_line,
)
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.metric import Metric
from cellwright.training.results import EpochDone, EpochRecord, StepDone

F1 = Metric(name="F1", form="percent", items="sentences")


def step(number: int, *, epoch: int = 1, steps: int = 10, loss: float = 5.0, second: float = 0.5):
    """A step of 100 words that took half a second."""
    return StepDone(epoch, number, steps, 100, loss, 1e-3, 100 / second, number * second)


def record(epoch: int, valid: float, seconds: float = 6.0, averaged: bool = False) -> EpochRecord:
    return EpochRecord(epoch, 5.0, valid, 5.0, 1e-3, seconds, 10**8, averaged)


def test_speed_and_time_left():
    pace = Pace(epochs=3)
    for number in range(1, 5):
        pace.add_step(step(number))
    assert pace.speed == 200
    assert (pace.epoch_left, pace.run_left) == (3.0, 13.0)
    assert pace.done == pytest.approx(0.4 / 3)
    for number in range(5, 11):
        pace.add_step(step(number))
    pace.add_epoch(EpochDone(record(1, 5.0, seconds=7.0), True))  # measuring took two seconds
    pace.add_step(step(1, epoch=2))
    assert (pace.epoch_left, pace.run_left) == (6.5, 13.5)


def test_the_shown_loss_is_of_the_last_steps():
    pace = Pace(epochs=1)
    for number in range(1, WINDOW + 51):
        pace.add_step(step(number, steps=500, loss=9.0 if number <= 50 else 4.0))
    assert pace.loss == 4.0


def test_the_best_epoch_of_earlier_processes_counts():
    earlier = [record(1, 6.0), record(2, 5.5), record(3, math.nan), record(4, 1.0)]
    pace = Pace(epochs=9, earlier=earlier)
    pace.add_step(step(1, epoch=4))  # so epoch 4 comes again
    assert pace.best is earlier[1]
    pace.add_epoch(EpochDone(record(4, 5.2), True))
    pace.add_step(step(1, epoch=5))
    assert pace.best == record(4, 5.2)


def test_a_process_may_begin_with_the_end_of_an_epoch():
    pace = Pace(epochs=9, earlier=[record(1, 6.0)])
    pace.add_epoch(EpochDone(record(2, 5.0), True))
    pace.add_step(step(1, epoch=3))
    assert pace.best == record(2, 5.0)


def test_lines_of_epochs():
    lines = epoch_lines(PERPLEXITY, 200)
    event = EpochDone(record(12, math.log(200), averaged=True), True)
    assert epoch_line(lines, event, PERPLEXITY).split() == [
        "12", "148.4", "200.0", "148.4", "6.0", "s", "best,", "averaged", "weights"
    ]  # fmt: skip
    diverged = EpochDone(record(1, math.nan), False)
    assert epoch_line(lines, diverged, PERPLEXITY).split()[2] == "–"
    assert lines.heading() == [
        "epoch      train      valid       test        time   (perplexity, lower is better)"
    ]


def test_lines_of_epochs_fit_narrow_terminals():
    event = EpochDone(record(12, math.log(200)), True)
    assert epoch_lines(PERPLEXITY, 80).heading() == [
        "perplexity, lower is better",
        "epoch      train      valid       test        time",
    ]
    narrow = epoch_lines(PERPLEXITY, 40)
    assert narrow.heading() == [
        "perplexity, lower is better (not shown at this width: train, time)",
        "epoch      valid       test",
    ]
    assert epoch_line(narrow, event, PERPLEXITY) == "   12      200.0      148.4   best"


def test_a_long_epoch_says_how_far_it_is():
    pace = Pace(epochs=3)
    assert status_line(pace, PERPLEXITY) is None
    pace.add_step(step(4, loss=math.log(300)))
    assert status_line(pace, PERPLEXITY) == (
        "epoch 1 of 3: step 4 of 10, perplexity 300.0, 0:03 left of the epoch, 0:13 in all"
    )
    pace.add_step(step(10, loss=1.5))
    assert "epoch 1 of 3: measuring, loss " in str(status_line(pace, F1))


def test_of_a_metric_that_counts_right_answers_the_training_has_another_loss(capsys):
    from rich.console import Console

    done = EpochDone(record(1, 0.0825), True)
    lines = epoch_lines(F1, 200)
    assert epoch_line(lines, done, F1).split()[:4] == ["1", "5.0000", "91.75", "-400.00"]
    assert lines.heading()[0].endswith("(F1, higher is better; train is the loss)")
    pace = Pace(epochs=3)
    pace.add_epoch(done)
    pace.add_step(step(1, epoch=2, loss=1.25))
    Console(width=80).print(bars(pace, F1))
    shown = capsys.readouterr().out
    assert "200 sentences/s   loss 1.2500   best valid F1 91.75 (epoch 1)" in shown
