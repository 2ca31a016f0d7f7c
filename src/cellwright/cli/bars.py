"""The lower lines of a terminal while work goes on: a bar for each thing, and what fits there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table

from cellwright.cli.figures import clock
from cellwright.cli.output import printable
from cellwright.cli.tables import shortened

LEAST_BAR = 10


@dataclass(frozen=True)
class Bar:
    """How far one thing is.

    Args:
        name: what it is.
        done: from 0 to 1.
        left: seconds until its end, if that is known.
        where: more about it; the last goes first where there is no room.
    """

    name: str
    done: float
    left: float | None
    where: tuple[str, ...] = ()


class Bars:
    """Bars below each other, as wide as the terminal."""

    def __init__(self, bars: Sequence[Bar]) -> None:
        self._bars = bars

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width
        names = [shortened(printable(bar.name), max(8, room // 2)) for bar in self._bars]
        lefts = [f"{clock(bar.left)} left" for bar in self._bars]
        wide = max((cell_len(name) for name in names), default=0)
        free = room - wide - 1 - LEAST_BAR - 1 - max((cell_len(text) for text in lefts), default=0)
        most = max((len(bar.where) for bar in self._bars), default=0)
        places = 0
        for place in range(most):
            free -= 1 + max(cell_len(b.where[place]) for b in self._bars if place < len(b.where))
            places += free >= 0
        grid = Table.grid(padding=(0, 1), expand=True)
        grid.add_column(no_wrap=True)
        grid.add_column(ratio=1, no_wrap=True)
        for _ in range(places):
            grid.add_column(no_wrap=True)
        grid.add_column(justify="right", no_wrap=True)
        for bar, name, left in zip(self._bars, names, lefts, strict=True):
            where = [bar.where[place] if place < len(bar.where) else "" for place in range(places)]
            grid.add_row(name, ProgressBar(1.0, bar.done), *where, left)
        yield grid
