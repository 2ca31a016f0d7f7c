"""A store that is watched: opened to be read, and whether anything has changed in it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cellwright.studio.reader import NotWatchedError, Signature, status
from cellwright.trials.store import Store, Study
from cellwright.trials.store.studies import study_by_id
from cellwright.trials.store.urls import SQLITE, parse, shown_place
from cellwright.trials.store.watching import AT_ONCE, moment_of, open_to_watch


class WatchedStore:
    """A SQLite file, or a server's database. Threads may share it.

    Args:
        place: a file's name, or a URL.

    Raises:
        StoreError: it is neither.
    """

    def __init__(self, place: str | Path) -> None:
        url = parse(place)
        self._place = place
        self._file = Path(str(url.database)) if url.get_backend_name() == SQLITE else None
        self._server: Store | None = None
        self._opening = threading.Lock()
        self.title = shown_place(url)
        """Where it is, without a password."""

    def signature(self) -> Signature:
        """What changes whenever a trial does.

        Raises:
            StoreError: the server does not answer.
        """
        if self._file is not None:
            return tuple(status(Path(f"{self._file}{end}")) for end in ("", "-wal"))
        with self.opened() as store:
            return moment_of(store)

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """The store, to read. A file is opened anew each time, since whether somebody works on it
        may have changed; the connection to a server is kept.

        Raises:
            StoreError: it cannot be read, or is away.
        """
        if self._file is not None:
            with open_to_watch(self._place) as store:
                yield store
            return
        with self._opening:
            self._server = self._server or open_to_watch(self._place)
        with self._server.patient(AT_ONCE):
            yield self._server

    @contextmanager
    def study(self, number: int) -> Iterator[tuple[Store, Study]]:
        """One of its studies.

        Raises:
            StoreError: the store cannot be read, or is away.
            NotWatchedError: the study is not there any more.
        """
        with self.opened() as store:
            study = study_by_id(store, number)
            if study is None:
                raise NotWatchedError("the study is gone")
            yield store, study
