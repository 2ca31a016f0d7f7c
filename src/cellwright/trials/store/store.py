"""`Store`: a database of studies, and its two kinds of transactions.

Everything else in this folder is functions over a connection or a store. A transaction is a
function too: it can be run again after the database was away for a moment.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TypeVar

from sqlalchemy import URL, Connection, Engine, exc, text

from cellwright.trials.store.connect import AT_ONCE, SOON, WRITES, connect
from cellwright.trials.store.errors import (
    StoreAwayError,
    StoreError,
    UnreadableError,
    is_unreadable,
    said,
)
from cellwright.trials.store.migrations import is_newest, migrate
from cellwright.trials.store.patience import AwayError, Patience
from cellwright.trials.store.read_only import as_it_is, copied, is_refused
from cellwright.trials.store.urls import POSTGRESQL, SQLITE, cleaned, parse, shown_place

Answer = TypeVar("Answer")

_OPENING = Patience(waits=("locked",))
"""A server that is not there when a store is opened is a mistake, not a restart."""

_LOOKING = Patience(waits=("away", "locked"))


class Store:
    """An open store; made by `open_store`. Threads may share it, processes may not.

    Args:
        engine: the database.
        url: where the store is; the engine's may be that of a copy.
        folder: of that copy, which goes with it.
        only_read: whether nothing may be written.
    """

    def __init__(
        self,
        engine: Engine,
        url: URL | None = None,
        folder: TemporaryDirectory[str] | None = None,
        only_read: bool = False,
    ) -> None:
        self._engine, self._folder, self._only_read = engine, folder, only_read
        self._url = engine.url if url is None else url
        self._mine = threading.local()
        self.title = shown_place(self._url)
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
        if self._only_read:
            raise StoreError(f"the store {self.title} was opened to be read, not to be written to")
        how = {WRITES: SOON if soon else AT_ONCE}
        return self._transact(self._engine.execution_options(**how), action)

    @contextmanager
    def patient(self, patience: Patience) -> Iterator[None]:
        """While this is entered, have such patience with the database, in this thread."""
        before = getattr(self._mine, "patience", _LOOKING)
        self._mine.patience = patience
        try:
            yield
        finally:
            self._mine.patience = before

    def _transact(self, engine: Engine, action: Callable[[Connection], Answer]) -> Answer:
        def attempt() -> Answer:
            with engine.begin() as connection:
                return action(connection)

        patience: Patience = getattr(self._mine, "patience", _LOOKING)
        try:
            return patience.carry_out(attempt, engine, self.title)
        except exc.SQLAlchemyError as error:
            found = translated(error, self._url)
            raise (UnreadableError(str(found)) if is_unreadable(error) else found) from error
        except AwayError as error:
            raise StoreAwayError(f"cannot use the store {self.title}: {error}") from error.cause

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_store(place: str | Path, *, create: bool = True, only_read: bool = False) -> Store:
    """Open a store; an old one is brought to the newest version first.

    Args:
        place: a file's name, for SQLite, or a URL: postgresql://user:password@host:5432/name.
        create: whether to make it if it is not there.
        only_read: whether to look at it and nothing else. Then it is not made, and a file may be
            where nothing can be written.

    Raises:
        StoreError: it is not there, not a store, of a newer version, or cannot be opened.
    """
    url = parse(place)
    engine = connect(url, create=create and not only_read)
    try:
        _bring_up_to_date(engine, url)
        return Store(engine, url, only_read=only_read)
    except exc.SQLAlchemyError as error:
        engine.dispose()
        refused = only_read and url.get_backend_name() == SQLITE and is_refused(error)
        if not refused:
            raise translated(error, url) from error
    except AwayError as error:
        engine.dispose()
        raise StoreAwayError(f"cannot use the store {shown_place(url)}: {error}") from error.cause
    except BaseException:
        engine.dispose()
        raise
    try:
        return _open_read_only(url)
    except exc.SQLAlchemyError as error:
        raise translated(error, url) from error


def _bring_up_to_date(engine: Engine, url: URL) -> None:
    def look() -> bool:  # to look at a store must not wait for its writers
        with engine.begin() as connection:
            return is_newest(connection)

    def change() -> None:
        with engine.execution_options(**{WRITES: AT_ONCE}).begin() as connection:
            migrate(connection, shown_place(url))

    if not _OPENING.carry_out(look, engine, shown_place(url)):
        _OPENING.carry_out(change, engine, shown_place(url))


def _open_read_only(url: URL) -> Store:
    """A SQLite store that must not be written to."""
    engine = as_it_is(url)
    if engine is not None:
        with engine.begin() as connection:
            newest = is_newest(connection)
        if newest:
            return Store(engine, url, only_read=True)
        engine.dispose()
    # Of an older version, or with a log beside it: a copy can be brought up to date.
    engine, folder = copied(url)
    try:
        _bring_up_to_date(engine, url)
    except BaseException:
        engine.dispose()
        folder.cleanup()
        raise
    return Store(engine, url, folder, only_read=True)


def translated(error: exc.SQLAlchemyError, url: URL) -> StoreError:
    """A database's error as one sentence with a hint, and without the password."""
    return StoreError(f"cannot use the store {shown_place(url)}: {cleaned(said(error), url)}")


def now(connection: Connection) -> float:
    """The time in seconds, by the one clock that all who share the store have."""
    if connection.dialect.name == POSTGRESQL:
        query = text("SELECT extract(epoch FROM clock_timestamp())")
        return float(connection.execute(query).scalar_one())
    return time.time()
