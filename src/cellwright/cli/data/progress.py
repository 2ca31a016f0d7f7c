"""A bar for work on bytes: reading, downloading, unpacking."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cellwright.base.progress import Progress
from cellwright.cli.output import stderr


@contextmanager
def bar() -> Iterator[Progress]:
    """A bar on standard error while the work goes on, where that is a terminal."""
    from rich import progress as rich

    console = stderr()
    with rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.DownloadColumn(binary_units=True),
        rich.TransferSpeedColumn(),
        rich.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as shown:
        task = shown.add_task("", total=None, visible=False)

        def update(what: str, done: int, total: int) -> None:
            shown.update(task, description=what, completed=done, total=total or None, visible=True)

        yield update
