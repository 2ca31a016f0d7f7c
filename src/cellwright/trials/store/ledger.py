"""The compute ledger: what a study has cost, and what its best trial is and costs.

ENAS-pairs asks everyone who searches to say so, and to say what a random search finds at the same
cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    Float,
    case,
    cast,
    func,
    or_,
    select,
    type_coerce,
)

from cellwright.trials.store.damage import OK, damage_named
from cellwright.trials.store.overview import Overview, study_overview
from cellwright.trials.store.queries import TrialRecord
from cellwright.trials.store.store import Store, now
from cellwright.trials.store.studies import Study
from cellwright.trials.store.tables import attempts, trials
from cellwright.trials.store.trials import FAILED, FINISHED
from cellwright.trials.store.urls import POSTGRESQL


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
        training: the seconds that the trials say they trained; those that failed say nothing.
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
    return overview_and_ledger(store, study)[1]


def overview_and_ledger(store: Store, study: Study) -> tuple[Overview, Ledger]:
    """How a study stands and what it has cost, at one moment."""

    def read(connection: Connection) -> tuple[Overview, Ledger]:
        found = study_overview(connection, study)
        return found, ledger_of(connection, found)

    with damage_named(store, study):
        return store.read(read)


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
        training=_trained(connection, found.study.id),
        seconds=found.seconds,
        wall=_at_work(connection, found.study.id),
        peak_memory=found.peak_memory,
        best=found.best,
    )


def _method(search: Mapping[str, Any]) -> str:
    return str(search.get("method", "?"))


def _trained(connection: Connection, study_id: int) -> float:
    """Seconds that trials say they trained. One that failed does not say."""
    of_study = trials.c.study_id == study_id
    query = select(func.sum(trials.c.cost)).where(of_study, trials.c.state == FINISHED)
    return float(connection.execute(query).scalar() or 0.0)


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
    """Seconds during which at least one attempt was under way: each adds what is after the ends of
    all that began before it."""
    ended = func.coalesce(attempts.c.ended_at, now(connection))
    before = func.max(ended).over(order_by=attempts.c.started_at, rows=(None, -1))
    spans = (
        select(attempts.c.started_at.label("begun"), ended.label("ended"), before.label("before"))
        .join_from(trials, attempts)
        .where(trials.c.study_id == study_id)
        .subquery()
    )
    apart = or_(spans.c.before.is_(None), spans.c.before <= spans.c.begun)
    new = case(
        (apart, spans.c.ended - spans.c.begun),
        (spans.c.ended > spans.c.before, spans.c.ended - spans.c.before),
        else_=0.0,
    )
    return float(connection.execute(select(func.sum(new))).scalar() or 0.0)
