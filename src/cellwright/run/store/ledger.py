"""The compute ledger: what a study has cost, and what its best trial is and costs.

ENAS-pairs asks everyone who searches to say so, and to say what a random search finds at the same
cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import JSON, ColumnElement, Connection, Float, cast, func, select, type_coerce

from cellwright.run.store.connect import POSTGRESQL
from cellwright.run.store.overview import Overview, study_overview
from cellwright.run.store.queries import OK, TrialRecord
from cellwright.run.store.store import Store, now
from cellwright.run.store.studies import Study
from cellwright.run.store.tables import attempts, trials
from cellwright.run.store.trials import FAILED, FINISHED


@dataclass(frozen=True)
class Ledger:
    """What a study has cost.

    Args:
        study: its name.
        method: that chose the cells.
        trials: how many have ended.
        ok: how many of them have a value.
        diverged: how many ended without one, by themselves.
        failed: how many came to nothing.
        attempts: how often a trial was begun, and `wasted`, how many of these came to nothing.
        epochs: how many epochs the trials have trained in all; those of attempts that came to
            nothing are not among them.
        training: the seconds that the trials say they trained.
        seconds: the seconds of the wall clock that all attempts took together.
        wall: the seconds during which at least one attempt was under way.
        peak_memory: the largest of a trial, in bytes.
        best: the best trial, which has its own parameters, memory and cost.
    """

    study: str
    method: str
    trials: int
    ok: int
    diverged: int
    failed: int
    attempts: int
    wasted: int
    epochs: int
    training: float
    seconds: float
    wall: float
    peak_memory: int | None
    best: TrialRecord | None

    @property
    def value(self) -> float | None:
        """The best trial's."""
        return None if self.best is None else self.best.value

    @property
    def test(self) -> float | None:
        """The best trial's measure of that name, if it has one."""
        found = None if self.best is None else self.best.measures.get("test")
        return None if found is None else float(found)

    def to_json(self) -> dict[str, Any]:
        """The ledger as JSON values."""
        best = self.best
        values = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "best"}
        if best is None:
            return {**values, "best": None}
        shown = {
            "trial": best.number,
            "cell": best.cell_id,
            "epochs": best.fidelity,
            "value": best.value,
            "test": self.test,
            "parameters": best.parameters,
            "peak_memory": best.peak_memory,
            "seconds": best.seconds,
        }
        return {**values, "best": shown}


def read_ledger(store: Store, study: Study) -> Ledger:
    """What a study has cost so far."""
    return store.read(lambda connection: ledger_of(connection, study_overview(connection, study)))


def ledger_of(connection: Connection, found: Overview) -> Ledger:
    """`read_ledger` within a transaction."""
    ok = found.statuses.get(OK, 0)
    return Ledger(
        study=found.study.name,
        method=_method(found.study.search),
        trials=found.ended,
        ok=ok,
        diverged=found.states[FINISHED] - ok,
        failed=found.states[FAILED],
        attempts=found.attempts,
        wasted=found.wasted,
        epochs=_epochs(connection, found.study.id),
        training=found.cost,
        seconds=found.seconds,
        wall=_at_work(connection, found.study.id),
        peak_memory=found.peak_memory,
        best=found.best,
    )


def _method(search: Mapping[str, Any]) -> str:
    return str(search.get("method", "?"))


def _epochs(connection: Connection, study_id: int) -> int:
    """The measure `epochs` of all trials that finished; where one has none, its fidelity."""
    said = func.coalesce(_measure(connection, "epochs"), cast(trials.c.fidelity, Float))
    query = select(func.sum(said)).where(trials.c.study_id == study_id, trials.c.state == FINISHED)
    return round(connection.execute(query).scalar() or 0)


def _measure(connection: Connection, name: str) -> ColumnElement[float]:
    """A number among a trial's measures, which are kept as JSON."""
    column: ColumnElement[Any] = trials.c.measures
    # SQLite's JSON is text that functions read; a cast would make a number of it.
    postgresql = connection.dialect.name == POSTGRESQL
    values: Any = cast(column, JSON) if postgresql else type_coerce(column, JSON)
    number: ColumnElement[float] = values[name].as_float()
    return number


def _at_work(connection: Connection, study_id: int) -> float:
    """Seconds during which at least one attempt was under way."""
    query = (
        select(attempts.c.started_at, func.coalesce(attempts.c.ended_at, now(connection)))
        .join_from(trials, attempts)
        .where(trials.c.study_id == study_id)
        .order_by(attempts.c.started_at)
    )
    rows = connection.execute(query).all()
    if not rows:
        return 0.0
    begun, ended = np.array([tuple(row) for row in rows], dtype=np.float64).T
    until = np.maximum.accumulate(ended)
    before = np.concatenate([begun[:1], until[:-1]])
    return float(np.maximum(0.0, until - np.maximum(begun, before)).sum())
