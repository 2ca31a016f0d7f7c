"""What `cellwright bench build` shows while it goes on: a line for each training, and a bar."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from cellwright.cli.bars import Bar, Bars
from cellwright.cli.figures import clock, duration
from cellwright.cli.output import stdout
from cellwright.cli.ticker import ticking

if TYPE_CHECKING:
    from cellwright.bench.building.progress import BuildProgress, Watch
    from cellwright.tasks.metric import Metric


@contextmanager
def shown(metric: Metric) -> Iterator[Watch]:
    """Show a build on standard output, losses as the metric does; what is yielded takes its
    progress."""
    from rich.live import Live

    console = stdout()
    latest: BuildProgress | None = None
    going: dict[int, tuple[str, float]] = {}
    live = Live(console=console, transient=True, refresh_per_second=2)
    with (
        live if console.is_terminal else nullcontext(),
        ticking(console, lambda: status_line(latest, going)) as ticker,
    ):

        def watch(now: BuildProgress) -> None:
            nonlocal latest
            with ticker.lock:
                latest = now
                _follow(going, now)
                line = described(now, metric)
                if line:
                    ticker.print(line)
            if console.is_terminal:
                where = (f"{now.done:,} of {now.total:,}",)
                live.update(Bars([Bar("trainings", now.done / now.total, now.left, where)]))

        yield watch


def _follow(going: dict[int, tuple[str, float]], now: BuildProgress) -> None:
    """Note which trainings go on, and since when."""
    from cellwright.trials.study.events import AttemptFailed, TrialFinished, TrialStarted

    if isinstance(now.event, TrialStarted):
        going[now.event.number] = f"{now.name}, seed {now.seed}", time.monotonic()
    elif isinstance(now.event, TrialFinished | AttemptFailed):
        going.pop(now.event.number, None)


def status_line(now: BuildProgress | None, going: dict[int, tuple[str, float]]) -> str | None:
    """What is being trained and since when, while trainings take long and there is no bar."""
    if now is None or not going:
        return None
    parts = [f"{name} for {clock(time.monotonic() - since)}" for name, since in going.values()]
    more = f" and {len(parts) - 4} more" if len(parts) > 4 else ""
    left = "" if now.left is None else f"; {clock(now.left)} left"
    done = f"{now.done:,} of {now.total:,} trainings have ended"
    return f"{done}; running: {', '.join(parts[:4])}{more}{left}"


def described(now: BuildProgress, metric: Metric) -> str:
    """A line for what has just happened; empty where nothing is worth one."""
    from cellwright.trials.study import AttemptFailed, StoreBack, StoreLost, TrialFinished

    event = now.event
    if event is None:
        return f"{now.done:,} of {now.total:,} trainings are there already" if now.done else ""
    if isinstance(event, StoreLost | StoreBack):
        return event.message
    what = f"{now.name}, seed {now.seed}"
    if isinstance(event, AttemptFailed):
        reason = event.message.splitlines()[0] if event.message else event.ending
        after = "it is tried again" if event.again else "given up"
        return f"{what}: {reason}; {after}"
    if not isinstance(event, TrialFinished):
        return ""
    width = len(f"{now.total:,}")
    place = f"{now.done:>{width},} of {now.total:,}"
    left = "" if now.left is None else f"   {clock(now.left)} left"
    figures = _figures(event.outcome, metric)
    return f"{place}  {what:<22} {figures:<28} {duration(event.seconds):>10}{left}"


def _figures(outcome: dict[str, Any], metric: Metric) -> str:
    if outcome["status"] != "ok":
        return f"diverged: {outcome['status']}"
    valid, test = (metric.shown(_number(outcome[name])) for name in ("value", "test"))
    return f"valid {valid}, test {test}"


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
