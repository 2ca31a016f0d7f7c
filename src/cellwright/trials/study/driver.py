"""The driver: the loop that ties a method, an evaluator, an executor and a store together.

What is in the store is all there is. A trial is written before it is handed out, its outcome
before anybody hears of it, and each outcome is told once, in a transaction with the trials that
the method asks for next. So a driver can be killed at any moment, and any number of others can
work on the same study.

The driver writes outcomes, not the workers: there is one writer for each driver instead of one
for each worker, workers can be killed without harm to the store, and machines that only work
need no way to the database.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from cellwright.base.errors import shown
from cellwright.base.signals import StopRequest, stop_requests
from cellwright.trials.executors import Call, Ended, Executor, Job
from cellwright.trials.store import Overview, Retries, Store, Study, overview
from cellwright.trials.store.damage import damage_named
from cellwright.trials.store.drivers import Situation, lead, remove_dead, situation
from cellwright.trials.store.errors import OvertakenError, StoreAwayError
from cellwright.trials.store.log import read_ended, write_step
from cellwright.trials.store.patience import AT_WORK, Patience
from cellwright.trials.store.trials import WAITING, Claim, claim, claimed, end_attempt, finish
from cellwright.trials.study.budget import Budget
from cellwright.trials.study.events import (
    AttemptFailed,
    Event,
    GaveUpError,
    StudyError,
    StudyStopped,
    TrialFinished,
    TrialStarted,
)
from cellwright.trials.study.leader import Leader, Method
from cellwright.trials.study.membership import Membership
from cellwright.trials.study.opening import open_study
from cellwright.trials.study.unwritten import Unwritten
from cellwright.trials.task_label import TaskLabel

MOST_TRIALS = 10**9
"""The most trials that a study may have."""

_POLL_SECONDS = 0.2
"""How often a driver looks for what others have done, and whether it shall stop."""

_TEND_SECONDS = 2.0
"""How often it looks whether others are dead."""

Watch = Callable[[Event], None]


def run_study(
    store: Store,
    name: str,
    method: Method,
    evaluate: Call,
    executor: Executor,
    *,
    trials: int,
    task: TaskLabel | None = None,
    window: int | None = None,
    retries: Retries | None = None,
    lease: float = 60.0,
    give_up_after: int | None = 20,
    budget: Budget | None = None,
    watch: Watch | None = None,
) -> Overview:
    """Work on a study until it has so many trials, all ended, or the method is finished, or the
    budget.

    A study that was begun goes on from where it is, whatever happened to those who worked on it
    before. Others may work on it at the same time, from this machine or, with PostgreSQL, from
    others.

    A store that does not answer, or cannot be written, is told to who watches, and tried again for
    five minutes; what ends meanwhile is kept here and written when the store is back.

    Args:
        store: where everything is kept.
        name: of the study; a new one is begun if there is none of that name.
        method: as it begins, with the study's settings; what it has learned comes from the store.
        evaluate: the function that evaluates a trial. It is called as
            `function(trial, **arguments)` with the trial as JSON values (`Trial.to_json`), and
            gives an outcome as JSON values (`Outcome.to_json`), which may also have
            `parameters`, `peak_memory`, further `curves` by name, and any other measures.
        executor: where it runs.
        trials: how many trials the study shall have.
        task: what is learned and how its losses are shown, if trials train; kept for people.
        window: tell outcomes in the order of asking, and keep up to so many trials open, whatever
            the number of workers. The same trials are then asked, with the same outcomes, by any
            number of workers, for every method; more workers than `window` find no work.
            Without it outcomes are told as they come.
        retries: how often a trial may come to nothing before it has failed.
        lease: how many seconds after its last sign of life a driver on another machine is
            believed to work. On the same machine its end is seen at once.
        give_up_after: raise an error when so many trials in a row have failed, since then it is
            rarely the cells' fault.
        budget: what may be spent before no more trials are begun; a later call may have more.
        watch: called for every event of this driver.

    Returns:
        how the study stands.

    Raises:
        StudyStopped: Ctrl-C was pressed, or the process was asked to end. What ran here is put
            back, and does not count as tried.
        StudyError: the study was begun with other settings, or too many trials failed in a row.
        StoreError: the store cannot be used, or was away for too long.
    """
    if not 1 <= trials <= MOST_TRIALS:
        raise StudyError(f"a study has from 1 to {MOST_TRIALS:,} trials, not {shown(trials)}")
    told = watch if watch is not None else _ignore
    with (
        stop_requests() as stop,
        store.patient(Patience(AT_WORK, told, lambda: stop.signal is not None)),
    ):
        unwritten = Unwritten()
        try:
            study = open_study(store, name, method, evaluate, window, trials, task)
            with (
                damage_named(store, study),
                Membership(store, study, executor.slots, lease) as member,
            ):
                driver = _Driver(
                    store,
                    study,
                    member,
                    executor,
                    evaluate,
                    lambda: Leader(store, study, method, trials, budget or Budget()),
                    retries if retries is not None else Retries(),
                    trials,
                    give_up_after,
                    told,
                    stop,
                    unwritten,
                )
                try:
                    driver.run()
                finally:
                    unwritten.collect(executor)
                    executor.cancel()
            return overview(store, study)
        except StoreAwayError as error:
            if stop.signal is not None:
                raise StudyStopped(name, f"{error}{unwritten}") from None
            raise StoreAwayError(
                f"{error}{unwritten}\n"
                f"once the store is back, the same command goes on with study {name!r}"
            ) from error


class _Driver:
    def __init__(
        self,
        store: Store,
        study: Study,
        member: Membership,
        executor: Executor,
        evaluate: Call,
        make_leader: Callable[[], Leader],
        retries: Retries,
        target: int,
        give_up_after: int | None,
        watch: Watch,
        stop: StopRequest,
        unwritten: Unwritten,
    ) -> None:
        self._store, self._study, self._member, self._executor = store, study, member, executor
        self._evaluate, self._make_leader, self._retries = evaluate, make_leader, retries
        self._target, self._give_up_after = target, give_up_after
        self._watch, self._stop, self._unwritten = watch, stop, unwritten
        self._leader: Leader | None = None
        self._running: dict[int, Claim] = {}
        self._tended = float("-inf")

    def run(self) -> None:
        """Work until the study is complete."""
        while True:
            ended = self._executor.wait(_POLL_SECONDS)
            self._record(ended)
            if self._stop.signal is not None or any(end.kind == "stopped" for end in ended):
                raise StudyStopped(self._study.name)
            self._tend()
            now, outcomes = self._store.read(self._look)
            self._follow(now)
            moved = self._advance(now, outcomes)
            if self._complete(now):
                return
            if not moved and not self._running:
                time.sleep(_POLL_SECONDS)

    # -- what ended --------------------------------------------------------------------

    def _record(self, ended: list[Ended]) -> None:
        """Write what became of jobs, then tell who watches."""
        mine = [(self._running.pop(end.key), end) for end in ended]
        if not mine:
            return

        def write(connection: Connection) -> list[Event | None]:
            # always in the same order, so that two drivers cannot block each other
            ordered = sorted(mine, key=lambda pair: pair[0].trial_id)
            return [self._keep(connection, *pair) for pair in ordered]

        self._unwritten.add(ended)
        events = self._store.write(write)
        self._unwritten.clear()
        for event in events:
            if event is not None:
                self._watch(event)

    def _keep(self, connection: Connection, of: Claim, end: Ended) -> Event | None:
        kind, message = end.kind, end.message
        if kind == "done":
            try:
                counts = finish(connection, of, end.value, end.seconds, end.peak_memory)
            except ValueError as error:  # the evaluator gave something else
                kind, message = "error", str(error)
            else:
                fidelity = of.trial["fidelity"]
                known = (of.number, of.cell_id, fidelity, of.attempt)
                return TrialFinished(*known, dict(end.value), end.seconds) if counts else None
        state = end_attempt(connection, of.trial_id, of.attempt, kind, message, self._retries)
        if state is None:
            return None
        known_by = (of.number, of.cell_id, of.attempt)
        return AttemptFailed(*known_by, kind, message, again=state == WAITING)

    # -- the others --------------------------------------------------------------------

    def _tend(self) -> None:
        """Look after what nobody does any more, now and then."""
        self._member.set_slots(self._executor.slots)
        if time.monotonic() - self._tended < _TEND_SECONDS:
            return
        self._tended = time.monotonic()
        driver = self._member.driver
        remove_dead(self._store, driver, self._retries)
        # What is claimed here and does not run: the database vanished when it was to say so.
        mine = self._store.read(lambda c: claimed(c, self._study.id, driver.id))
        self._submit([each for each in mine if each.number not in self._running])

    def _look(self, connection: Connection) -> tuple[Situation, list[dict[str, Any]]]:
        """How the study stands, and the outcomes that are to be told."""
        now = situation(connection, self._study.id)
        return now, read_ended(connection, self._study.id) if now.ended else []

    def _follow(self, now: Situation) -> None:
        """Be the leader where there is none; forget the method where there is another."""
        me = self._member.driver
        if now.leader == me.id or (now.leader is None and lead(self._store, me)):
            if self._leader is None:
                self._leader = self._make_leader()
        else:
            self._leader = None

    # -- what is next ------------------------------------------------------------------

    def _advance(self, now: Situation, outcomes: list[dict[str, Any]]) -> bool:
        """Tell and ask, if this is the leader, and claim trials for idle workers; whether
        anything has moved."""
        step = self._leader.plan(outcomes, now.slots) if self._leader is not None else None
        free = self._executor.free
        if step is None and not (free and now.waiting):
            return False
        me = self._member.driver

        def write(connection: Connection) -> list[Claim]:
            if step is not None:
                write_step(connection, self._study.id, me.id, step)
            if not free:
                return []
            return claim(connection, self._study.id, me.id, me.place.host, free)

        try:
            claims = self._store.write(write, soon=True)
        except OvertakenError:
            self._leader = None  # the method is ahead of the log now; it is made anew
            return True
        self._submit(claims)
        self._give_up_if_hopeless()
        return step is not None or bool(claims)

    def _give_up_if_hopeless(self) -> None:
        limit, leader = self._give_up_after, self._leader
        if limit is not None and leader is not None and leader.failed_in_a_row >= limit:
            raise GaveUpError(
                f"the last {limit} trials of study {self._study.name!r} have all failed; "
                f"the last one: {(leader.last_error or '?').splitlines()[0]}"
            )

    def _submit(self, claims: list[Claim]) -> None:
        for new in claims:
            known = new.number in self._running
            self._running[new.number] = new
            if known:  # taken from this driver when it seemed dead; it runs still
                continue
            arguments = {**self._evaluate.arguments, "trial": new.trial}
            self._executor.submit(Job(new.number, Call(self._evaluate.function, arguments)))
            fidelity = new.trial["fidelity"]
            self._watch(TrialStarted(new.number, new.cell_id, fidelity, new.attempt))

    def _complete(self, now: Situation) -> bool:
        if self._leader is not None:
            return self._leader.complete
        return now.asked == now.told and (now.exhausted or now.asked >= self._target)


def _ignore(event: Event) -> None:
    pass
