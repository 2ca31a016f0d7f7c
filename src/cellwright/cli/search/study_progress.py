"""What a study shows while it goes on: a live table on a terminal, elsewhere lines of trials."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from cellwright.cli.bars import Bar, Bars
from cellwright.cli.figures import clock, duration
from cellwright.cli.output import stdout
from cellwright.cli.studies.tables import NONE, best_table, value_of
from cellwright.cli.ticker import ticking

if TYPE_CHECKING:
    from cellwright.tasks.metric import Metric
    from cellwright.trials.store import Overview, TrialRecord
    from cellwright.trials.study import AttemptFailed, Budget, Event, TrialFinished
    from cellwright.trials.study.events import OfTrial

    Look = Callable[[], tuple[Overview, list[TrialRecord]]]

SHOWN = 8
"""How many of the best trials the table has."""

LOOK_SECONDS = 10.0
"""How often the store is asked what others have done, at most."""

_SLOW = 50
"""And that it takes no more than one part in so many of the time."""


class Pace:
    """How a study stands, from what the store says and the events since.

    Args:
        look: asks the store.
        target: how many trials there shall be.
        now: a clock that does not jump.
        budget: what may end it earlier.
    """

    def __init__(
        self,
        look: Look,
        target: int,
        now: Callable[[], float] = time.monotonic,
        budget: Budget | None = None,
    ) -> None:
        self._ask, self._now, self.target, self._budget = look, now, target, budget
        self._lock = threading.Lock()
        self.running: dict[int, float] = {}
        self._begun, self._here = now(), 0
        self._look()

    def _look(self) -> None:
        begun = self._now()
        found, best = self._ask()  # without the lock: it may take long, and say that it does
        took = self._now() - begun
        with self._lock:
            self.best = best
            self.ended, self.statuses = found.ended, dict(found.statuses)
            self.failed = found.states["failed"]
            self._due = self._now() + max(LOOK_SECONDS, _SLOW * took)

    def add(self, event: OfTrial) -> None:
        """Take in what happened to a trial of this driver."""
        with self._lock:
            due = self._count(event)
        if due:
            self._look()

    def _count(self, event: OfTrial) -> bool:
        """Count a trial in; whether it is time to look instead."""
        from cellwright.trials.study import TrialFinished, TrialStarted

        if isinstance(event, TrialStarted):
            self.running[event.number] = self._now()
            return False
        self.running.pop(event.number, None)
        if not isinstance(event, TrialFinished) and event.again:
            return False
        self._here += 1
        better = isinstance(event, TrialFinished) and self._is_better(event)
        if better or self._now() >= self._due:
            return True
        self.ended += 1
        if isinstance(event, TrialFinished):
            status = str(event.outcome["status"])
            self.statuses[status] = self.statuses.get(status, 0) + 1
        else:
            self.failed += 1
        return False

    def _is_better(self, event: TrialFinished) -> bool:
        """Whether the trial belongs into the table."""
        value = event.outcome["value"] if event.outcome["status"] == "ok" else None
        if value is None:
            return False
        last = self.best[-1].value if len(self.best) >= SHOWN else None
        return last is None or value < last

    def since(self, number: int) -> float:
        """How many seconds a trial has been running."""
        return self._now() - self.running[number]

    @property
    def diverged(self) -> int:
        """Trials that ended without a value, by themselves."""
        return sum(n for status, n in self.statuses.items() if status not in ("ok", "failed"))

    @property
    def per_hour(self) -> float | None:
        """Trials of this driver, since it began."""
        elapsed = self._now() - self._begun
        return self._here / elapsed * 3600 if self._here and elapsed > 0 else None

    @property
    def left(self) -> float | None:
        """Seconds until no more trials are begun, or all have ended, at this pace."""
        if self._budget is not None and self._budget.seconds is not None:
            return max(0.0, self._budget.seconds - self._budget.elapsed)
        if self._budget is not None and self._budget.epochs is not None:
            return None
        rate = self.per_hour
        return None if rate is None else 3600 * max(0, self.target - self.ended) / rate

    @property
    def far(self) -> str:
        """How many trials have ended, and of how many."""
        if self._budget is None or (self._budget.seconds, self._budget.epochs) == (None, None):
            return f"{self.ended:,} of {self.target:,}"
        return f"{self.ended:,}"

    @property
    def share(self) -> float:
        """How much of the study is done, from 0 to 1."""
        if self._budget is not None and self._budget.seconds is not None:
            return min(1.0, self._budget.elapsed / max(self._budget.seconds, 1e-9))
        return min(1.0, self.ended / self.target)

    def lock(self) -> threading.Lock:
        """To be held while several of these are read, for those who draw from another thread."""
        return self._lock


@contextmanager
def shown(
    look: Look, target: int, metric: Metric, budget: Budget | None = None
) -> Iterator[Callable[[Event], None]]:
    """Show a study on standard output; what is yielded takes its events."""
    from rich.live import Live

    from cellwright.trials.study import AttemptFailed, StoreBack, StoreLost, TrialFinished

    console = stdout()
    pace = Pace(look, target, budget=budget)

    def status() -> str | None:
        with pace.lock():
            return status_line(pace, metric)

    live = Live(
        console=console,
        get_renderable=lambda: drawn(pace, metric),
        refresh_per_second=2,
        transient=True,
    )

    with (
        live if console.is_terminal else nullcontext(),
        ticking(console, status) as ticker,
    ):

        def watch(event: Event) -> None:
            # Comes from within `pace.add` too, which asks the store.
            if isinstance(event, StoreLost | StoreBack):
                ticker.print(event.message, "yellow")
                return
            pace.add(event)
            if isinstance(event, AttemptFailed):
                ticker.print(failure_line(event), "yellow")
            elif isinstance(event, TrialFinished) and not console.is_terminal:
                ticker.print(trial_line(event, pace, metric))

        yield watch


def status_line(pace: Pace, metric: Metric) -> str | None:
    """How the study stands while its trials take long, where there is no table."""
    going = [f"trial {n} for {clock(pace.since(n))}" for n in sorted(pace.running)[:4]]
    more = f" and {len(pace.running) - 4} more" if len(pace.running) > 4 else ""
    if not going:
        return None
    best = f", best {value_of(pace.best[0].value, metric)}" if pace.best else ""
    return (
        f"{pace.far} trials have ended{best}; running: "
        f"{', '.join(going)}{more}; {clock(pace.left)} left"
    )


def trial_line(event: TrialFinished, pace: Pace, metric: Metric) -> str:
    """A trial that ended, and how the study stands."""
    outcome = event.outcome
    ok = outcome["status"] == "ok"
    what = f"{metric.name} {value_of(outcome['value'], metric)}" if ok else outcome["status"]
    line = f"trial {event.number:<5} {what:<22} {duration(event.seconds):>12}"
    best = pace.best[0] if pace.best else None
    if best is not None:
        line += f"   best {value_of(best.value, metric)} (trial {best.number})"
    return f"{line}   {pace.far}, {clock(pace.left)} left"


def failure_line(event: AttemptFailed) -> str:
    """An attempt that came to nothing."""
    first = event.message.splitlines()[0] if event.message else event.ending
    behind = "it is tried again" if event.again else "it has failed"
    return f"trial {event.number}, attempt {event.attempt}: {event.ending}: {first}; {behind}"


def drawn(pace: Pace, metric: Metric) -> RenderableType:
    """The best trials, how far the study is, and how fast."""
    with pace.lock():
        best, running = list(pace.best), sorted(pace.running)
        failed, diverged = pace.failed, pace.diverged
        rate, left = pace.per_hour, pace.left
        far, share = pace.far, pace.share
    grid = Bars([Bar(f"{far} trials", share, left)])
    numbers = ", ".join(map(str, running[:8])) + (" …" if len(running) > 8 else "")
    facts = Text.assemble(
        (NONE if rate is None else f"{rate:,.0f}", "bold"),
        " trials an hour   ",
        (f"{diverged:,}", "bold"),
        " diverged   ",
        (f"{failed:,}", "bold red" if failed else "bold"),
        " failed   running: ",
        (numbers or "none", "bold"),
    )
    table = best_table(best, metric) if best else Text("no trial has a value yet", style="dim")
    return Group(table, Text(), grid, facts)
