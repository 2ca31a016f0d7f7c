"""Looking at a store that others work on, without a write: no lock, no new file, no migration.

`open_store` brings an old store up to date and makes SQLite's log where there is none, which
whoever only watches must not.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Engine, create_engine, exc, func, inspect, or_, select

from cellwright.trials.store.connect import BUSY_SECONDS, connect
from cellwright.trials.store.damage import STATES, damage_named
from cellwright.trials.store.errors import DamagedError, StoreError
from cellwright.trials.store.migrations import is_newest, migrate
from cellwright.trials.store.patience import Patience
from cellwright.trials.store.read_only import as_it_is, copied, is_refused
from cellwright.trials.store.store import Store, now, translated
from cellwright.trials.store.studies import Study
from cellwright.trials.store.tables import drivers, schema, trials
from cellwright.trials.store.urls import SQLITE, parse, shown_place

WATCHED = (
    "number", "state", "status", "value", "cost", "seconds", "parameters", "fidelity", "seed",
    "cell_id", "attempt", "asked_at", "started_at", "ended_at", "info", "error",
)  # fmt: skip
"""What is watched of a trial; `info` is text here, JSON for whoever needs it."""


AT_ONCE = Patience(0.0, told=lambda event: None, waits=("locked",))
"""Who watches says that a server is away, and looks again later; also one that never answers, which
only those notice who could be told of it."""


class NoStoreError(StoreError):
    """A database, but none of cellwright's."""


_TEXTS = ("state", "cell_id", "info")


def open_to_watch(place: str | Path) -> Store:
    """A store to look at once, or for a while if it is a server's.

    A SQLite file is read as it is where nobody works on it, and beside its writers where somebody
    does. One of an older version is read from a copy.

    Raises:
        StoreError: it is not there, not a store, or cannot be read.
    """
    url = parse(place)
    if url.get_backend_name() != SQLITE:
        return _of_a_server(url)
    engine = as_it_is(url) or _beside_writers(url)
    try:
        with engine.begin() as connection:
            if not inspect(connection).has_table(schema.name):
                raise NoStoreError(f"{shown_place(url)} is not a store of studies")
            newest = is_newest(connection)
        if newest:
            return Store(engine, url, only_read=True)
        engine.dispose()
    except NoStoreError:
        engine.dispose()
        raise
    except exc.SQLAlchemyError as error:
        engine.dispose()
        if not is_refused(error):
            raise translated(error, url) from error
    return _of_a_copy(url)


def _of_a_server(url: URL) -> Store:
    store = Store(connect(url, create=False), url, only_read=True)
    try:
        with store.patient(AT_ONCE):
            newest = store.read(is_newest)
        if not newest:
            raise NoStoreError(
                f"{store.title} has no studies that this version knows; 'cellwright studies list' "
                "brings those of an older version up to date"
            )
    except BaseException:
        store.close()
        raise
    return store


def _beside_writers(url: URL) -> Engine:
    path = Path(url.database or "")
    connect(url, create=False).dispose()  # says what is wrong with the path; opens nothing

    def open_file() -> sqlite3.Connection:
        name = f"file:{quote(str(path.absolute()))}?mode=ro"
        return sqlite3.connect(
            name, uri=True, check_same_thread=False, isolation_level=None, timeout=BUSY_SECONDS
        )

    return create_engine(url, creator=open_file)


def _of_a_copy(url: URL) -> Store:
    try:
        engine, folder = copied(url)
        with engine.begin() as connection:
            migrate(connection, shown_place(url))
    except exc.SQLAlchemyError as error:
        raise translated(error, url) from error
    return Store(engine, url, folder, only_read=True)


def trial_columns(store: Store, study: Study, since: float = 0.0) -> dict[str, list[Any]]:
    """The trials of a study as columns, by number: all, or those that have changed.

    Args:
        store: where they are.
        study: whose trials.
        since: only those that were asked, begun or ended from that moment on, by the store's clock,
            and those that have not ended.

    Raises:
        DamagedError: a trial cannot be what was written; the message names it.
    """
    query = select(*(trials.c[name] for name in WATCHED)).where(trials.c.study_id == study.id)
    if since > 0:
        moments = (trials.c.asked_at, trials.c.started_at, trials.c.ended_at)
        open_states = trials.c.state.in_(("waiting", "running"))
        query = query.where(or_(open_states, *(moment >= since for moment in moments)))
    with damage_named(store, study):
        rows = store.read(lambda c: c.execute(query.order_by(trials.c.number)).all())
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in WATCHED]
        found = dict(zip(WATCHED, columns, strict=True))
        _check(found)
    return found


def _check(found: Mapping[str, list[Any]]) -> None:
    """Say so if a value cannot be what was written: SQLite takes text for a number."""
    for name, values in found.items():
        wanted: set[type] = {str} if name in (*_TEXTS, "status", "error") else {int, float}
        if name not in (*_TEXTS, "number"):
            wanted |= {type(None)}
        if set(map(type, values)) <= wanted and (name != "state" or set(values) <= set(STATES)):
            continue
        for place, value in enumerate(values):
            if type(value) not in wanted or (name == "state" and value not in STATES):
                what = f"trial {found['number'][place]}"
                raise DamagedError(f"its {name} cannot be what was written", what)


def origin_of(info: str) -> dict[str, Any]:
    """Where a trial stands in its method, from the text in the store; empty if that is damaged."""
    try:
        value = json.loads(info)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def live_drivers(store: Store, study: Study) -> int:
    """How many drivers have said lately that they are at work."""

    def count(connection: Any) -> int:
        alive = drivers.c.alive_until > now(connection)
        query = select(func.count()).where(drivers.c.study_id == study.id, alive)
        return int(connection.execute(query).scalar_one())

    return store.read(count)


def moment_of(store: Store) -> tuple[Any, ...]:
    """What changes whenever a trial does; cheap to ask a server for."""
    last = (func.max(trials.c[name]) for name in ("asked_at", "started_at", "ended_at"))
    query = select(func.count(), *last)
    seen = select(func.count(), func.max(drivers.c.alive_until))
    return store.read(lambda c: (*c.execute(query).one(), *c.execute(seen).one()))
