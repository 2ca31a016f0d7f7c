"""What a comparison shows while it trains: a line for each training that ends, and bars on a
terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import RenderableType

from cellwright.base.amounts import clock, duration
from cellwright.cli.bars import Bar, Bars
from cellwright.cli.output import stdout
from cellwright.cli.ticker import ticking

if TYPE_CHECKING:
    from cellwright.compare.plan import Plan
    from cellwright.compare.running import Event
    from cellwright.tasks.metric import Metric

    Watch = Callable[[Event | None], None]

REFRESH_SECONDS = 0.2
"""The time between two drawings of the bars."""

Key = tuple[str, int]


@dataclass
class Going:
    """A training that goes on."""

    done: float = 0.0
    """The part of its steps."""
    seconds: float = 0.0
    """Of training, in earlier processes too."""
    epoch: int = 0
    ended: int = 0
    """How many epochs have ended."""
    valid: float | None = None
    """The loss of the last of them."""
    best: float | None = None

    @property
    def whole(self) -> float | None:
        """How many seconds it takes in all, as far as one can tell."""
        return self.seconds / self.done if self.done > 0 else None


class Progress:
    """How far a comparison is.

    Args:
        total: how many trainings it has.
        epochs: how many each has.
        workers: how many go on at once; of a cluster that is starting, none yet.
        ended: how long those took that ended before.
    """

    def __init__(self, total: int, epochs: int, workers: int, ended: dict[Key, float]) -> None:
        self.total, self.epochs, self.workers = total, epochs, workers
        self.ended = dict(ended)
        self.failed: set[Key] = set()
        self.going: dict[Key, Going] = {}

    def add(self, event: Event) -> None:
        """Take in what happened."""
        key, values = (event.label, event.seed), event.values
        if event.kind == "begun":
            self.going[key] = Going()
            self.workers = max(self.workers, len(self.going))
        elif event.kind == "moved":
            here = self.going[key]
            here.epoch, here.seconds = values["epoch"], values["seconds"]
            here.ended = here.epoch if values["part"] == 1 else here.epoch - 1
            here.done = (values["epoch"] - 1 + values["part"]) / self.epochs
            here.valid, here.best = values["valid"], values["best"]
        else:
            gone = self.going.pop(key)
            if event.kind == "ended":
                self.ended[key] = gone.seconds
            elif event.kind == "failed":
                self.failed.add(key)

    @property
    def done(self) -> float:
        """The part of all trainings."""
        over = len(self.ended) + len(self.failed)
        return (over + sum(one.done for one in self.going.values())) / self.total

    @property
    def left(self) -> float | None:
        """Seconds until all have ended; None while nothing is known.

        A cell's next seed takes as long as its last; a cell of which nothing is known, as long as
        the mean.
        """
        known: dict[str, float] = {label: seconds for (label, _), seconds in self.ended.items()}
        for (label, _), one in self.going.items():
            if one.whole is not None:
                known.setdefault(label, one.whole)
        if not known:
            return None
        usual = sum(known.values()) / len(known)
        rests = [
            (1 - one.done) * (one.whole if one.whole is not None else known.get(label, usual))
            for (label, _), one in self.going.items()
        ]
        waiting = self.total - len(self.ended) - len(self.failed) - len(self.going)
        return max([(sum(rests) + waiting * usual) / max(1, self.workers), *rests])


@contextmanager
def shown(plan: Plan, workers: int) -> Iterator[Watch]:
    """Show the trainings on standard output; what is yielded takes the events."""
    from rich.live import Live

    from cellwright.compare.results import standing
    from cellwright.report.comparison.words import value_text

    console = stdout()
    before: dict[Key, float] = {}
    for one in plan.contenders:
        for run in standing(plan, one.label).runs:
            before[(one.label, run.seed)] = run.result.seconds
    total, metric = len(plan.runs), plan.metric
    progress = Progress(total, plan.recipe.training.epochs, workers, before)
    width = max(len(f"{one.label} seed {seed}") for one, seed in plan.runs)
    live = Live(console=console, transient=True, auto_refresh=False)
    due = 0.0

    def line(key: Key, rest: str) -> None:
        ticker.print(f"{f'{key[0]} seed {key[1]}':<{width}}  {rest}")

    def say(event: Event) -> None:
        key = (event.label, event.seed)
        number = f"({len(progress.ended) + len(progress.failed)} of {total})"
        if event.kind == "ended":
            [run] = [r for r in standing(plan, event.label).runs if r.seed == event.seed]
            result = run.result
            how = f"diverged: {result.status}" if run.diverged else duration(result.seconds)
            figures = (
                f"valid {value_text(run.valid, metric):>7}  test {value_text(run.test, metric):>7}"
            )
            line(key, f"{figures}  {how:>12}  {number}")
        elif event.kind in ("again", "failed"):
            why = event.values["message"].splitlines()[0]
            then = number if event.kind == "failed" else "(to be tried again)"
            line(key, f"failed: {why}  {then}")

    with (
        live if console.is_terminal else nullcontext(),
        ticking(console, lambda: status_line(progress, metric)) as ticker,
    ):

        def watch(event: Event | None) -> None:
            nonlocal due
            if event is not None:
                with ticker.lock:
                    progress.add(event)
                    say(event)
            if console.is_terminal and time.monotonic() >= due:
                live.update(bars(progress, metric), refresh=True)
                due = time.monotonic() + REFRESH_SECONDS

        yield watch


def status_line(progress: Progress, metric: Metric) -> str | None:
    """How far the trainings are that go on, where there are no bars."""
    if not progress.going:
        return None
    parts = []
    for (label, seed), one in list(progress.going.items())[:4]:
        where = f"epoch {one.epoch:,} of {progress.epochs:,}" if one.epoch else "starting"
        valid = "" if one.valid is None else f", valid {metric.shown(one.valid)}"
        parts.append(f"{label} seed {seed}: {where}, {one.done:.0%}{valid}")
    more = len(progress.going) - len(parts)
    rest = f" and {more} more" if more else ""
    return f"{'; '.join(parts)}{rest}; {clock(progress.left)} left in all"


def bars(progress: Progress, metric: Metric) -> RenderableType:
    """The lower lines on a terminal: the trainings that go on, and the whole."""
    rows = []
    for (label, seed), one in progress.going.items():
        left = None if one.whole is None else (1 - one.done) * one.whole
        where = f"epoch {one.epoch:,} of {progress.epochs:,}" if one.epoch else "starting"
        best = "" if one.best is None else f"best {metric.shown(one.best)}"
        rows.append(Bar(f"{label} seed {seed}", one.done, left, (where, best)))
    over = f"{len(progress.ended) + len(progress.failed):,} of {progress.total:,}"
    whole = (over, f"{progress.done:.0%}")
    return Bars([*rows, Bar("all trainings", progress.done, progress.left, whole)])
