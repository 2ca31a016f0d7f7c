"""Patience with a database that is away for a while: it is said, tried again, and can be stopped.

A server restarts, a network drops out, a disk is full, another process keeps a file locked. A
driver that gave up at once would throw away the work of hours; one that waited in silence would
look as if it hung.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Engine, exc

from cellwright.base.amounts import duration
from cellwright.trials.store.errors import Trouble, said, trouble
from cellwright.trials.store.urls import POSTGRESQL, cleaned

Answer = TypeVar("Answer")

AT_WORK = 300.0
"""For how many seconds a driver tries to reach a store that was there before."""

PASSING = 60.0
"""The same for those who only look, and wait at a prompt."""

QUIET = 10.0
"""A transaction takes milliseconds: after so many seconds without an answer, something is wrong."""

_LOCKED = 2.0
"""Others may keep a file locked for so long before that is worth a word."""

_GRACE, _LAST = 3.0, 1.0
"""How many seconds a transaction gets from somebody who was asked to stop; and where the database
is known to be away."""

_WORDS: dict[Trouble, str] = {
    "away": "does not answer",
    "full": "cannot be written",
    "locked": "is locked",
}

_FIRST_PAUSE, _LONGEST_PAUSE, _LOOK = 0.05, 2.0, 0.1


@dataclass(frozen=True)
class StoreLost:
    """A store does not answer, or cannot be written; it is tried again for so many seconds."""

    message: str
    seconds: float


@dataclass(frozen=True)
class StoreBack:
    """A store that was lost answers again."""

    message: str


Told = Callable[[StoreLost | StoreBack], None]


class AwayError(Exception):
    """A store was away for as long as it was tried; the message says what it said last."""

    def __init__(self, why: str, cause: exc.SQLAlchemyError | None) -> None:
        super().__init__(why)
        self.cause = cause


class Patience:
    """How long one thread tries to reach a store, who is told, and who may end it.

    Args:
        seconds: how long.
        told: is told when a store is lost, and when it is back.
        stopping: whether one was asked to stop.
        grace: how many seconds what is under way then gets.
        waits: which troubles to wait out; others are errors at once.
    """

    def __init__(
        self,
        seconds: float = PASSING,
        told: Told | None = None,
        stopping: Callable[[], bool] = lambda: False,
        grace: float = _GRACE,
        waits: tuple[Trouble, ...] = ("away", "full", "locked"),
    ) -> None:
        self.seconds, self.grace, self.is_stopping = seconds, grace, stopping
        self._told, self._waits = told, waits

    def carry_out(self, attempt: Callable[[], Answer], engine: Engine, name: str) -> Answer:
        """What `attempt` gives, once it succeeds.

        Args:
            attempt: a transaction; a database that fails it passes on its own error.
            engine: the database.
            name: of the store.

        Raises:
            SQLAlchemyError: it failed for a reason that is not waited out.
            AwayError: it failed for as long as there was patience.
        """
        # A server may never answer. Who waits for one then has to hear signals, and to say so.
        may_hang = self._told is not None and engine.dialect.name == POSTGRESQL
        effort = _Effort(self, name)
        while True:
            try:
                answer = _apart(attempt, effort) if may_hang else attempt()
            except exc.SQLAlchemyError as error:
                found = trouble(error)
                if found not in self._waits:
                    raise
                effort.failed(found, error, cleaned(said(error), engine.url))
            else:
                effort.succeeded()
                return answer
            effort.pause()

    def tell(self, event: StoreLost | StoreBack) -> None:
        """Pass on what happened to those who watch."""
        if self._told is not None:
            self._told(event)


class _Effort:
    """The attempts at one transaction."""

    def __init__(self, patience: Patience, name: str) -> None:
        self._patience, self._name = patience, name
        self._pause = _FIRST_PAUSE
        self._begun = time.monotonic()
        self._lost: float | None = None
        self._stopped: float | None = None
        self._why = f"no word from it for {QUIET:g} seconds"
        self._cause: exc.SQLAlchemyError | None = None
        self._said = False

    def failed(self, found: Trouble, error: exc.SQLAlchemyError, why: str) -> None:
        """Take in that an attempt failed; raises if there is no use in another."""
        now, self._cause = time.monotonic(), error
        self._lost = self._lost if self._lost is not None else now
        self._why = why
        if found != "locked" or now - self._lost >= _LOCKED:
            self._say(_WORDS[found])
        self.check()

    def waited(self) -> None:
        """Take in that an attempt has not been answered; raises if one should not wait on."""
        now = time.monotonic()
        if self._lost is None and now - self._begun >= QUIET:
            self._lost = now
            self._say(_WORDS["away"])
        self.check()

    def check(self) -> None:
        """Raise if the patience is over, or somebody wants to stop and has waited enough."""
        now = time.monotonic()
        if self._patience.is_stopping():
            self._stopped = self._stopped if self._stopped is not None else now
            grace = self._patience.grace
            if now - self._stopped >= (grace if self._lost is None else min(grace, _LAST)):
                raise AwayError(self._why, self._cause)
        if self._lost is not None and now - self._lost >= self._patience.seconds:
            raise AwayError(self._why, self._cause)

    def succeeded(self) -> None:
        """Take in that an attempt succeeded."""
        if self._said and self._lost is not None:
            away = duration(time.monotonic() - self._lost)
            self._patience.tell(StoreBack(f"the store {self._name} is back, after {away}"))

    def pause(self) -> None:
        """Wait a moment, the longer the more often it failed."""
        until = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _LOOK))
            self.check()

    def _say(self, what: str) -> None:
        if not self._said:
            self._said = True
            seconds = self._patience.seconds
            line = f"the store {self._name} {what}: {self._why}"
            line += f"; it is tried again for {duration(seconds)}"
            self._patience.tell(StoreLost(line, seconds))


def _apart(attempt: Callable[[], Answer], effort: _Effort) -> Answer:
    """Carry out an attempt in a thread of its own, and look meanwhile whether to wait on.

    A client of a server that does not answer sits in the system's calls, where no signal that
    only leaves a note wakes it.
    """
    ended: queue.SimpleQueue[tuple[Answer | None, BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            ended.put((attempt(), None))
        except BaseException as error:
            ended.put((None, error))

    threading.Thread(target=work, daemon=True).start()
    while True:
        try:
            answer, error = ended.get(timeout=_LOOK)
        except queue.Empty:
            effort.waited()
            continue
        if error is not None:
            raise error
        return answer  # type: ignore[return-value]
