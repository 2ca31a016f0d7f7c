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

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from cellwright.trials.store.damage import check_row
from cellwright.trials.store.errors import OvertakenError
from cellwright.trials.store.store import now
from cellwright.trials.store.tables import cells, curves, studies, trials
from cellwright.trials.store.trials import FAILED, FINISHED, WAITING, trial_json, with_cells
from cellwright.trials.store.urls import POSTGRESQL

_OUTCOME = ("number", "told_after", "value", "status", "cost", "error")

_AT_ONCE = 500
"""Fewer than SQLite's oldest limit on the parameters of one statement."""


@dataclass(frozen=True)
class Log:
    """A method's log, in the form of its `state()`; `asked` and `told` are what the study says of
    its length."""

    trials: list[dict[str, Any]]
    outcomes: list[dict[str, Any]]
    asked: int
    told: int

    @property
    def is_whole(self) -> bool:
        """Whether it is as long as the study says, and nothing is missing in between."""
        numbers = [trial["number"] for trial in self.trials]
        lengths = (len(self.trials), len(self.outcomes))
        return numbers == list(range(self.asked)) and lengths == (self.asked, self.told)


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
    of_study = {"study": study_id}
    length = connection.execute(_LENGTH, of_study).one()
    check_row(studies, length)
    return Log(
        [trial_json(row) for row in connection.execute(_TRIALS, of_study)],
        [
            {**_outcome(row), "trials": row.told_after}
            for row in connection.execute(_TOLD, of_study)
        ],
        length.asked,
        length.told,
    )


def read_ended(connection: Connection, study_id: int) -> list[dict[str, Any]]:
    """The outcomes that are to be told, in the order in which they came."""
    rows = connection.execute(_ENDED, {"study": study_id})
    return [{**_outcome(row), "error": row.error} for row in rows]


def write_step(connection: Connection, study_id: int, leader: str, step: Step) -> None:
    """Move the log on.

    Raises:
        OvertakenError: somebody else has; nothing is written.
    """
    asked, told = step.asked + len(step.trials), step.told + len(step.outcomes)
    as_read = {"study": study_id, "by": leader, "asked_then": step.asked, "told_then": step.told}
    values = {"asked": asked, "told": told, "exhausted": int(step.exhausted)}
    if not connection.execute(_MOVE, {**as_read, **values}).rowcount:
        raise OvertakenError
    if step.outcomes:
        rows = [
            {"study": study_id, "trial": outcome.number, "told": place, "told_after": outcome.after}
            for place, outcome in enumerate(step.outcomes, step.told)
        ]
        connection.execute(_TELL, rows)
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


def _outcome(row: Any) -> dict[str, Any]:
    what = f"trial {row.number}"
    check_row(trials, row, what)
    if row.numbers is not None:
        check_row(curves, row, what)
    return {
        "number": row.number,
        "value": row.value,
        "status": row.status,
        "cost": row.cost,
        "curve": json.loads(row.numbers) if row.numbers else [],
    }


# Put together once, since that takes longer than to execute them.

_OF_STUDY = trials.c.study_id == bindparam("study")
_OUTCOMES = select(*(getattr(trials.c, name) for name in _OUTCOME), curves.c.numbers).join_from(
    trials, curves, (curves.c.trial_id == trials.c.id) & (curves.c.name == "valid"), isouter=True
)
_LENGTH = select(studies.c.asked, studies.c.told).where(studies.c.id == bindparam("study"))
_TRIALS = with_cells(_OF_STUDY).order_by(trials.c.number)
_TOLD = _OUTCOMES.where(_OF_STUDY, trials.c.told.is_not(None)).order_by(trials.c.told)
_ENDED = _OUTCOMES.where(
    _OF_STUDY, trials.c.told.is_(None), trials.c.state.in_((FINISHED, FAILED))
).order_by(trials.c.ended_at, trials.c.number)
_MOVE = (
    update(studies)
    .where(
        studies.c.id == bindparam("study"),
        studies.c.leader == bindparam("by"),
        studies.c.asked == bindparam("asked_then"),
        studies.c.told == bindparam("told_then"),
    )
    .values({name: bindparam(name) for name in ("asked", "told", "exhausted")})
)
_TELL = (
    update(trials)
    .where(_OF_STUDY, trials.c.number == bindparam("trial"))
    .values({name: bindparam(name) for name in ("told", "told_after")})
)
