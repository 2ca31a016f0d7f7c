"""Drivers: who works on a study, for how long that is believed, and what becomes of the dead.

A driver has a lease that it renews. Its claims on trials, and its being the leader (the one that
asks and tells), hold as long as its row is there. The row of a driver whose lease has run out,
or whose process is seen to be gone, is removed by whichever driver notices first.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, update

from cellwright.trials.retries import Retries
from cellwright.trials.store.damage import check_row
from cellwright.trials.store.places import Place, here
from cellwright.trials.store.store import Store, now
from cellwright.trials.store.studies import Study
from cellwright.trials.store.tables import drivers, studies, trials
from cellwright.trials.store.trials import (
    FAILED,
    FINISHED,
    LOST,
    RUNNING,
    STOPPED,
    WAITING,
    end_attempt,
)


@dataclass(frozen=True)
class Driver:
    """Somebody who works on a study."""

    id: str
    study_id: int
    place: Place
    lease: float


@dataclass(frozen=True)
class Situation:
    """How a study stands, as far as a driver has to know it."""

    asked: int
    told: int
    exhausted: bool
    leader: str | None
    """The leader that is alive."""
    slots: int
    """How many trials all drivers together can run at once."""
    waiting: int
    ended: int
    """How many trials have ended and were not told."""


def join_study(store: Store, study: Study, slots: int, lease: float) -> Driver:
    """A new driver of a study; its lease runs for `lease` seconds."""
    driver = Driver(uuid.uuid4().hex, study.id, here(), lease)
    store.write(lambda connection: _insert(connection, driver, slots))
    return driver


def renew(
    store: Store, driver: Driver, slots: int, unless: Callable[[], bool] = lambda: False
) -> bool:
    """Renew the lease. False if it had run out and somebody noticed: then what the driver had
    claimed is no longer its own, but it may claim again.

    Args:
        unless: whether the driver has left by now: a renewal that took long must not bring it back.
    """

    def beat(connection: Connection) -> bool:
        if unless():
            return False
        until = now(connection) + driver.lease
        query = update(drivers).where(drivers.c.id == driver.id)
        if connection.execute(query.values(alive_until=until, slots=slots)).rowcount:
            return True
        _insert(connection, driver, slots)
        return False

    return store.write(beat, soon=True)


def leave_study(store: Store, driver: Driver) -> None:
    """Be no driver any more. What it still has claimed goes back; that is nobody's fault."""
    store.write(lambda c: _remove(c, driver.study_id, driver.id, STOPPED, Retries()))


_given_up: set[str] = set()
"""Drivers of this process that ended while the store was away. Their process lives on, so that the
next driver in it could not tell otherwise that they are gone."""


def give_up(driver: Driver) -> None:
    """Be no driver any more, without being able to say so to the store."""
    _given_up.add(driver.id)


def remove_dead(store: Store, driver: Driver, retries: Retries) -> int:
    """Remove all other drivers of the study that are dead; how many there were."""

    def remove(connection: Connection) -> int:
        at = now(connection)
        query = select(drivers).where(
            drivers.c.study_id == driver.study_id, drivers.c.id != driver.id
        )
        dead = 0
        for row in connection.execute(query).all():
            check_row(drivers, row, "a driver")
            place = Place(row.host, row.place, row.pid, row.process)
            if row.id in _given_up or row.alive_until < at or place.has_ended():
                dead += _remove(connection, driver.study_id, row.id, LOST, retries)
        return dead

    return store.write(remove) if _others(store, driver) else 0


def lead(store: Store, driver: Driver) -> bool:
    """Try to become the leader; True if the driver is it now."""

    def take(connection: Connection) -> bool:
        alive = select(drivers.c.id).where(drivers.c.study_id == driver.study_id)
        free = or_(
            studies.c.leader.is_(None),
            studies.c.leader == driver.id,
            studies.c.leader.not_in(alive),
        )
        query = update(studies).where(studies.c.id == driver.study_id, free)
        return bool(connection.execute(query.values(leader=driver.id)).rowcount)

    return store.write(take)


_OPEN = (
    select(trials.c.state, func.count())
    .where(trials.c.study_id == bindparam("study"), trials.c.told.is_(None))
    .group_by(trials.c.state)
)
_STANDING = select(
    studies.c.asked,
    studies.c.told,
    studies.c.exhausted,
    select(drivers.c.id).where(drivers.c.id == studies.c.leader).scalar_subquery(),
    select(func.coalesce(func.sum(drivers.c.slots), 0))
    .where(drivers.c.study_id == bindparam("study"))
    .scalar_subquery(),
).where(studies.c.id == bindparam("study"))


def situation(connection: Connection, study_id: int) -> Situation:
    """How the study stands now."""
    counts: dict[str, int] = {
        row[0]: row[1] for row in connection.execute(_OPEN, {"study": study_id})
    }
    standing = connection.execute(_STANDING, {"study": study_id}).one()
    check_row(studies, standing)
    asked, told, exhausted, leader, slots = standing
    ended = counts.get(FINISHED, 0) + counts.get(FAILED, 0)
    waiting = counts.get(WAITING, 0)
    return Situation(asked, told, bool(exhausted), leader, int(slots), waiting, ended)


def _others(store: Store, driver: Driver) -> bool:
    query = select(drivers.c.id).where(
        drivers.c.study_id == driver.study_id, drivers.c.id != driver.id
    )
    return bool(store.read(lambda connection: connection.execute(query).first()))


def _insert(connection: Connection, driver: Driver, slots: int) -> None:
    connection.execute(delete(drivers).where(drivers.c.id == driver.id))
    row = {
        "id": driver.id,
        "study_id": driver.study_id,
        "host": driver.place.host,
        "place": driver.place.machine,
        "pid": driver.place.pid,
        "process": driver.place.process,
        "slots": slots,
        "alive_until": now(connection) + driver.lease,
    }
    connection.execute(insert(drivers).values(**row))


def _remove(
    connection: Connection, study_id: int, driver_id: str, ending: str, retries: Retries
) -> int:
    """Remove a driver and give back its trials; 1 if it was there."""
    gone = connection.execute(delete(drivers).where(drivers.c.id == driver_id)).rowcount
    if gone:
        claims = select(trials.c.id, trials.c.attempt).where(
            trials.c.study_id == study_id,
            trials.c.told.is_(None),
            trials.c.state == RUNNING,
            trials.c.driver_id == driver_id,
        )
        for trial_id, attempt in connection.execute(claims.order_by(trials.c.id)).all():
            end_attempt(connection, trial_id, attempt, ending, "its driver is gone", retries)
    return gone
