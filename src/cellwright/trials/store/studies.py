"""Studies: made, found, listed, removed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from cellwright.base.errors import did_you_mean, shown
from cellwright.runs.earlier import evaluation_of_today
from cellwright.tasks.metric import LOSS, Metric
from cellwright.trials.store.damage import check_row
from cellwright.trials.store.errors import DamagedError, StoreError
from cellwright.trials.store.store import Store, now
from cellwright.trials.store.tables import drivers, studies
from cellwright.trials.task_label import TaskLabel

_LONGEST_NAME = 200


@dataclass(frozen=True)
class Study:
    """What a study is; how far it has come is in its `Overview`.

    Args:
        search: what the method's `state()` says beside its trials and outcomes.
        evaluation: the function that evaluates a trial, by name, and its further arguments.
        window: with a number, outcomes are told in the order of asking, and so many trials are
            open at most.
        target: how many trials the last driver wanted.
        task: what the trials learn; None if it was not said.
    """

    id: int
    name: str
    created_at: float
    search: Mapping[str, Any]
    evaluation: Mapping[str, Any]
    window: int | None
    target: int | None
    task: TaskLabel | None = None

    @property
    def metric(self) -> Metric:
        """What the trials' values are shown as."""
        return LOSS if self.task is None else self.task.metric


def create_study(
    store: Store,
    name: str,
    search: Mapping[str, Any],
    evaluation: Mapping[str, Any],
    *,
    window: int | None = None,
    target: int | None = None,
    task: TaskLabel | None = None,
) -> Study:
    """A new study.

    Raises:
        StoreError: the name is taken, or is none.
    """
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise StoreError(
            f"a study's name is 1 to {_LONGEST_NAME} printable characters, not {shown(name)}"
        )

    def create(connection: Connection) -> Study:
        if connection.execute(select(studies.c.id).filter_by(name=name)).first():
            raise _taken(store, name)
        row = {
            "name": name,
            "created_at": now(connection),
            "search": json.dumps(search, allow_nan=False),
            "evaluation": json.dumps(evaluation, allow_nan=False),
            "order_window": window,
            "target": target,
            "task": None if task is None else task.to_json(),
        }
        connection.execute(insert(studies).values(**row, asked=0, told=0, exhausted=0))
        return _study(connection.execute(select(studies).filter_by(name=name)).one())

    try:
        return store.write(create)
    except StoreError as error:
        if isinstance(error.__cause__, IntegrityError):  # another process was faster
            raise _taken(store, name) from None
        raise


def find_study(store: Store, name: str) -> Study:
    """The study of that name.

    Raises:
        StoreError: there is none; the message names the nearest.
    """
    row = store.read(lambda connection: connection.execute(_named(name)).one_or_none())
    if row is not None:
        return _study(row)
    query = select(studies.c.name).order_by(studies.c.id)
    names = [str(name) for name in store.read(lambda c: c.execute(query).scalars().all())]
    hint = did_you_mean(name, names) or (
        f"; it has {', '.join(names[:5])}{' …' if len(names) > 5 else ''}"
        if names
        else "; it has none yet"
    )
    raise StoreError(f"the store {store.title} has no study {shown(name)}{hint}")


def study_by_id(store: Store, number: int) -> Study | None:
    """The study of that number, unless it was removed meanwhile."""
    query = select(studies).where(studies.c.id == number)
    row = store.read(lambda connection: connection.execute(query).one_or_none())
    return None if row is None else _study(row)


def has_study(store: Store, name: str) -> bool:
    """Whether there is a study of that name."""
    query = select(studies.c.id).where(studies.c.name == name)
    return bool(store.read(lambda connection: connection.execute(query).first()))


def list_studies(store: Store) -> list[Study]:
    """All studies, the oldest first."""
    query = select(studies).order_by(studies.c.id)
    return [_study(row) for row in store.read(lambda c: c.execute(query).all())]


def set_target(store: Store, study: Study, target: int) -> None:
    """Note how many trials are wanted, for those who look at the study."""
    store.write(lambda c: c.execute(update(studies).filter_by(id=study.id).values(target=target)))


def set_search(store: Store, study: Study, search: Mapping[str, Any]) -> None:
    """Write down a search anew, whose method does the same as before."""
    text = json.dumps(search, allow_nan=False)
    store.write(lambda c: c.execute(update(studies).filter_by(id=study.id).values(search=text)))


def delete_study(store: Store, name: str) -> None:
    """Remove a study with its trials. Its cells stay, since others may have them too.

    Raises:
        StoreError: there is none, or somebody works on it.
    """
    study = find_study(store, name)

    def remove(connection: Connection) -> None:
        at_work = select(drivers.c.host).where(
            drivers.c.study_id == study.id, drivers.c.alive_until > now(connection)
        )
        hosts = connection.execute(at_work).scalars().all()
        if hosts:
            raise StoreError(f"somebody works on study {name!r}, on {hosts[0]}; stop that first")
        connection.execute(delete(studies).where(studies.c.id == study.id))

    store.write(remove)


def _named(name: str) -> Any:
    return select(studies).where(studies.c.name == name)


def _taken(store: Store, name: str) -> StoreError:
    return StoreError(f"the store {store.title} has a study {name!r} already")


def _study(row: Any) -> Study:
    try:
        check_row(studies, row)
    except DamagedError as error:
        raise error.of(str(row.name)) from None
    return Study(
        row.id,
        row.name,
        row.created_at,
        json.loads(row.search),
        evaluation_of_today(json.loads(row.evaluation)),
        row.order_window,
        row.target,
        TaskLabel.from_json(row.task),
    )
