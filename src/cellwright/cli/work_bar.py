"""A bar for work that is counted: reading, downloading, checking, searching.

On a terminal it is a bar, which goes away at the end; elsewhere there is a line from time to time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from cellwright.base.progress import Progress
from cellwright.base.zip_files import size_shown
from cellwright.cli.figures import clock
from cellwright.cli.output import printable, stderr
from cellwright.cli.ticker import Ticker

LEAST_FOR_TIME = 60
"""A terminal that is narrower than this has a bar without times."""


@contextmanager
def work_bar(what: str = "", *, of_bytes: bool = False) -> Iterator[Progress]:
    """Show on standard error how far work is; what is yielded is told.

    Args:
        what: is being done, until it is told otherwise.
        of_bytes: whether bytes are counted.
    """
    console = stderr()
    shown = _bar(console, what, of_bytes) if console.is_terminal else _lines(console, of_bytes)
    with shown as tell:
        yield tell


@contextmanager
def _bar(console: Console, what: str, of_bytes: bool) -> Iterator[Progress]:
    from rich import progress as rich

    columns = [
        rich.TextColumn("{task.description}"),
        rich.BarColumn(bar_width=None),
        rich.DownloadColumn(binary_units=True) if of_bytes else rich.MofNCompleteColumn(),
    ]
    if console.width >= LEAST_FOR_TIME:
        columns += [rich.TransferSpeedColumn()] * of_bytes
        columns.append(rich.TimeRemainingColumn())
    with rich.Progress(*columns, console=console, transient=True, expand=True) as shown:
        task = shown.add_task(what, total=None, visible=bool(what))

        def tell(what: str, done: int, total: int) -> None:
            shown.update(
                task,
                description=printable(what),
                completed=done,
                total=total or None,
                visible=True,
            )

        yield tell


@contextmanager
def _lines(console: Console, of_bytes: bool) -> Iterator[Progress]:
    latest: tuple[str, int, int] = ("", 0, 0)
    begun = time.monotonic()

    def line() -> str | None:
        return described(*latest, time.monotonic() - begun, of_bytes)

    ticker = Ticker(console, line, time.monotonic)

    def tell(what: str, done: int, total: int) -> None:
        nonlocal latest, begun
        if what != latest[0]:
            begun = time.monotonic()
        latest = (what, done, total)
        ticker.tick()

    yield tell


def described(what: str, done: int, total: int, seconds: float, of_bytes: bool) -> str:
    """How far work is, in a line.

    >>> described("reading train.txt", 2**20, 4 * 2**20, 30.0, True)
    'reading train.txt: 1 MiB of 4 MiB, 25%, 1:30 left'
    >>> described("searches", 7, 0, 30.0, False)
    'searches: 7'
    """
    shown = size_shown if of_bytes else "{:,}".format
    if not total:
        return f"{what}: {shown(done)}" if done else what
    left = None if not done else seconds * (total - done) / done
    return f"{what}: {shown(done)} of {shown(total)}, {done / total:.0%}, {clock(left)} left"
