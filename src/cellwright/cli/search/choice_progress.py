"""What a search shows while it trains candidates side by side: a line for each training that ends,
and a bar on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from cellwright.base.amounts import clock
from cellwright.cli.bars import Bar, Bars
from cellwright.cli.output import count, stdout
from cellwright.cli.ticker import ticking

if TYPE_CHECKING:
    from cellwright.search.one_shot.folder import SearchFolder
    from cellwright.search.one_shot.halving import Rung
    from cellwright.search.one_shot.short_trainings import Tried


class Progress:
    """How far the trainings are, counted in epochs: those of one that goes on are not known.

    Args:
        plan: the rungs.
        now: a clock that does not jump.
    """

    def __init__(self, plan: Sequence[Rung], now: Callable[[], float] = time.monotonic) -> None:
        self._before = {0: 0}
        for rung in plan:
            self._before[rung.epochs] = max(e for e in self._before if e < rung.epochs)
        self.trainings = sum(rung.cells for rung in plan)
        self._all = sum((r.epochs - self._before[r.epochs]) * r.cells for r in plan)
        self._now, self._begun = now, now()
        self.ended, self._epochs = 0, 0

    def end(self, epochs: int) -> None:
        """Take in that a training came to this epoch."""
        self.ended += 1
        self._epochs += epochs - self._before[epochs]

    @property
    def done(self) -> float:
        """The part of all epochs."""
        return self._epochs / self._all

    @property
    def left(self) -> float | None:
        """Seconds until the last has ended, as far as one can tell."""
        passed = self._now() - self._begun
        return passed * (1 - self.done) / self.done if self.done else None

    def __str__(self) -> str:
        return f"{self.ended} of {self.trainings}"


@contextmanager
def shown(
    folder: SearchFolder, plan: Sequence[Rung], workers: int
) -> Iterator[Callable[[Tried], None]]:
    """Show the trainings on standard output; what is yielded takes the events."""
    from rich.live import Live

    console, metric, progress = stdout(), folder.info.metric, Progress(plan)
    several = len(folder.info.seeds) > 1
    rungs = ", ".join(f"{rung.cells} for {count(rung.epochs, 'epoch')}" for rung in plan)
    console.print(f"\ncandidates, trained from scratch, {workers} at once: {rungs}")

    def name(event: Tried) -> str:
        seed = f"seed {event.proposal.seed}, " if several else ""
        return f"{seed}candidate {event.proposal.number} ({event.proposal.origin})"

    def line() -> str:
        return f"{progress} trainings, {clock(progress.left)} left"

    live = Live(console=console, transient=True, refresh_per_second=2, get_renderable=bar(progress))
    with live if console.is_terminal else nullcontext(), ticking(console, line) as ticker:

        def watch(event: Tried) -> None:
            if event.kind == "ended":
                with ticker.lock:
                    progress.end(event.epochs)
                after = count(event.epochs, "epoch")
                ticker.print(
                    f"{name(event):<24}  {metric.name} {metric.shown(event.loss):>7} after {after}"
                    f"   ({progress})"
                )
            elif event.kind == "again":
                why = event.message.splitlines()[0] if event.message else "it was lost"
                ticker.print(f"{name(event)} failed: {why} (to be tried again)")

        yield watch


def bar(progress: Progress) -> Callable[[], Bars]:
    """The lower line on a terminal."""
    return lambda: Bars([Bar("candidates", progress.done, progress.left, (str(progress),))])
