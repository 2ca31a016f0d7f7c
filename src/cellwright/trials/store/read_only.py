"""A SQLite store on a medium, or in a folder, that must not be written to: to be read all the same.

SQLite keeps a log and an index of it beside a database that several may use at once, and makes them
to read as well. Where it cannot, there are two ways. If there is no log with something in it, then
nobody works on the file, and its pages are all there is: SQLite reads them as those of a file that
nobody changes (`immutable`). Else the file and its log are copied to where one may write.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL, Engine, create_engine, exc

from cellwright.base.errors import reason
from cellwright.trials.store.connect import connect
from cellwright.trials.store.errors import StoreError
from cellwright.trials.store.urls import SQLITE

_REFUSALS = ("unable to open database file", "readonly database")


def is_refused(error: exc.SQLAlchemyError) -> bool:
    """Whether SQLite says that it must not write where it would have to."""
    text = str(getattr(error, "orig", error)).lower()
    return any(words in text for words in _REFUSALS)


def as_it_is(url: URL) -> Engine | None:
    """An engine that reads the file as one that nobody changes; None where its log is needed."""
    path = Path(url.database or "")
    log = path.with_name(f"{path.name}-wal")
    if not path.is_file() or (log.exists() and log.stat().st_size):
        return None

    def open_file() -> sqlite3.Connection:
        name = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        return sqlite3.connect(name, uri=True, check_same_thread=False, isolation_level=None)

    return create_engine(url, creator=open_file)


def copied(url: URL) -> tuple[Engine, tempfile.TemporaryDirectory[str]]:
    """An engine on a copy, and the folder that the copy is in.

    Raises:
        StoreError: the file cannot be read, or there is no room for a copy.
    """
    path = Path(url.database or "")
    folder = tempfile.TemporaryDirectory(prefix="cellwright-store-")
    try:
        for each in (path, path.with_name(f"{path.name}-wal")):
            if each.exists():
                shutil.copyfile(each, Path(folder.name) / each.name)
    except OSError as error:
        folder.cleanup()
        raise StoreError(
            f"cannot read the store {path}, which must not be written to, from a copy: "
            f"{reason(error)}"
        ) from None
    return connect(URL.create(SQLITE, database=f"{folder.name}/{path.name}"), create=False), folder
