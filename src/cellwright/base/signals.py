"""Being asked to stop, noticed where stopping is safe."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Terminated(KeyboardInterrupt):
    """The signal TERM came: what has been begun is cleaned up, as it is after Ctrl-C."""


def clean_up_on_term() -> None:
    """Let the signal TERM raise, as Ctrl-C does, so that whoever has something half-made in the
    works removes it. A second one ends the process at once."""

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)


class StopRequest:
    """Which signal came, if one did."""

    signal: int | None = None


@contextlib.contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """While this is entered, Ctrl-C and the signal TERM only leave a note.

    In the middle of a training step the weights are neither those before nor those after it, so
    an exception there would leave nothing to save. A second Ctrl-C does raise: who presses it
    wants to be gone, and the last checkpoint is there. A signal that is ignored (`nohup`, a job in
    the background) stays ignored. Only the main thread hears signals.
    """
    request = StopRequest()

    def note(number: int, frame: FrameType | None) -> None:
        if request.signal is not None:
            raise KeyboardInterrupt
        request.signal = number

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, note)
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
