"""Being asked to stop, noticed where stopping is safe."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

Handler = Callable[[int, FrameType | None], Any]


class StopRequest:
    """Which signal came, if one did. Once `over`, further ones are not heard."""

    signal: int | None = None
    over: bool = False


@contextlib.contextmanager
def interruptible() -> Iterator[StopRequest]:
    """While this is entered, Ctrl-C and the signal TERM raise a `KeyboardInterrupt`, so that
    whatever is under way is tidied up; and they leave a note, since code of others sometimes makes
    another exception of it."""
    request = StopRequest()

    def stop(number: int, frame: FrameType | None) -> None:
        if not request.over:
            request.signal = number
            raise KeyboardInterrupt

    with _handled(dict.fromkeys(_SIGNALS, stop)):
        yield request


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

    with _handled(dict.fromkeys(_SIGNALS, note)):
        yield request


@contextlib.contextmanager
def _handled(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    """Hear signals so, but for those that are ignored. Only the main thread can."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
