"""A search's log: which trials were asked and which outcomes told, in which order.

A black-box method is its settings and its log, so this is all that a method needs to go on. Only
a study's leader writes it. Each of its transactions says where the log was when it was read, and
does nothing (`OvertakenError`) if the log has moved since or the leader is another one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from cellwright.run.store.connect import POSTGRESQL
from cellwright.run.store.errors import OvertakenError
from cellwright.run.store.store import now
from cellwright.run.store.tables import cells, curves, studies, trials
from cellwright.run.store.trials import FAILED, FINISHED, WAITING, trial_json, with_cells

_AT_ONCE = 500
"""Fewer than SQLite's oldest limit on the parameters of one statement."""


@dataclass(frozen=True)
class Log:
    """A method's log, in the form of its `state()`."""

    trials: list[dict[str, Any]]
    outcomes: list[dict[str, Any]]


@dataclass(frozen=True)
class NewTrial:
    """A trial as its method wrote it, and the id of its cell."""

    cell_id: str
    trial: Mapping[str, Any]


@dataclass(frozen=True)
class Told:
    """That an outcome was told, after so many trials had been asked."""

    number: int
    after: int


@dataclass(frozen=True)
class Step:
    """How a leader moves the log on from where it was.

    Args:
        asked, told: the length of the log's two parts before.
        outcomes: what was told, in the order of telling.
        trials: what was asked.
        exhausted: whether the method will never ask again.
    """

    asked: int
    told: int
    outcomes: Sequence[Told]
    trials: Sequence[NewTrial]
    exhausted: bool


def read_log(connection: Connection, study_id: int) -> Log:
    """The whole log."""
    of_study = trials.c.study_id == study_id
    query = with_cells(of_study).order_by(trials.c.number)
    told = _outcomes(connection, of_study & trials.c.told.is_not(None), trials.c.told)
    return Log(
        [trial_json(row) for row in connection.execute(query)],
        [{**_outcome(row), "trials": row.told_after} for row in told],
    )


def read_ended(connection: Connection, study_id: int) -> list[dict[str, Any]]:
    """The outcomes that are to be told, in the order in which they came."""
    ended = (
        (trials.c.study_id == study_id)
        & trials.c.told.is_(None)
        & trials.c.state.in_((FINISHED, FAILED))
    )
    rows = _outcomes(connection, ended, trials.c.ended_at, trials.c.number)
    return [{**_outcome(row), "error": row.error} for row in rows]


def write_step(connection: Connection, study_id: int, leader: str, step: Step) -> None:
    """Move the log on.

    Raises:
        OvertakenError: somebody else has; nothing is written.
    """
    asked, told = step.asked + len(step.trials), step.told + len(step.outcomes)
    as_read = (
        (studies.c.id == study_id)
        & (studies.c.leader == leader)
        & (studies.c.asked == step.asked)
        & (studies.c.told == step.told)
    )
    values = {"asked": asked, "told": told, "exhausted": int(step.exhausted)}
    if not connection.execute(update(studies).where(as_read).values(**values)).rowcount:
        raise OvertakenError
    for place, outcome in enumerate(step.outcomes, step.told):
        connection.execute(
            update(trials)
            .where(trials.c.study_id == study_id, trials.c.number == outcome.number)
            .values(told=place, told_after=outcome.after)
        )
    if step.trials:
        _insert(connection, study_id, step.trials)


def _insert(connection: Connection, study_id: int, new: Sequence[NewTrial]) -> None:
    known = _keep_cells(connection, {item.cell_id: item.trial["cell"] for item in reversed(new)})
    at = now(connection)
    rows = [
        {
            "study_id": study_id,
            "number": item.trial["number"],
            "cell_id": item.cell_id,
            "cell_json": None if known[item.cell_id] == item.trial["cell"] else item.trial["cell"],
            "fidelity": item.trial["fidelity"],
            "seed": item.trial["seed"],
            "info": json.dumps(item.trial["info"], allow_nan=False),
            "state": WAITING,
            "attempt": 0,
            "failures": 0,
            "losses": 0,
            "asked_at": at,
        }
        for item in new
    ]
    connection.execute(insert(trials), rows)


def _keep_cells(connection: Connection, texts: Mapping[str, str]) -> dict[str, str]:
    """Keep cells that are not there yet; the text that is kept of each."""
    rows = [{"id": key, "json": text} for key, text in sorted(texts.items())]
    dialect = postgresql if connection.dialect.name == POSTGRESQL else sqlite
    connection.execute(dialect.insert(cells).on_conflict_do_nothing(), rows)
    kept: dict[str, str] = {}
    for some in _parts(list(texts)):
        query = select(cells.c.id, cells.c.json).where(cells.c.id.in_(some))
        kept |= {row.id: row.json for row in connection.execute(query)}
    return kept


def _parts(items: Sequence[str]) -> Iterable[Sequence[str]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))


def _outcomes(
    connection: Connection, which: ColumnElement[bool], *order: ColumnElement[Any]
) -> Sequence[Any]:
    own = ("number", "told_after", "value", "status", "cost", "error")
    columns = [getattr(trials.c, name) for name in own]
    curve = (curves.c.trial_id == trials.c.id) & (curves.c.name == "valid")
    query = select(*columns, curves.c.numbers).join_from(trials, curves, curve, isouter=True)
    return connection.execute(query.where(which).order_by(*order)).all()


def _outcome(row: Any) -> dict[str, Any]:
    return {
        "number": row.number,
        "value": row.value,
        "status": row.status,
        "cost": row.cost,
        "curve": json.loads(row.numbers) if row.numbers else [],
    }
