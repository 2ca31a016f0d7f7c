"""A search that is killed after a number of events: `python dying.py FOLDER EVENTS`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cellwright.search.one_shot.folder import SearchFolder
from cellwright.search.one_shot.searching import Watcher, run_search


class Ends(Watcher):
    """Does something after a number of events."""

    def __init__(self, after: int, end: Callable[[], None]) -> None:
        self.left, self.end = after, end

    @contextmanager
    def searching(self, folder: Any, resumed: bool) -> Iterator[Callable[[Any], None]]:
        yield self.count

    @contextmanager
    def retraining(self, folder: Any, resumed: bool) -> Iterator[Callable[[Any], None]]:
        yield self.count

    def count(self, event: Any) -> None:
        self.left -= 1
        if self.left == 0:
            self.end()


if __name__ == "__main__":
    kill = Ends(int(sys.argv[2]), lambda: os.kill(os.getpid(), signal.SIGKILL))
    run_search(SearchFolder.open(sys.argv[1]), kill, checkpoint_seconds=0.0)
