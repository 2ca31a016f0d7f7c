"""From a URL to a database that behaves as the store needs it."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event

from cellwright.trials.store.errors import StoreError
from cellwright.trials.store.urls import SQLITE

BUSY_SECONDS = 1.0
"""How long SQLite itself waits for another writer. It does so where no signal is heard, so it is
short; `patience` waits on. Transactions here take milliseconds."""

WRITES = "cellwright_writes"
"""The execution option of connections that will write: how soon the disk has to have it, by the
words that SQLite has for that."""

AT_ONCE, SOON = "FULL", "NORMAL"

# A server notices within a minute that a machine has vanished, instead of after two hours; and so
# do we that a server has.
_SERVER = (
    "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3 "
    "-c statement_timeout=600000"
)
_CLIENT = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}


def connect(url: URL, *, create: bool) -> Engine:
    """An engine whose connections are set up; the first connection is made later."""
    if url.get_backend_name() == SQLITE:
        return _sqlite(url, create)
    try:
        engine = create_engine(
            url,
            pool_pre_ping=True,
            connect_args={
                "connect_timeout": 10,
                "application_name": "cellwright",
                "options": _SERVER,
                **_CLIENT,
            },
        )
    except ImportError:
        raise StoreError(
            "a PostgreSQL store needs the package psycopg: pip install 'cellwright[postgres]'"
        ) from None
    return engine


def _sqlite(url: URL, create: bool) -> Engine:
    path = Path(url.database or "")
    if path.is_dir():
        raise StoreError(f"{path} is a folder; a store is a file, such as {path / 'studies.db'}")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is a device or a pipe; a store is a file")
    if not create and not path.exists():
        raise StoreError(f"there is no store {path}")
    if not path.parent.is_dir():
        raise StoreError(f"cannot make the store {path}: there is no folder {path.parent}")
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, record: Any) -> None:
        # Python's module would begin transactions by itself, and only before some statements.
        connection.isolation_level = None
        cursor = connection.cursor()
        _use_write_ahead_log(cursor)  # readers and the writer do not wait for each other
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that reads first and writes later could find that another has written in
        # between, and fail; so those that write say so at once.
        writes = connection.get_execution_options().get(WRITES)
        if writes is not None:
            connection.exec_driver_sql(f"PRAGMA synchronous = {writes}")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes is not None else "BEGIN")

    return engine


def _use_write_ahead_log(cursor: sqlite3.Cursor) -> None:
    """Change a new file's journal. Where several processes open it at once, SQLite tells all but
    one that it is locked, without the wait that it gives to writers."""
    latest = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > latest:
                raise
            time.sleep(0.02)
