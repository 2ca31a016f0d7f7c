"""Trials, cells, curves and attempts, for those who look at a study."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from cellwright.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.trials.store.damage import OK, STATES, check_row, damage_named
from cellwright.trials.store.errors import DamagedError, StoreAwayError, StoreError
from cellwright.trials.store.store import Store
from cellwright.trials.store.studies import Study
from cellwright.trials.store.tables import attempts, cells, curves, trials
from cellwright.trials.store.trials import FAILED


@dataclass(frozen=True)
class TrialRecord:
    """A trial and what became of it. `info` and `measures` are JSON values."""

    study_id: int
    number: int
    cell_id: str
    fidelity: int
    seed: int
    info: Mapping[str, Any]
    state: str
    attempt: int
    failures: int
    losses: int
    asked_at: float
    started_at: float | None
    ended_at: float | None
    status: str | None
    value: float | None
    cost: float | None
    seconds: float | None
    parameters: int | None
    peak_memory: int | None
    measures: Mapping[str, Any]
    error: str | None


def best_trials(
    store: Store, study: Study, most: int = 10, *, fidelity: int | None = None
) -> list[TrialRecord]:
    """The trials of the lowest values, the earlier one of equals first.

    Args:
        fidelity: only those of so many epochs; where trials differ in that, values do not compare.
    """

    def find(connection: Connection) -> list[TrialRecord]:
        return best_of(connection, study.id, most, fidelity)

    with damage_named(store, study):
        return store.read(find)


def list_trials(
    store: Store, study: Study, *, state: str | None = None, first: int = 0, most: int | None = None
) -> list[TrialRecord]:
    """The trials by number, from `first` on; all, or those in one state."""
    query = select(*_COLUMNS).where(trials.c.study_id == study.id, trials.c.number >= first)
    if state is not None:
        if state not in STATES:
            raise StoreError(f"a trial's state is one of {', '.join(STATES)}, not {state!r}")
        query = query.where(trials.c.state == state)
    with damage_named(store, study):
        rows = store.read(lambda c: c.execute(query.order_by(trials.c.number).limit(most)).all())
        return [_record(row) for row in rows]


def failure_reasons(store: Store, study: Study, most: int = 3) -> list[str]:
    """Why trials of a study failed, in a line each, the first reasons first."""
    counted: dict[str, list[int]] = {}
    for trial in list_trials(store, study, state=FAILED):
        lines = (trial.error or "nobody knows why").splitlines()
        counted.setdefault(lines[0] if lines else "nobody knows why", []).append(trial.number)
    found = [
        f"trial {numbers[0]}{f' and {len(numbers) - 1:,} more' if len(numbers) > 1 else ''}: {why}"
        for why, numbers in counted.items()
    ]
    left = len(found) - most
    return [*found[:most], *([f"and {left:,} more reasons"] if left > 0 else [])]


def read_cell(store: Store, cell_id: str) -> Cell:
    """The cell of that id.

    Raises:
        StoreError: the store does not have it, or it is damaged.
    """
    query = select(cells.c.json).where(cells.c.id == cell_id)
    text = store.read(lambda connection: connection.execute(query).scalar_one_or_none())
    if text is None:
        raise StoreError(f"the store {store.title} has no cell {cell_id!r}")
    try:
        cell = Cell.from_json(text)
        if cell.id != cell_id:
            raise CellError(f"it is the cell {cell.id!r}")
    except (CellError, TypeError) as error:
        raise StoreError(
            f"the cell {cell_id!r} in the store {store.title} is damaged: {error}"
        ) from None
    return cell


def cell_of(store: Store, study: Study, trial: TrialRecord) -> Cell:
    """The cell of a trial.

    Raises:
        DamagedError: the store does not have it, or not whole; the message names the trial.
    """
    try:
        return read_cell(store, trial.cell_id)
    except StoreAwayError:
        raise
    except StoreError as error:
        raise DamagedError(str(error), f"trial {trial.number}", study.name) from None


def read_curves(
    store: Store, study: Study, numbers: Iterable[int] | None = None, name: str = "valid"
) -> dict[int, tuple[float | None, ...]]:
    """Curves by the trials' numbers: all of a study, or those of some trials. None is a number
    that was not finite."""
    query = (
        select(trials.c.number, curves.c.numbers)
        .join_from(trials, curves)
        .where(trials.c.study_id == study.id, curves.c.name == name)
        .order_by(trials.c.number)
    )
    if numbers is not None:
        query = query.where(trials.c.number.in_(list(numbers)))
    with damage_named(store, study):
        rows = store.read(lambda connection: connection.execute(query).all())
        for row in rows:
            check_row(curves, row, f"the curve {name!r} of trial {row[0]}")
    return {number: tuple(json.loads(text)) for number, text in rows}


@dataclass(frozen=True)
class Attempt:
    """One attempt at a trial; `ending` is None while it lasts."""

    trial: int
    number: int
    driver_id: str
    host: str
    started_at: float
    ended_at: float | None
    ending: str | None
    message: str | None


def list_attempts(store: Store, study: Study) -> list[Attempt]:
    """All attempts at a study's trials."""
    own = [column for column in attempts.c if column.name != "trial_id"]
    query = (
        select(trials.c.number.label("trial"), *own)
        .join_from(trials, attempts)
        .where(trials.c.study_id == study.id)
        .order_by(trials.c.number, attempts.c.number)
    )
    with damage_named(store, study):
        rows = store.read(lambda connection: connection.execute(query).all())
        for row in rows:
            check_row(attempts, row, f"an attempt at trial {row.trial}")
    return [Attempt(*row) for row in rows]


def best_of(
    connection: Connection, study_id: int, most: int, fidelity: int | None
) -> list[TrialRecord]:
    """`best_trials` within a transaction."""
    query = select(*_COLUMNS).where(trials.c.study_id == study_id, trials.c.status == OK)
    if fidelity is not None:
        query = query.where(trials.c.fidelity == fidelity)
    rows = connection.execute(query.order_by(trials.c.value, trials.c.number).limit(most))
    return [_record(row) for row in rows]


_FIELDS = list(TrialRecord.__dataclass_fields__)
_COLUMNS = [getattr(trials.c, name) for name in _FIELDS]
_INFO, _MEASURES = _FIELDS.index("info"), _FIELDS.index("measures")


def _record(row: Any) -> TrialRecord:
    check_row(trials, row, f"trial {row.number}")
    values = list(row)
    values[_INFO] = json.loads(values[_INFO])
    values[_MEASURES] = json.loads(values[_MEASURES]) if values[_MEASURES] else {}
    return TrialRecord(*values)
