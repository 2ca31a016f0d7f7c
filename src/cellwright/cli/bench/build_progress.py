"""What `cellwright bench build` shows while it goes on: a line for each training, and a bar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cellwright.cli.figures import clock, duration
from cellwright.cli.output import printable, stdout

if TYPE_CHECKING:
    from cellwright.bench.building.progress import BuildProgress, Watch
    from cellwright.tasks.metric import Metric


@contextmanager
def shown(metric: Metric) -> Iterator[Watch]:
    """Show a build on standard output, losses as the metric does; what is yielded takes its
    progress."""
    from rich import progress as rich

    console = stdout()
    with rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("{task.fields[left]} left"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("trainings", total=None, left=clock(None))

        def watch(now: BuildProgress) -> None:
            line = described(now, metric)
            if line:
                console.print(printable(line), soft_wrap=True)
            bar.update(task, completed=now.done, total=now.total, left=clock(now.left))

        yield watch


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
