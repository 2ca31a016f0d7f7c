"""`Store`: a database of studies, and its two kinds of transactions.

Everything else in this folder is functions over a connection or a store. A transaction is a
function too: it can be run again after the database was away for a moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from sqlalchemy import Connection, Engine, exc, text

from cellwright.trials.store.connect import AT_ONCE, SOON, WRITES, connect
from cellwright.trials.store.errors import StoreError, passing, said
from cellwright.trials.store.migrations import is_newest, migrate
from cellwright.trials.store.urls import POSTGRESQL, cleaned, parse, shown_place

Answer = TypeVar("Answer")

PATIENCE = 60.0
"""Seconds for which a database that was there before may be away, as when a server restarts."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0


class Store:
    """An open store; made by `open_store`. Threads may share it, processes may not."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.title = shown_place(engine.url)
        """The store in a message: its file, or its URL without the password."""

    def read(self, action: Callable[[Connection], Answer]) -> Answer:
        """What `action` gives, which sees the store as it is at one moment."""
        return self._transact(self._engine, action)

    def write(self, action: Callable[[Connection], Answer], *, soon: bool = False) -> Answer:
        """The same with an `action` that writes: all of it happens, or nothing.

        A database may vanish just when it has been told to commit. The action then runs again,
        though its first run counted: actions are such that this does no harm.

        Args:
            soon: what is written survives any kill, and a power cut a moment later; with SQLite
                that saves waiting for the disk. For what would just come about again.
        """
        how = {WRITES: SOON if soon else AT_ONCE}
        return self._transact(self._engine.execution_options(**how), action)

    def _transact(self, engine: Engine, action: Callable[[Connection], Answer]) -> Answer:
        pause, give_up = _FIRST_PAUSE, time.monotonic() + PATIENCE
        while True:
            try:
                with engine.begin() as connection:
                    return action(connection)
            except exc.SQLAlchemyError as error:
                if not passing(error) or time.monotonic() > give_up:
                    raise translated(error, engine) from error
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_store(place: str | Path, *, create: bool = True) -> Store:
    """Open a store; an old one is brought to the newest version first.

    Args:
        place: a file's name, for SQLite, or a URL: postgresql://user:password@host:5432/name.
        create: whether to make it if it is not there.

    Raises:
        StoreError: it is not there, not a store, of a newer version, or cannot be opened.
    """
    engine = connect(parse(place), create=create)
    try:
        with engine.begin() as connection:  # to look at a store must not wait for its writers
            ready = is_newest(connection)
        if not ready:
            with engine.execution_options(**{WRITES: AT_ONCE}).begin() as connection:
                migrate(connection, shown_place(engine.url))
    except exc.SQLAlchemyError as error:
        engine.dispose()
        raise translated(error, engine) from error
    except BaseException:
        engine.dispose()
        raise
    return Store(engine)


def translated(error: exc.SQLAlchemyError, engine: Engine) -> StoreError:
    """A database's error as one sentence with a hint, and without the password."""
    why = cleaned(said(error), engine.url)
    return StoreError(f"cannot use the store {shown_place(engine.url)}: {why}")


def now(connection: Connection) -> float:
    """The time in seconds, by the one clock that all who share the store have."""
    if connection.dialect.name == POSTGRESQL:
        query = text("SELECT extract(epoch FROM clock_timestamp())")
        return float(connection.execute(query).scalar_one())
    return time.time()
