"""Lines from time to time where there are no bars: in a log file, a pipe, a batch job.

Whatever takes long shows there that it goes on, and how far it is, at least every half minute. The
clock decides when something is shown, and never what is computed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from cellwright.cli.output import say

QUIET_SECONDS = 30.0
"""How long nothing is shown at the most."""

_LOOK_SECONDS = 1.0


class Ticker:
    """Prints lines, and one more if there has been none for long.

    Args:
        console: where to.
        line: how far the work is, for people; None while there is nothing to say. It is called
            with `lock` held, which those who change what it looks at have to hold too.
        now: a clock that does not jump.
    """

    def __init__(
        self,
        console: Console,
        line: Callable[[], str | None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lock = threading.RLock()
        self._console, self._line, self._now = console, line, now
        self._last = now()

    def print(self, text: str, style: str = "") -> None:
        """Print a line of the work itself."""
        with self.lock:
            say(text, style, self._console)
            self._last = self._now()

    def tick(self) -> None:
        """Print how far the work is, if there has been no line for long."""
        with self.lock:
            if self._now() - self._last < QUIET_SECONDS:
                return
            line = self._line()
            if line is not None:
                self.print(line, "dim")


@contextmanager
def ticking(console: Console, line: Callable[[], str | None]) -> Iterator[Ticker]:
    """A ticker that looks at the clock by itself while this is entered, unless there are bars."""
    ticker, over = Ticker(console, line), threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            ticker.tick()

    if console.is_terminal:
        yield ticker
        return
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield ticker
    finally:
        over.set()
        thread.join()
