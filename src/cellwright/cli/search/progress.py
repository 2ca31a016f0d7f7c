"""What a one-shot search shows while it goes on: a line for each epoch, and bars on a terminal."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cellwright.cli.figures import clock, direction, duration
from cellwright.cli.output import stdout

if TYPE_CHECKING:
    from cellwright.tasks.metric import Metric

WINDOW = 50
"""How many steps the shown speed and loss are a mean of."""

REFRESH_SECONDS = 0.2
"""The time between two drawings of the bars."""


@contextmanager
def shown(settings: Any, metric: Metric) -> Iterator[Callable[[Any], None]]:
    """Show a search on standard output; what is yielded takes its events.

    Args:
        settings: of the search.
        metric: what losses are shown as.
    """
    from rich.live import Live

    console, due = stdout(), 0.0
    recent: deque[Any] = deque(maxlen=WINDOW)
    live = Live(console=console, transient=True, auto_refresh=False)
    before: dict[str, str] = {}
    with live if console.is_terminal else nullcontext():
        console.print(heading(settings, metric), style="bold", soft_wrap=True)

        def watch(event: Any) -> None:
            nonlocal due, before
            if event.ends_epoch:
                now = _choices(event)
                console.print(epoch_line(event, metric, before, now), soft_wrap=True)
                before = now
                return
            recent.append(event)
            last = event.step == event.steps
            if console.is_terminal and (last or time.monotonic() >= due):
                live.update(bars(settings, metric, recent), refresh=True)
                due = time.monotonic() + REFRESH_SECONDS

        yield watch


def heading(settings: Any, metric: Metric) -> str:
    """Above the lines of the epochs: what their figures are."""
    columns = "epoch  round  group      train      valid    entropy  deviation        time"
    if settings.kind in ("enas", "random-sharing"):
        columns = "epoch      train      valid     reward    entropy        time"
    train = "" if metric.is_learned_from else "; train is the loss"
    return f"{columns}   ({direction(metric)}{train})"


def epoch_line(epoch: Any, metric: Metric, before: dict[str, str], now: dict[str, str]) -> str:
    """An epoch's figures, below the heading, and how much of the cell has changed."""
    losses = f"{metric.train_shown(epoch.train):>11}{metric.shown(epoch.valid):>11}"
    if hasattr(epoch, "watched"):
        group = epoch.group if epoch.round else "weights"
        figures = f"{epoch.epoch:>5}{epoch.round or '–':>7}  {group:<7}"[:21] + losses[1:]
        watched = epoch.watched
        figures += f"{watched['entropy']:>11.3f}{watched['mad']:>11.4f}"
    else:
        figures = f"{epoch.epoch:>5}{losses}{_number(epoch.reward)}{_number(epoch.entropy)}"
    changed = sum(before.get(row) != choice for row, choice in now.items()) if before else 0
    note = f"   {changed} of {len(now)} nodes changed" if changed else ""
    return f"{figures}{duration(epoch.seconds):>12}{note}"


def bars(settings: Any, metric: Metric, recent: deque[Any]) -> RenderableType:
    """The lower lines on a terminal: the epoch, and how the search does."""
    from rich.progress_bar import ProgressBar

    step = recent[-1]
    seconds = sum(each.size / each.speed for each in recent)
    items = sum(each.size for each in recent)
    grid = Table.grid(padding=(0, 1), expand=True)
    for ratio in (None, 1, None, None):
        grid.add_column(ratio=ratio, no_wrap=True)
    left = (step.steps - step.step) * seconds / len(recent)
    most = most_epochs(settings)
    of = f" of {most:,} at most" if most is not None else ""
    where = f"step {step.step:,} of {step.steps:,}" if step.step < step.steps else "measuring"
    grid.add_row(
        f"epoch {step.epoch:,}{of}",
        ProgressBar(step.steps, step.step),
        where,
        f"{clock(left):>7} left",
    )
    if most is not None:
        done = (step.epoch - 1 + step.step / step.steps) / most
        whole = left + (most - step.epoch) * step.steps * seconds / len(recent)
        grid.add_row(
            "whole search", ProgressBar(1.0, done), f"{done:.1%}", f"{clock(whole):>7} left"
        )
    name, value = _latest(metric, recent)
    facts = Text.assemble(
        (f"{items / seconds:,.0f}", "bold"), f" {metric.items}/s   {name} ", (value, "bold")
    )
    return Group(grid, facts)


def _latest(metric: Metric, recent: deque[Any]) -> tuple[str, str]:
    """What the last steps came to, and its name: those that learn have losses of training, those
    that only measure have the metric's."""
    part = getattr(recent[-1], "part", "weights")
    alike = [each for each in recent if getattr(each, "part", "weights") == part]
    loss = sum(each.size * each.loss for each in alike) / sum(each.size for each in alike)
    if metric.is_learned_from or part != "weights":
        return metric.name, metric.shown(loss)
    return "loss", metric.train_shown(loss)


def most_epochs(settings: Any) -> int | None:
    """How many epochs a search has at most, its rounds considered."""
    epochs: int = settings.epochs
    rounds = getattr(settings, "rounds", None)
    if rounds is None:
        return epochs
    groups = 2 if settings.scope == "joint" else 1
    in_rounds = settings.warmup_epochs + rounds * groups * settings.phase_epochs
    return min(epochs, int(in_rounds))


def _choices(epoch: Any) -> dict[str, str]:
    from dataclasses import asdict

    from cellwright.report.search_pictures import choices_of

    return choices_of(asdict(epoch.listing))


def _number(value: float | None) -> str:
    return f"{'–' if value is None else f'{value:.3f}':>11}"
