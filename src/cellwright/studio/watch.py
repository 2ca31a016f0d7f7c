"""What is watched, how it stands, and what has changed since one last looked.

Looking is cheap: files whose times and sizes are as they were are not read again, and of those that
grow only the new end is.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.studio import benchmark_view, study_view, trial_view
from cellwright.studio.found import Found, find
from cellwright.studio.reader import NotWatchedError, Reader, Signature
from cellwright.studio.rows import NOTHING_KNOWN, Document, Row
from cellwright.studio.watched_store import WatchedStore
from cellwright.trials.store import Store, Study, list_studies
from cellwright.trials.store.errors import DamagedError, StoreError, UnreadableError
from cellwright.trials.store.watching import NoStoreError

AGAIN_SECONDS = 10.0
"""A study at work is looked at so often, also if nothing is written: its driver may have died."""


@dataclass
class Change:
    """What a look has found: rows that are new or other than before, and ids that are gone.

    `trouble` says why nothing can be seen at the moment, where that is so.
    """

    rows: list[Row] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    trouble: str | None = None


@dataclass
class _Watched:
    item: Found
    row: Row
    signature: Signature | None
    study: int | None = None


@dataclass
class _Look:
    """One look: what is there, what has moved, and what that changes."""

    change: Change = field(default_factory=Change)
    seen: set[str] = field(default_factory=set)
    moved: set[str] = field(default_factory=set)


class Watch:
    """A folder, or a store, and all that is in it. Threads may share it.

    Args:
        place: a folder, a SQLite file, or a PostgreSQL URL.

    Raises:
        UserError: there is no such thing.
    """

    def __init__(self, place: str) -> None:
        self._lock = threading.RLock()
        self._known: dict[str, _Watched] = {}
        self._shown: dict[str, _Watched] = {}
        """As the last look left it: who asks need not wait for a look that takes long."""
        self._stores: dict[Path, WatchedStore] = {}
        self._looked: dict[Path, Signature | None] = {}
        self._lost: set[Path] = set()
        self._version = 0
        self.notes: list[str] = []
        self.trouble: str | None = None
        """Why the store that is watched alone cannot be seen at the moment, if that is so."""
        self.root: Path | None = None
        """The folder; None where a store is watched alone."""
        path = Path(place)
        if "://" not in place and path.is_dir():
            self.root = Path(os.path.realpath(path))
            self.title = self.root.name or str(self.root)
        elif "://" not in place and not os.path.lexists(path):
            raise UserError(
                f"{place}: no such folder or store; 'cellwright studio' alone watches this folder"
            )
        else:
            alone = WatchedStore(place)
            with alone.opened() as store:
                list_studies(store)
            self.title = alone.title
            self._stores[Path(alone.title)] = alone
        self._reader = Reader(self.root)
        self.look()

    # -- looking -----------------------------------------------------------------------------

    def look(self) -> Change:
        """Look at everything; what has changed since the last time."""
        with self._lock:
            look = _Look()
            # What is inside comes before what it is in: that one's row is made of theirs.
            for item in reversed(self._find()):
                if item.kind == "store":
                    self._look_at_store(item, look)
                else:
                    self._look_at(item, look)
            for gone in [known for known in self._known if known not in look.seen]:
                del self._known[gone]
                look.change.gone.append(gone)
            look.change.notes, look.change.trouble = self.notes, self.trouble
            self._shown = dict(self._known)
            return look.change

    def _find(self) -> list[Found]:
        if self.root is None:
            return [Found("store", "store", path) for path in self._stores]
        finding = find(self.root)
        notes = []
        if finding.links:
            notes.append(f"{finding.links:,} links to folders are not followed")
        if finding.too_many:
            notes.append("there are too many folders here; watch one of them")
        self.notes = notes
        return finding.found

    def _look_at(self, item: Found, look: _Look) -> None:
        look.seen.add(item.id)
        signature = self._reader.signature(item)
        before = self._known.get(item.id)
        if (
            before is None
            or before.signature != signature
            or before.item != item
            or item.id in look.moved
        ):
            row = self._careful(lambda: self._reader.row(item, self._inside(item.id)))
            self._put(item, row, signature, None, look)

    def _put(
        self, item: Found, row: Row, signature: Signature | None, study: int | None, look: _Look
    ) -> None:
        self._version += 1
        made = {"kind": item.kind, "name": item.path.name, **row}
        made |= {"id": item.id, "parent": item.parent, "version": self._version}
        self._known[item.id] = _Watched(item, made, signature, study)
        look.change.rows.append(made)
        if item.parent is not None:
            look.moved.add(item.parent)

    def _look_at_store(self, item: Found, look: _Look) -> None:
        own = [known for known in self._known.values() if known.item.path == item.path]
        at_work = any(known.row["state"] == "running" for known in own)
        turn = time.monotonic() // AGAIN_SECONDS if at_work else 0
        signature = None
        try:
            store = self._stores.get(item.path) or WatchedStore(item.path)
            self._stores[item.path] = store
            signature = (*store.signature(), turn)
            if self._looked.get(item.path) == signature:
                look.seen.update(known.item.id for known in own)
                return
            with store.opened() as opened:
                for study in list_studies(opened):
                    self._look_at_study(item, opened, study, look)
            self._lost.discard(item.path)
            self.trouble = None
        except NoStoreError:
            pass  # somebody else's database
        except UserError as error:
            # What was known of its studies stays: the store may be away for a moment only.
            look.seen.update(known.item.id for known in own)
            self._lost.add(item.path)
            self._say_lost(item, self._said(error), look)
        self._looked[item.path] = signature

    def _say_lost(self, item: Found, why: str, look: _Look) -> None:
        if self.root is None:
            self.trouble = why
            return
        look.seen.add(item.id)
        before = self._known.get(item.id)
        if before is None or before.row.get("error") != why:
            one = Found(item.id, "study", item.path, item.parent)
            self._put(one, {**NOTHING_KNOWN, "error": why}, None, None, look)

    def _look_at_study(self, item: Found, store: Store, study: Study, look: _Look) -> None:
        one = Found(f"{item.id}:{study.id}", "study", item.path, item.parent)
        look.seen.add(one.id)
        named = {"kind": "study", "name": study.name}
        row = {**named, **self._careful(lambda: study_view.study_row(store, study))}
        before = self._known.get(one.id)
        # Who was told that a store is away asks again once it is back, also if nothing has changed.
        if before is None or item.path in self._lost or not _same(before.row, row):
            self._put(one, row, None, study.id, look)

    def _inside(self, parent: str) -> list[Row]:
        rows = [each.row for each in self._known.values() if each.item.parent == parent]
        return sorted(rows, key=lambda row: (row["created"] or 0.0, row["id"]))

    def _careful(self, row: Callable[[], Row]) -> Row:
        """A row; of what is damaged, one that says so. A store that is away is not damaged."""
        try:
            return row()
        except (UserError, OSError) as error:
            if isinstance(error, StoreError) and not isinstance(error, _DAMAGED):
                raise
            return {**NOTHING_KNOWN, "error": self._said(error)}

    def _said(self, error: Exception) -> str:
        """An error's words, with paths from the folder on: who looks knows where it is."""
        return str(error) if self.root is None else str(error).replace(f"{self.root}/", "")

    # -- answers -----------------------------------------------------------------------------

    def rows(self) -> list[Row]:
        """How everything stands."""
        return [known.row for known in self._shown.values()]

    def detail(self, identity: str) -> Document:
        """All that the page shows of one thing."""
        known = self._find_known(identity)
        if known.row["state"] == "damaged":
            return {"row": known.row, "facts": [], "error": known.row.get("error")}
        try:
            if known.study is None:
                with self._lock:
                    made = self._reader.detail(known.item, self._inside)
            else:
                with self._study(known) as (store, study):
                    made = study_view.study_detail(store, study)
        except NotWatchedError:
            raise
        except (UserError, OSError) as error:
            made = {"facts": [], "error": self._said(error)}
        return {"row": known.row, **made}

    def trials(self, identity: str, since: float) -> Document:
        """The trials of a study, or the architectures of a benchmark, as columns."""
        known = self._find_known(identity)
        if known.item.kind == "benchmark":
            return benchmark_view.architectures_document(known.item.path)
        with self._study(known) as (store, study):
            return trial_view.trials_document(store, study, since)

    def trial(self, identity: str, number: int) -> Document:
        """One of them."""
        known = self._find_known(identity)
        if known.item.kind == "benchmark":
            return benchmark_view.architecture_detail(known.item.path, number)
        with self._study(known) as (store, study):
            return trial_view.trial_detail(store, study, number)

    def cell(self, identity: str, trial: int | None, seed: int | None, place: int) -> Cell:
        """The cell of a training, of a trial, of an epoch of a search, or that a search found.

        Args:
            identity: whose.
            trial: of a study or a benchmark: which trial, or architecture.
            seed: of a search: which seed's epochs are meant; else it is what was found.
            place: which of these epochs, from 0; -1 is the last.
        """
        known = self._find_known(identity)
        if trial is None:
            with self._lock:
                return self._reader.cell(known.item, seed, place)
        if known.item.kind == "benchmark":
            return benchmark_view.architecture_cell(known.item.path, trial)
        with self._study(known) as (store, study):
            return trial_view.trial_cell(store, study, trial)

    def _find_known(self, identity: str) -> _Watched:
        known = self._shown.get(identity)
        if known is None:
            raise NotWatchedError("there is nothing of that name here")
        return known

    def _study(self, known: _Watched) -> AbstractContextManager[tuple[Store, Study]]:
        if known.study is None:
            raise NotWatchedError(f"{known.item.id} has no trials")
        return self._stores[known.item.path].study(known.study)


_DAMAGED = (DamagedError, UnreadableError)
_MOVING = ("left", "rate")


def _same(before: Row, now: Row) -> bool:
    """Whether a row says what it said before, but for what moves by itself."""
    return all(before.get(name) == value for name, value in now.items() if name not in _MOVING)
