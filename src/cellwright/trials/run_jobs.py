"""What calls share that train in a run's folder: being second there, and being stopped."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from cellwright.base.locks import is_held
from cellwright.runs.errors import Stopped

_LOCK_SECONDS = 20.0
"""How long to wait for a process that is just saving its last step."""


def wait_until_free(run: Path) -> None:
    """A process whose parent was killed a moment ago may still be saving."""
    until = time.monotonic() + _LOCK_SECONDS
    while is_held(run) and time.monotonic() < until:
        time.sleep(0.1)


@contextlib.contextmanager
def stop_is_passed_on() -> Iterator[None]:
    """Do what a signal was for, once the training that heard it has saved everything.

    It ends a process that is there for this training alone, and tells an executor in this process
    to stop.
    """
    try:
        yield
    except Stopped as stop:
        signal.raise_signal(stop.signal)
        raise
