"""What people want to know of studies: how far they are, what they cost, the best trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, bindparam, func, select

from cellwright.trials.store.damage import STATES, check_study, damage_named
from cellwright.trials.store.errors import DamagedError, UnreadableError
from cellwright.trials.store.queries import TrialRecord, best_of
from cellwright.trials.store.store import Store, now
from cellwright.trials.store.studies import Study, study_by_id
from cellwright.trials.store.tables import attempts, drivers, studies, trials
from cellwright.trials.store.trials import FAILED, FINISHED

State = Literal["running", "open", "complete", "failed"]
"""What has become of a study."""

_HOUR = 3600.0
_EXHAUSTED = select(studies.c.exhausted).where(studies.c.id == bindparam("study"))


@dataclass(frozen=True)
class Overview:
    """How a study stands.

    Args:
        states: how many trials are waiting, running, finished, failed.
        statuses: how many ended "ok", "diverged", …
        cost: the sum of what the trials say that they cost, in seconds of training; for those that
            failed, the time that they took.
        seconds: the wall clock's seconds of all attempts that have ended, those that came to
            nothing included.
        attempts: how many attempts there were.
        wasted: how many of them came to nothing.
        peak_memory: the largest of a trial, in bytes.
        first_at, last_at: when the first trial was asked and the last one ended.
        recent_per_hour: trials that ended in the last hour, scaled up where the study is younger.
        drivers: how many drivers work on it now.
        exhausted: whether the method will never ask again.
        best: the best trial.
    """

    study: Study
    trials: int
    states: Mapping[str, int]
    statuses: Mapping[str, int]
    cost: float
    seconds: float
    attempts: int
    wasted: int
    peak_memory: int | None
    first_at: float | None
    last_at: float | None
    recent_per_hour: float
    drivers: int
    exhausted: bool
    best: TrialRecord | None

    @property
    def ended(self) -> int:
        """How many trials have finished or failed."""
        return self.states[FINISHED] + self.states[FAILED]

    @property
    def state(self) -> State:
        """Whether somebody works on it, or it waits to be gone on with, or it is over; and then,
        whether all of its trials failed. (One that diverged did not: that is a result.)"""
        if self.drivers:
            return "running"
        target = self.study.target
        enough = self.exhausted or (target is not None and self.ended >= target)
        if not enough or self.ended < self.trials:
            return "open"
        return "failed" if self.ended and not self.states[FINISHED] else "complete"


def overview(store: Store, study: Study) -> Overview:
    """How a study stands.

    Raises:
        DamagedError: it has a trial that cannot be what was written.
    """
    with damage_named(store, study):
        return store.read(lambda connection: study_overview(connection, study))


def overviews(store: Store, damaged: list[str] | None = None) -> list[Overview]:
    """How all studies stand, the oldest first.

    Args:
        damaged: gets what is wrong with studies that are damaged, which are then left out; without
            it they are an error.
    """
    found = []
    query = select(studies.c.id).order_by(studies.c.id)
    for number in store.read(lambda connection: connection.execute(query).scalars().all()):
        try:
            study = study_by_id(store, number)
            if study is not None:
                found.append(overview(store, study))
        except (DamagedError, UnreadableError) as error:
            if damaged is None:
                raise
            damaged.append(str(error))
    return found


def study_overview(connection: Connection, study: Study) -> Overview:
    """`overview` within a transaction."""
    check_study(connection, study.id)
    of_study = trials.c.study_id == study.id
    rows = connection.execute(
        select(
            trials.c.state,
            trials.c.status,
            func.count(),
            func.sum(trials.c.cost),
            func.max(trials.c.peak_memory),
            func.min(trials.c.asked_at),
            func.max(trials.c.ended_at),
        )
        .where(of_study)
        .group_by(trials.c.state, trials.c.status)
    ).all()
    states = dict.fromkeys(STATES, 0)
    statuses: dict[str, int] = {}
    for state, status, count, *_ in rows:
        states[state] += count
        if status is not None:
            statuses[status] = statuses.get(status, 0) + count
    begun, wasted, seconds = connection.execute(
        select(
            func.count(),
            func.count(attempts.c.ending).filter(attempts.c.ending != FINISHED),
            func.sum(attempts.c.ended_at - attempts.c.started_at),
        )
        .join_from(trials, attempts)
        .where(of_study)
    ).one()
    first_at = min((row[5] for row in rows), default=None)
    at_work = drivers.c.study_id == study.id
    best = best_of(connection, study.id, 1, None)
    return Overview(
        study,
        trials=sum(states.values()),
        states=states,
        statuses=statuses,
        cost=float(sum(row[3] or 0.0 for row in rows)),
        seconds=float(seconds or 0.0),
        attempts=begun,
        wasted=wasted,
        peak_memory=max((row[4] for row in rows if row[4] is not None), default=None),
        first_at=first_at,
        last_at=max((row[6] for row in rows if row[6] is not None), default=None),
        recent_per_hour=_rate(connection, study.id, first_at),
        drivers=connection.execute(select(func.count()).where(at_work)).scalar_one(),
        exhausted=bool(connection.execute(_EXHAUSTED, {"study": study.id}).scalar()),
        best=best[0] if best else None,
    )


def _rate(connection: Connection, study_id: int, first_at: float | None) -> float:
    """Trials that ended in the last hour, or as many as that would be."""
    if first_at is None:
        return 0.0
    at = now(connection)
    since = max(first_at, at - _HOUR)
    query = select(func.count()).where(trials.c.study_id == study_id, trials.c.ended_at > since)
    return float(connection.execute(query).scalar_one() / max(at - since, 1.0) * _HOUR)
