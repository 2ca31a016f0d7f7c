"""Where there are no bars, long work says from time to time how far it is; a clock decides when."""

from __future__ import annotations

import io
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from cellwright.bench.building.progress import BuildProgress
from cellwright.cli import ticker as module
from cellwright.cli import work_bar as bars
from cellwright.cli.bench import build_progress
from cellwright.cli.search import progress as one_shot
from cellwright.cli.search.study_progress import Pace, status_line
from cellwright.cli.ticker import QUIET_SECONDS, Ticker, ticking
from cellwright.cli.work_bar import work_bar
from cellwright.search.one_shot.epochs import most_epochs
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.training.results import StepDone
from cellwright.trials.study import TrialFinished, TrialStarted


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_a_line_comes_after_half_a_minute_of_silence():
    stream, clock = io.StringIO(), Clock()
    said: list[str | None] = [None, "10%", "20%"]
    ticker = Ticker(Console(file=stream, width=80), lambda: said.pop(0), clock)
    for clock.time in (1.0, QUIET_SECONDS - 0.1):
        ticker.tick()
    assert len(said) == 3  # it was not even asked
    clock.time = QUIET_SECONDS
    ticker.tick()  # and has nothing to say yet
    ticker.tick()
    assert stream.getvalue() == "10%\n"
    clock.time += QUIET_SECONDS / 2
    ticker.print("an epoch has ended")
    clock.time += QUIET_SECONDS / 2
    ticker.tick()  # the epoch's line was not long ago
    clock.time += QUIET_SECONDS / 2
    ticker.tick()
    assert stream.getvalue() == "10%\nan epoch has ended\n20%\n"


def test_it_looks_at_the_clock_by_itself_but_not_on_a_terminal(monkeypatch):
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.001)
    from threading import Event

    asked, never = Event(), Event()

    def line(event: Event) -> str | None:
        event.set()
        return None

    with ticking(Console(file=io.StringIO()), lambda: line(asked)):
        assert asked.wait(60)
    with ticking(Console(file=io.StringIO(), force_terminal=True), lambda: line(never)):
        pass
    assert not never.is_set()


def test_counted_work_has_lines(monkeypatch, capsys):
    clock = Clock()
    monkeypatch.setattr(bars.time, "monotonic", clock)
    with work_bar("searches") as tell:
        tell("searches", 1, 8)
        clock.time = 40.0
        tell("searches", 2, 8)
        clock.time = 41.0
        tell("searches", 3, 8)
    assert capsys.readouterr().err == "searches: 2 of 8, 25%, 2:00 left\n"


def test_a_long_epoch_of_a_search():
    settings = load_search_recipe("ess-laptop").search
    recent: deque[Any] = deque()
    assert one_shot.status_line(settings, PERPLEXITY, recent) is None
    recent.append(StepDone(2, 5, 20, 100, 5.0, 1.0, 50.0, 10.0))  # two seconds a step
    assert one_shot.status_line(settings, PERPLEXITY, recent) == (
        f"epoch 2 of {most_epochs(settings)} at most: step 5 of 20, perplexity 148.4, "
        "0:30 left of the epoch, 5:10 in all"
    )


def test_long_trials_of_a_study():
    clock = Clock()
    stands = SimpleNamespace(ended=3, statuses={}, states={"failed": 0})
    pace = Pace(lambda: (stands, []), 9, clock)  # type: ignore[arg-type, return-value]
    assert status_line(pace, PERPLEXITY) is None
    pace.add(TrialStarted(7, "a", 2, 1))
    clock.time = 750.0
    assert status_line(pace, PERPLEXITY) == (
        "3 of 9 trials have ended; running: trial 7 for 12:30; –:–– left"
    )


def test_long_trainings_of_a_build(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(build_progress.time, "monotonic", clock)
    going: dict[int, tuple[str, float]] = {}
    now = BuildProgress(2, 6, TrialStarted(4, "a", 2, 1), "nbnlp-gru", 1, 300.0)
    build_progress._follow(going, now)
    clock.time = 65.0
    assert build_progress.status_line(now, going) == (
        "2 of 6 trainings have ended; running: nbnlp-gru, seed 1 for 1:05; 5:00 left"
    )
    ended = TrialFinished(4, "a", 2, 1, {"status": "ok"}, 65.0)
    build_progress._follow(going, BuildProgress(3, 6, ended, "nbnlp-gru", 1, 200.0))
    assert build_progress.status_line(now, going) is None


@pytest.mark.parametrize(
    ("done", "total", "said"),
    [(0, 0, "reading"), (5, 0, "reading: 5"), (0, 4, "reading: 0 of 4, 0%, –:–– left")],
)
def test_what_is_not_known_is_not_said(done: int, total: int, said: str):
    assert bars.described("reading", done, total, 10.0, False) == said
