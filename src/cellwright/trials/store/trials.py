"""A trial's life: waiting, running, and then finished or failed, once and for ever.

Whoever runs a trial has claimed it, which gives the attempt a number. An outcome counts only if it
names the last attempt, and only the first time; so it does not matter how often, or by whom, it is
brought. An attempt that came to nothing puts the trial back, until there were too many.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, insert, select, update

from cellwright.trials.outcome import Outcome
from cellwright.trials.retries import Retries
from cellwright.trials.store.damage import STATES, check_row
from cellwright.trials.store.store import now
from cellwright.trials.store.tables import attempts, cells, curves, drivers, trials

WAITING, RUNNING, FINISHED, FAILED = STATES

LOST = "lost"
"""How an attempt ended whose driver, or whose machine, is gone."""

STOPPED = "stopped"
"""How an attempt ended that a person stopped."""

_LONGEST_MESSAGE = 4000


@dataclass(frozen=True)
class Claim:
    """A trial that a driver may run now, as the attempt of this number."""

    trial_id: int
    number: int
    attempt: int
    cell_id: str
    trial: Mapping[str, Any]
    """The trial as JSON values, as the method that asked for it wrote it."""


def claim(
    connection: Connection, study_id: int, driver_id: str, host: str, most: int
) -> list[Claim]:
    """Take up to `most` waiting trials, the first ones first. Nobody else gets the same.

    A driver that was removed as dead gets nothing, since nobody would look after its claims.
    """
    if connection.execute(_ALIVE, {"driver": driver_id}).first() is None:
        return []
    rows = connection.execute(_FIRST_WAITING, {"study": study_id, "most": most}).all()
    if not rows:
        return []
    for row in rows:
        check_row(trials, row, f"trial {row.number}")
    at = now(connection)
    taken = [
        {"trial": row.id, "next": row.attempt + 1, "driver": driver_id, "host": host, "at": at}
        for row in rows
    ]
    connection.execute(_TAKE, taken)
    connection.execute(_NOTE_START, taken)
    return [_claimed(row, row.attempt + 1) for row in rows]


def claimed(connection: Connection, study_id: int, driver_id: str) -> list[Claim]:
    """What a driver has claimed."""
    query = with_cells(trials.c.study_id == study_id).where(
        trials.c.told.is_(None), trials.c.state == RUNNING, trials.c.driver_id == driver_id
    )
    return [_claimed(row, row.attempt) for row in connection.execute(query).all()]


def finish(
    connection: Connection,
    claim: Claim,
    result: Mapping[str, Any],
    seconds: float | None = None,
    peak_memory: int | None = None,
) -> bool:
    """Keep the outcome of an attempt. True if it counts: if it is the first for this trial, and no
    later attempt has begun.

    Args:
        result: the outcome, with whatever else was measured (see `Outcome.from_json`).
        seconds: how long the attempt took by the wall clock.
        peak_memory: of the process, unless the result has its own.
    """
    outcome = Outcome.from_json(result)
    values = outcome.to_json()
    known = ("value", "status", "cost", "curve", "curves", "parameters", "peak_memory")
    measures = {name: value for name, value in values.items() if name not in known}
    at = now(connection)
    row = {
        "trial": claim.trial_id,
        "as_attempt": claim.attempt,
        "state": FINISHED,
        "ended_at": at,
        "status": outcome.status,
        "value": values["value"],
        "cost": outcome.cost,
        "seconds": seconds,
        "parameters": outcome.parameters,
        "peak_memory": peak_memory if outcome.peak_memory is None else outcome.peak_memory,
        "measures": json.dumps(measures) if measures else None,
    }
    if not connection.execute(_FINISH, row).rowcount:
        return False
    for name, numbers in {**values.get("curves", {}), "valid": values["curve"]}.items():
        curve = {"trial_id": claim.trial_id, "name": name, "numbers": json.dumps(numbers)}
        connection.execute(_KEEP_CURVE, curve)
    _note_end(connection, claim.trial_id, claim.attempt, at, FINISHED, None)
    return True


def end_attempt(
    connection: Connection,
    trial_id: int,
    attempt: int,
    ending: str,
    message: str,
    retries: Retries,
) -> str | None:
    """Keep that an attempt came to nothing. The trial's state now, or None if the attempt was not
    its current one.

    Args:
        ending: `LOST`, `STOPPED`, or the kind of failure.
        message: what happened; the last failure's is kept with the trial.
        retries: how often that may happen. What a person stopped is not counted.
    """
    query = select(trials.c.failures, trials.c.losses).where(_is_open(trial_id, attempt, RUNNING))
    row = connection.execute(query.with_for_update()).one_or_none()
    if row is None:
        return None
    check_row(trials, row, "a trial")
    at = now(connection)
    failures = row.failures + (ending not in (LOST, STOPPED))
    losses = row.losses + (ending == LOST)
    over = retries.used_up(failures, losses)
    text = _storable(message)
    values: dict[str, Any] = {
        "state": WAITING,
        "driver_id": None,
        "failures": failures,
        "losses": losses,
    }
    if over:
        values |= {"state": FAILED, "status": FAILED, "ended_at": at, "error": text}
        values["cost"] = values["seconds"] = _time_spent(connection, trial_id, at)
    connection.execute(update(trials).where(trials.c.id == trial_id).values(**values))
    _note_end(connection, trial_id, attempt, at, ending, text)
    return FAILED if over else WAITING


def with_cells(which: ColumnElement[bool]) -> Any:
    text = func.coalesce(trials.c.cell_json, cells.c.json).label("cell")
    columns = [getattr(trials.c, name) for name in _CLAIMED]
    return select(*columns, text).join_from(trials, cells).where(which)


_CLAIMED = ("id", "number", "attempt", "cell_id", "fidelity", "seed", "info")


def trial_json(row: Any) -> dict[str, Any]:
    """A trial as its method wrote it."""
    check_row(trials, row, f"trial {row.number}")
    return {
        "number": row.number,
        "cell": row.cell,
        "fidelity": row.fidelity,
        "seed": row.seed,
        "info": json.loads(row.info),
    }


def _claimed(row: Any, attempt: int) -> Claim:
    return Claim(row.id, row.number, attempt, row.cell_id, trial_json(row))


def _is_open(trial_id: Any, attempt: Any, *states: str) -> ColumnElement[bool]:
    current = and_(trials.c.id == trial_id, trials.c.attempt == attempt)
    return and_(current, trials.c.state.in_(states))


def _storable(message: str) -> str:
    """The message without what databases do not take, and not too long."""
    text = message.strip()[:_LONGEST_MESSAGE].replace("\0", "")
    return text.encode("utf-8", "replace").decode()


def _note_end(
    connection: Connection, trial_id: int, attempt: int, at: float, ending: str, message: str | None
) -> None:
    known = {"trial": trial_id, "as_attempt": attempt}
    connection.execute(_NOTE_END, {**known, "ended_at": at, "ending": ending, "message": message})


def _time_spent(connection: Connection, trial_id: int, at: float) -> float:
    """Seconds of all attempts, the current one included."""
    spent = func.sum(func.coalesce(attempts.c.ended_at, at) - attempts.c.started_at)
    query = select(spent).where(attempts.c.trial_id == trial_id)
    return float(connection.execute(query).scalar() or 0.0)


# What a driver says for every trial, put together once: that takes longer than to execute it.

_ALIVE = (
    select(drivers.c.id)
    .where(drivers.c.id == bindparam("driver"))
    .with_for_update(read=True, key_share=True)  # not to be removed before its claims are there
)
_FIRST_WAITING = (
    with_cells(trials.c.study_id == bindparam("study"))
    .where(trials.c.told.is_(None), trials.c.state == WAITING)
    .order_by(trials.c.number)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True, of=trials)  # SQLite has one writer at a time anyway
)
_TAKE = (
    update(trials)
    .where(trials.c.id == bindparam("trial"))
    .values(
        state=RUNNING,
        attempt=bindparam("next"),
        driver_id=bindparam("driver"),
        started_at=bindparam("at"),
    )
)
_NOTE_START = insert(attempts).values(
    trial_id=bindparam("trial"),
    number=bindparam("next"),
    driver_id=bindparam("driver"),
    host=bindparam("host"),
    started_at=bindparam("at"),
)
_FINISH = (
    update(trials)
    # An attempt that was given up, and not begun again yet, is welcome all the same.
    .where(_is_open(bindparam("trial"), bindparam("as_attempt"), WAITING, RUNNING))
    .values(
        {
            name: bindparam(name)
            for name in (
                "state", "ended_at", "status", "value", "cost", "seconds", "parameters",
                "peak_memory", "measures",
            )
        }
    )
)  # fmt: skip
_KEEP_CURVE = insert(curves)
_NOTE_END = (
    update(attempts)
    .where(attempts.c.trial_id == bindparam("trial"), attempts.c.number == bindparam("as_attempt"))
    .values({name: bindparam(name) for name in ("ended_at", "ending", "message")})
)
