"""What a training shows while it goes on: a line for each epoch, and bars on a terminal."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cellwright.cli.figures import clock, direction, duration
from cellwright.cli.output import stdout

if TYPE_CHECKING:
    from cellwright.tasks.metric import Metric
    from cellwright.training.results import EpochDone, EpochRecord, StepDone

    Event = StepDone | EpochDone
    Watch = Callable[[Event], None]

WINDOW = 100
"""How many steps the shown speed and loss are a mean of."""

REFRESH_SECONDS = 0.2
"""The time between two drawings of the bars."""

HEADING = "epoch      train      valid       test        time"


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

    On a terminal there are bars below the lines of the epochs; elsewhere only these lines.

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
    with live if console.is_terminal else nullcontext():
        console.print(heading(metric), style="bold", soft_wrap=True)

        def watch(event: Event) -> None:
            nonlocal due
            if isinstance(event, EpochDone):
                pace.add_epoch(event)
                console.print(epoch_line(event, metric), soft_wrap=True)
                return
            pace.add_step(event)
            last = event.step == event.steps
            if console.is_terminal and (last or time.monotonic() >= due):
                live.update(bars(pace, metric), refresh=True)
                due = time.monotonic() + REFRESH_SECONDS

        yield watch


def heading(metric: Metric) -> str:
    """Above the lines of the epochs: what their figures are."""
    train = "" if metric.is_learned_from else "; train is the loss"
    return f"{HEADING}   ({direction(metric)}{train})"


def epoch_line(event: EpochDone, metric: Metric) -> str:
    """An epoch's figures, below the heading."""
    record = event.record
    values = (metric.train_shown(record.train), *map(metric.shown, (record.valid, record.test)))
    figures = "".join(f"{value:>11}" for value in values)
    notes = ["best"] * event.best + ["averaged weights"] * record.averaged
    line = f"{record.epoch:>5}{figures}{duration(record.seconds):>12}   {', '.join(notes)}"
    return line.rstrip()


def bars(pace: Pace, metric: Metric) -> RenderableType:
    """The lower lines on a terminal: the epoch, the whole run, and how it does."""
    from rich.progress_bar import ProgressBar

    step = pace.step
    assert step is not None
    grid = Table.grid(padding=(0, 1), expand=True)
    for ratio in (None, 1, None, None):
        grid.add_column(ratio=ratio, no_wrap=True)
    where = f"step {step.step:,} of {step.steps:,}" if step.step < step.steps else "measuring"
    grid.add_row(
        f"epoch {step.epoch:,} of {pace.epochs:,}",
        ProgressBar(step.steps, step.step),
        where,
        f"{clock(pace.epoch_left):>7} left",
    )
    grid.add_row(
        "whole run",
        ProgressBar(1.0, pace.done),
        f"{pace.done:.1%}",
        f"{clock(pace.run_left):>7} left",
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
