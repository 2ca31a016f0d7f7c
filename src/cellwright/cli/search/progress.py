"""What a one-shot search shows while it goes on: a line for each epoch, and bars on a terminal."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from cellwright.cli.bars import Bar, Bars
from cellwright.cli.figures import clock, direction, duration
from cellwright.cli.lines import Figure, Lines
from cellwright.cli.output import stdout
from cellwright.cli.ticker import ticking

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
    lines = epoch_lines(settings, metric, console.width)
    with (
        live if console.is_terminal else nullcontext(),
        ticking(console, lambda: status_line(settings, metric, recent)) as ticker,
    ):
        for line in lines.heading():
            ticker.print(line, "bold")

        def watch(event: Any) -> None:
            nonlocal due, before
            if event.ends_epoch:
                now = _choices(event)
                ticker.print(epoch_line(lines, event, metric, before, now))
                before = now
                return
            with ticker.lock:
                recent.append(event)
            last = event.step == event.steps
            if console.is_terminal and (last or time.monotonic() >= due):
                live.update(bars(settings, metric, recent), refresh=True)
                due = time.monotonic() + REFRESH_SECONDS

        yield watch


GRADIENT = (
    Figure("epoch", 5),
    Figure("round", 7, goes=5),
    Figure("group", 9, goes=4, left=True),
    Figure("train", goes=2),
    Figure("valid"),
    Figure("entropy", goes=3),
    Figure("deviation", goes=7),
    Figure("time", 12, goes=6),
    Figure("changed", 10, goes=1),
)
"""What a line says of an epoch of a search by gradient; `changed` are nodes of the cell."""

SHARING = (
    Figure("epoch", 5),
    Figure("train", goes=2),
    Figure("valid"),
    Figure("reward", goes=4),
    Figure("entropy", goes=3),
    Figure("time", 12, goes=5),
    Figure("changed", 10, goes=1),
)
"""The same of a search with shared weights."""


def epoch_lines(settings: Any, metric: Metric, room: int) -> Lines:
    """The lines of the epochs, in a terminal of that width."""
    figures = SHARING if settings.kind in ("enas", "random-sharing") else GRADIENT
    train = "" if metric.is_learned_from else "; train is the loss"
    return Lines(figures, room, f"{direction(metric)}{train}", notes=0)


def epoch_line(
    lines: Lines, epoch: Any, metric: Metric, before: dict[str, str], now: dict[str, str]
) -> str:
    """An epoch's figures, below the heading, and how much of the cell has changed."""
    changed = sum(before.get(row) != choice for row, choice in now.items()) if before else 0
    values = {
        "epoch": str(epoch.epoch),
        "train": metric.train_shown(epoch.train),
        "valid": metric.shown(epoch.valid),
        "time": duration(epoch.seconds),
        "changed": f"{changed} of {len(now)}" if changed else "",
    }
    if hasattr(epoch, "watched"):
        values |= {
            "round": str(epoch.round or "–"),
            "group": epoch.group if epoch.round else "weights",
            "entropy": f"{epoch.watched['entropy']:.3f}",
            "deviation": f"{epoch.watched['mad']:.4f}",
        }
    else:
        values |= {"reward": _number(epoch.reward), "entropy": _number(epoch.entropy)}
    return lines.line(values)


class _Standing(NamedTuple):
    """How far a search is, by its last steps."""

    epoch: str
    where: str
    epoch_left: float
    done: float | None
    left: float | None
    speed: float


def _standing(settings: Any, recent: deque[Any]) -> _Standing:
    from cellwright.search.one_shot.epochs import most_epochs

    step = recent[-1]
    seconds = sum(each.size / each.speed for each in recent)
    left = (step.steps - step.step) * seconds / len(recent)
    most = most_epochs(settings)
    of = f" of {most:,} at most" if most is not None else ""
    where = f"step {step.step:,} of {step.steps:,}" if step.step < step.steps else "measuring"
    done = whole = None
    if most is not None:
        done = (step.epoch - 1 + step.step / step.steps) / most
        whole = left + (most - step.epoch) * step.steps * seconds / len(recent)
    speed = sum(each.size for each in recent) / seconds
    return _Standing(f"epoch {step.epoch:,}{of}", where, left, done, whole, speed)


def status_line(settings: Any, metric: Metric, recent: deque[Any]) -> str | None:
    """How far the epoch is, where there are no bars."""
    if not recent:
        return None
    stands, (name, value) = _standing(settings, recent), _latest(metric, recent)
    whole = "" if stands.left is None else f", {clock(stands.left)} in all"
    left = f"{clock(stands.epoch_left)} left of the epoch{whole}"
    return f"{stands.epoch}: {stands.where}, {name} {value}, {left}"


def bars(settings: Any, metric: Metric, recent: deque[Any]) -> RenderableType:
    """The lower lines on a terminal: the epoch, and how the search does."""
    step, stands = recent[-1], _standing(settings, recent)
    rows = [Bar(stands.epoch, step.step / step.steps, stands.epoch_left, (stands.where,))]
    if stands.done is not None:
        rows.append(Bar("whole search", stands.done, stands.left, (f"{stands.done:.1%}",)))
    name, value = _latest(metric, recent)
    facts = Text.assemble(
        (f"{stands.speed:,.0f}", "bold"), f" {metric.items}/s   {name} ", (value, "bold")
    )
    return Group(Bars(rows), facts)


def _latest(metric: Metric, recent: deque[Any]) -> tuple[str, str]:
    """What the last steps came to, and its name: those that learn have losses of training, those
    that only measure have the metric's."""
    part = getattr(recent[-1], "part", "weights")
    alike = [each for each in recent if getattr(each, "part", "weights") == part]
    loss = sum(each.size * each.loss for each in alike) / sum(each.size for each in alike)
    if metric.is_learned_from or part != "weights":
        return metric.name, metric.shown(loss)
    return "loss", metric.train_shown(loss)


def _choices(epoch: Any) -> dict[str, str]:
    from dataclasses import asdict

    from cellwright.report.search_pictures import choices_of

    return choices_of(asdict(epoch.listing))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
