"""Running calls of a class of the user's own: what it prints, how long it takes, how it fails."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from cellwright.base.errors import UserError
from cellwright.base.plugins import Source, at_line, described, quiet_stdout
from cellwright.search.blackbox.ask_tell import SearchError

ANSWER_SECONDS = 600.0
"""A call that takes longer is taken for one that hangs, unless the class says how long it needs."""


class OwnMethodError(SearchError):
    """A method of the user's own did something wrong. The message names file, call and line."""


class _TooLong(BaseException):
    """Raised inside a call whose time is over; no `except Exception` of the user's catches it."""


@contextlib.contextmanager
def guarded(source: Source, call: str, seconds: float = ANSWER_SECONDS) -> Iterator[None]:
    """Run a call of the user's code; whatever it raises becomes an `OwnMethodError`.

    An error of ours that never went through the user's file says all itself, and stays as it is.

    Args:
        source: of the class.
        call: in words, such as "ask() for trial 3".
        seconds: the most that it may take.
    """
    try:
        with quiet_stdout(), _time_limit(seconds):
            yield
    except (KeyboardInterrupt, OwnMethodError):
        raise
    except _TooLong as error:
        where = at_line(error, source.file)
        raise OwnMethodError(
            f"{source}: {call} took more than {seconds:g} seconds{where}; a class that needs "
            "longer says so with answer_seconds = …"
        ) from None
    except BaseException as error:
        where = at_line(error, source.file)
        if isinstance(error, UserError) and not where:
            raise
        raise OwnMethodError(f"{source}: {call} raised {described(error)}{where}") from error


def complaint(source: Source, function: object, problem: str) -> OwnMethodError:
    """The error about what a call gave, with the line at which the function begins."""
    return OwnMethodError(f"{source}: {problem}{begins_at(function)}")


def begins_at(function: object) -> str:
    """Where a function or a class's method begins, for the end of a message."""
    code: Any = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        return ""
    return f" ({code.co_filename.rpartition('/')[2]}, line {code.co_firstlineno})"


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt what runs within after so many seconds. Only a process's main thread can be, and
    Windows has no such timers."""
    if threading.current_thread() is not threading.main_thread() or _timer_runs():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise _TooLong

    before: Callable[..., Any] | int | None = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _timer_runs() -> bool:
    """Whether somebody else uses the one timer that there is, or there is none."""
    return not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_REAL) != (0.0, 0.0)
