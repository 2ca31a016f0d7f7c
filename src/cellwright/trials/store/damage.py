"""Whether what is in a store can be what was written there.

SQLite takes text for a number and a blob for text, and JSON is text to both databases; a disk, or
somebody with another program, can leave anything. What is read is looked at first, so that it is an
error which names the study and the trial, and not a wrong figure or a crash somewhere else.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Double,
    Integer,
    Table,
    Text,
    and_,
    case,
    false,
    func,
    not_,
    or_,
    select,
)

from cellwright.base.errors import shown
from cellwright.trials.store.errors import DamagedError, UnreadableError
from cellwright.trials.store.tables import attempts, curves, drivers, studies, trials
from cellwright.trials.store.urls import SQLITE

if TYPE_CHECKING:
    from cellwright.trials.store.store import Store
    from cellwright.trials.store.studies import Study

STATES = ("waiting", "running", "finished", "failed")
"""What a trial can be."""

OK = "ok"
"""The status of a trial that has a value."""

_NO_COUNT = "seed"
"""The whole number that may be below 0; all others count something."""

_LARGEST = sys.float_info.max

_MEASURED = ("test", "epochs")
"""The measures that cellwright itself reads; whatever else an evaluator gives is its own."""


@dataclass(frozen=True)
class Rule:
    """What a column holds."""

    column: Column[Any]
    shape: Callable[[Any], str | None] | None = None
    """Of JSON: what is wrong with a value, if something is."""

    def fault(self, value: Any) -> str | None:
        """What is wrong with a value; None if nothing is."""
        if value is None:
            return None if self.column.nullable else f"should be {self._kind}"
        if isinstance(self.column.type, Text):
            if not isinstance(value, str):
                return f"should be {self._kind}"
            return None if self.shape is None else _json_fault(value, self.shape)
        whole = not isinstance(self.column.type, Double)
        good = isinstance(value, int) if whole else isinstance(value, int | float)
        if not good or isinstance(value, bool) or not math.isfinite(value):
            return f"should be {self._kind}"
        if whole and value < 0 and self.column.name != _NO_COUNT:
            return "should not be below 0"
        return None

    @property
    def _kind(self) -> str:
        if isinstance(self.column.type, Text):
            return "text" if self.shape is None else "JSON"
        return "a number" if isinstance(self.column.type, Double) else "a whole number"

    def unsound(self, sqlite: bool) -> ColumnElement[bool]:
        """The same for a database to find, as far as it can."""
        column = self.column
        counts = isinstance(column.type, Integer) and column.name != _NO_COUNT
        below = column < 0 if counts else false()
        if not sqlite:  # which has types of its own
            return and_(column.is_not(None), below)
        if isinstance(column.type, Text):
            kinds, wrong = ["text"], false() if self.shape is None else _not_an_object(column)
        elif isinstance(column.type, Double):
            kinds, wrong = ["real", "integer"], func.abs(column) > _LARGEST
        else:
            kinds, wrong = ["integer"], below
        allowed = func.typeof(column).in_(kinds)
        broken = or_(not_(allowed), and_(allowed, wrong))
        return and_(column.is_not(None), broken) if column.nullable else broken


def _json_fault(text: str, shape: Callable[[Any], str | None]) -> str | None:
    try:
        return shape(json.loads(text))
    except (ValueError, RecursionError):
        return "should be JSON"


def _object(value: Any) -> str | None:
    return None if isinstance(value, dict) else "should be a JSON object"


def _search(value: Any) -> str | None:
    if not isinstance(value, dict):
        return _object(value)
    tables = [value.get("settings", {}), value.get("space", {})]
    tables += [table.get("settings", {}) for table in tables[1:] if isinstance(table, dict)]
    fine = all(isinstance(table, dict) for table in tables)
    return None if fine else "its settings should be JSON objects"


def _evaluation(value: Any) -> str | None:
    if not isinstance(value, dict) or not isinstance(value.get("arguments", {}), dict):
        return "should be a JSON object with arguments"
    return None


def _measures(value: Any) -> str | None:
    if not isinstance(value, dict):
        return _object(value)
    for name in _MEASURED:
        number = value.get(name)
        if number is not None and not _is_number(number):
            return f"{name} in it should be a number"
    return None


def _numbers(value: Any) -> str | None:
    fine = isinstance(value, list) and all(each is None or _is_number(each) for each in value)
    return None if fine else "should be a list of numbers"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _not_an_object(column: Column[Any]) -> ColumnElement[bool]:
    wrong: ColumnElement[bool] = func.json_type(column) != "object"
    if column.name == "measures":
        kinds = [func.json_type(column, f"$.{name}") for name in _MEASURED]
        bad = (kind.not_in(["real", "integer", "null"]) for kind in kinds)
        wrong = or_(wrong, *(func.coalesce(each, false()) for each in bad))
    return case((func.json_valid(column) == 1, wrong), else_=True)


_SHAPES = {
    studies.c.search: _search,
    studies.c.evaluation: _evaluation,
    trials.c.info: _object,
    trials.c.measures: _measures,
    curves.c.numbers: _numbers,
}

RULES: dict[Table, dict[str, Rule]] = {
    table: {column.name: Rule(column, _SHAPES.get(column)) for column in table.columns}
    for table in (studies, trials, attempts, curves, drivers)
}


def fault(table: Table, values: Mapping[str, Any]) -> str | None:
    """What is wrong with a row, or with those of its columns that were read; None if nothing is.

    >>> fault(trials, {"number": 3, "value": "low"})
    "value is 'low', and should be a number"
    """
    rules = RULES[table]
    for name, value in values.items():
        why = rules[name].fault(value) if name in rules else None
        if why is not None:
            return f"{name} is {'missing' if value is None else shown(value)}, and {why}"
    if table is trials:
        if values.get("state", STATES[0]) not in STATES:
            return f"state is {shown(values['state'])}, and should be one of {', '.join(STATES)}"
        if "status" in values and "value" in values:
            if values["status"] == OK and values["value"] is None:
                return "status is 'ok', and it has no value"
            if values.get("state") in STATES[2:] and not values["status"]:
                return f"it is {values['state']}, and has no status"
    return None


def check_row(table: Table, row: Any, what: str = "") -> None:
    """Raise an error that names what it is, if a row that was read is damaged."""
    why = fault(table, row._mapping)
    if why is not None:
        raise DamagedError(why, what)


def check_study(connection: Connection, study_id: int) -> None:
    """Raise an error that names the trial, if a study has one that is damaged.

    The database looks, since figures of a study are sums of its own; with SQLite at every type,
    with PostgreSQL, which checks these itself, at what its types allow.
    """
    sqlite = connection.dialect.name == SQLITE
    for table, where in _LOOKED_AT:
        unsound = or_(*(rule.unsound(sqlite) for rule in RULES[table].values()), where)
        query = select(trials.c.number, *table.c).where(trials.c.study_id == study_id, unsound)
        if table is not trials:
            query = query.join_from(trials, table)
        row = connection.execute(query.order_by(trials.c.number).limit(1)).first()
        if row is not None:
            values = dict(zip(table.c.keys(), row[1:], strict=True))
            what = f"trial {row[0]}" if table is trials else f"an attempt at trial {row[0]}"
            raise DamagedError(fault(table, values) or "it has a value that cannot be", what)


@contextmanager
def damage_named(store: Store, study: Study) -> Iterator[None]:
    """While this is entered, errors about what is damaged name the study, and the trial."""
    try:
        yield
    except DamagedError as error:
        raise (error if error.study is not None else error.of(study.name)) from None
    except UnreadableError as error:
        raise _found(store, study, error) from None


def _found(store: Store, study: Study, error: UnreadableError) -> DamagedError:
    """What it is that a database could not read, by reading everything of a study by itself."""
    query = select(trials.c.id, trials.c.number).where(trials.c.study_id == study.id)
    rows = store.read(lambda connection: connection.execute(query).all())
    for trial_id, number in rows:
        for table, key in ((trials, "id"), (curves, "trial_id"), (attempts, "trial_id")):
            one = select(table).where(table.c[key] == trial_id)
            try:
                for row in store.read(lambda c, one=one: c.execute(one).all()):  # type: ignore[misc]
                    check_row(table, row)
            except DamagedError as damaged:
                return DamagedError(damaged.why, f"trial {number}", study.name)
            except UnreadableError as unreadable:
                return DamagedError(str(unreadable), f"trial {number}", study.name)
    return DamagedError(str(error), "", study.name)


_LOOKED_AT: list[tuple[Table, ColumnElement[bool]]] = [
    (
        trials,
        or_(
            trials.c.state.not_in(STATES),
            and_(trials.c.status == OK, trials.c.value.is_(None)),
            and_(trials.c.state.in_(STATES[2:]), func.coalesce(trials.c.status, "") == ""),
        ),
    ),
    (attempts, false()),
]
