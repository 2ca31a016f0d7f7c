"""What a training shows while it goes on: a line for each epoch, and bars on a terminal."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from cellwright.cli.bars import Bar, Bars
from cellwright.cli.figures import clock, direction, duration
from cellwright.cli.lines import Figure, Lines
from cellwright.cli.output import stdout
from cellwright.cli.ticker import ticking

if TYPE_CHECKING:
    from cellwright.tasks.metric import Metric
    from cellwright.training.results import EpochDone, EpochRecord, StepDone

    Event = StepDone | EpochDone
    Watch = Callable[[Event], None]

WINDOW = 100
"""How many steps the shown speed and loss are a mean of."""

REFRESH_SECONDS = 0.2
"""The time between two drawings of the bars."""

FIGURES = (
    Figure("epoch", 5),
    Figure("train", goes=2),
    Figure("valid"),
    Figure("test", goes=1),
    Figure("time", 12, goes=3),
)
"""What a line says of an epoch."""


class Pace:
    """How fast a training goes and how it does, from the steps that this process has seen.

    Args:
        epochs: how many there will be at most.
        earlier: the epochs that ended in earlier processes.
    """

    def __init__(self, epochs: int, earlier: Sequence[EpochRecord] = ()) -> None:
        self.epochs = epochs
        self.step: StepDone | None = None
        self.best: EpochRecord | None = None
        self._earlier = earlier
        self._recent: deque[tuple[int, float, float]] = deque(maxlen=WINDOW)
        self._measuring = 0.0  # seconds after the last step of an epoch

    def add_step(self, event: StepDone) -> None:
        """Take in a step."""
        self._look_back(event.epoch)
        seconds = event.size / event.speed
        self._recent.append((event.size, seconds, event.loss))
        self.step = event

    def add_epoch(self, event: EpochDone) -> None:
        """Take in an epoch's end."""
        self._look_back(event.record.epoch)
        if event.best:
            self.best = event.record
        if self.step is not None:
            self._measuring = event.record.seconds - self.step.seconds

    @property
    def speed(self) -> float:
        """Items a second, over the last steps."""
        return self._items / sum(seconds for _, seconds, _ in self._recent)

    @property
    def loss(self) -> float:
        """Of training, over the last steps."""
        return sum(items * loss for items, _, loss in self._recent) / self._items

    @property
    def epoch_left(self) -> float:
        """Seconds until the current epoch is measured."""
        assert self.step is not None
        return (self.step.steps - self.step.step) * self._step_seconds + self._measuring

    @property
    def run_left(self) -> float:
        """Seconds until all epochs are over."""
        assert self.step is not None
        whole = self.step.steps * self._step_seconds + self._measuring
        return self.epoch_left + (self.epochs - self.step.epoch) * whole

    @property
    def done(self) -> float:
        """The part of all steps that is done."""
        assert self.step is not None
        return (self.step.epoch - 1 + self.step.step / self.step.steps) / self.epochs

    def _look_back(self, epoch: int) -> None:
        """The best epoch before the first that is seen here; later ones come again."""
        finite = [r for r in self._earlier if r.epoch < epoch and math.isfinite(r.valid)]
        if finite:
            self.best = min(finite, key=lambda record: record.valid)
        self._earlier = ()

    @property
    def _items(self) -> int:
        return sum(items for items, _, _ in self._recent)

    @property
    def _step_seconds(self) -> float:
        return sum(seconds for _, seconds, _ in self._recent) / len(self._recent)


@contextmanager
def shown(epochs: int, metric: Metric, earlier: Sequence[EpochRecord] = ()) -> Iterator[Watch]:
    """Show a training on standard output; what is yielded takes its events.

    On a terminal there are bars below the lines of the epochs; elsewhere, beside these lines, one
    from time to time during a long epoch.

    Args:
        epochs: how many there will be at most.
        metric: what losses are shown as.
        earlier: the epochs that ended in earlier processes.
    """
    from rich.live import Live

    from cellwright.training.results import EpochDone

    console = stdout()
    pace, due = Pace(epochs, earlier), 0.0
    live = Live(console=console, transient=True, auto_refresh=False)
    lines = epoch_lines(metric, console.width)
    with (
        live if console.is_terminal else nullcontext(),
        ticking(console, lambda: status_line(pace, metric)) as ticker,
    ):
        for line in lines.heading():
            ticker.print(line, "bold")

        def watch(event: Event) -> None:
            nonlocal due
            with ticker.lock:
                if isinstance(event, EpochDone):
                    pace.add_epoch(event)
                    ticker.print(epoch_line(lines, event, metric))
                    return
                pace.add_step(event)
            last = event.step == event.steps
            if console.is_terminal and (last or time.monotonic() >= due):
                live.update(bars(pace, metric), refresh=True)
                due = time.monotonic() + REFRESH_SECONDS

        yield watch


def epoch_lines(metric: Metric, room: int) -> Lines:
    """The lines of the epochs, in a terminal of that width."""
    train = "" if metric.is_learned_from else "; train is the loss"
    return Lines(FIGURES, room, f"{direction(metric)}{train}")


def epoch_line(lines: Lines, event: EpochDone, metric: Metric) -> str:
    """An epoch's figures, below the heading."""
    record = event.record
    values = {
        "epoch": str(record.epoch),
        "train": metric.train_shown(record.train),
        "valid": metric.shown(record.valid),
        "test": metric.shown(record.test),
        "time": duration(record.seconds),
    }
    notes = ["best"] * event.best + ["averaged weights"] * record.averaged
    return lines.line(values, ", ".join(notes))


def status_line(pace: Pace, metric: Metric) -> str | None:
    """How far the epoch is, where there are no bars."""
    step = pace.step
    if step is None:
        return None
    name = metric.name if metric.is_learned_from else "loss"
    where = f"step {step.step:,} of {step.steps:,}" if step.step < step.steps else "measuring"
    return (
        f"epoch {step.epoch:,} of {pace.epochs:,}: {where}, {name} "
        f"{metric.train_shown(pace.loss)}, {clock(pace.epoch_left)} left of the epoch, "
        f"{clock(pace.run_left)} in all"
    )


def bars(pace: Pace, metric: Metric) -> RenderableType:
    """The lower lines on a terminal: the epoch, the whole run, and how it does."""
    step = pace.step
    assert step is not None
    where = f"step {step.step:,} of {step.steps:,}" if step.step < step.steps else "measuring"
    epoch = f"epoch {step.epoch:,} of {pace.epochs:,}"
    grid = Bars(
        [
            Bar(epoch, step.step / step.steps, pace.epoch_left, (where,)),
            Bar("whole run", pace.done, pace.run_left, (f"{pace.done:.1%}",)),
        ]
    )
    best = "none yet"
    if pace.best is not None:
        best = f"{metric.shown(pace.best.valid)} (epoch {pace.best.epoch:,})"
    facts = Text.assemble(
        (f"{pace.speed:,.0f}", "bold"),
        f" {metric.items}/s   {metric.name if metric.is_learned_from else 'loss'} ",
        (metric.train_shown(pace.loss), "bold"),
        f"   best valid{'' if metric.is_learned_from else f' {metric.name}'} ",
        (best, "bold"),
    )
    return Group(grid, facts)
