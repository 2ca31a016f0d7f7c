"""Doing the trainings of a comparison, side by side, wherever an executor runs them.

Whatever ends this process or a worker's, each training goes on from its last checkpoint when it is
tried again, or when the comparison is asked for again, to the same figures.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.base.locks import training_lock
from cellwright.base.signals import stop_requests
from cellwright.compare.failures import Failure, write_failures
from cellwright.compare.plan import Plan
from cellwright.compare.reached import forget, progress_folder, reached
from cellwright.runs.errors import Stopped
from cellwright.trials.executors import Call, Ended, Executor, Job
from cellwright.trials.executors.choosing import executor_by_name
from cellwright.trials.retries import Retries

_LOOK_SECONDS = 0.2

_SAVE_SECONDS = 30.0
"""How long trainings that are stopped may take to save where they are. The measuring after an epoch
can take longer; what is lost then is the time since the last checkpoint."""

_SEEN_SECONDS = 60.0
"""How long file systems of several machines may take to show here what was written there."""

_ELSEWHERE = (
    "is not here, though the training has ended elsewhere: a comparison on several machines needs "
    "its folder on a file system that all of them share"
)

_RETRIES = Retries()

Key = tuple[str, int]
"""A training: the cell's label and the seed."""


@dataclass(frozen=True)
class Event:
    """What happened to a training.

    `kind` is "begun", "moved", "ended", "again" (an attempt came to nothing, and there will be
    another) or "failed". The `values` of "moved" are those of `reached`; those of "again" and
    "failed" have a `message`.
    """

    label: str
    seed: int
    kind: Literal["begun", "moved", "ended", "again", "failed"]
    values: dict[str, Any] = field(default_factory=dict)


Watch = Callable[[Event | None], None]
"""Called with each event, and with None when a moment has passed without one."""


def missing(plan: Plan) -> list[Key]:
    """The trainings that have not ended yet, in the order in which they begin."""
    return [(one.label, seed) for one, seed in plan.runs if not _has_ended(plan, one.label, seed)]


def _has_ended(plan: Plan, label: str, seed: int) -> bool:
    run = plan.run(label, seed)
    return run is not None and run.ended


def train_all(
    plan: Plan,
    executor: Executor | None = None,
    *,
    retries: Retries = _RETRIES,
    watch: Watch | None = None,
) -> list[Failure]:
    """Do all trainings that are missing, also those that failed the last time.

    Args:
        plan: the comparison.
        executor: where they run, each in a process of its own where there are processes. Unless
            said, in as many processes on this machine as it has cores for.
        retries: how often a training that crashes, is lost or passes a limit is tried again.
        watch: told what happens.

    Returns:
        What failed; the other trainings have ended, well or diverged.

    Raises:
        Stopped: Ctrl-C was pressed, or the process was asked to end; everything is saved.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(training_lock(plan.folder))
        stack.enter_context(progress_folder(plan))
        stop = stack.enter_context(stop_requests())
        if executor is None:
            executor = stack.enter_context(executor_by_name("local", threads=plan.threads))
        work = _Work(plan, executor, retries, watch or _ignore)
        write_failures(plan, [])
        try:
            while work.todo or work.running:
                if stop.signal is not None:
                    executor.cancel(_SAVE_SECONDS)
                    raise Stopped(plan.folder, stop.signal, "the same command")
                work.move_on()
        finally:
            executor.cancel()
    return work.failures


class _Work:
    """What is to be done, what is being done, and what failed."""

    def __init__(self, plan: Plan, executor: Executor, retries: Retries, told: Watch) -> None:
        self._plan, self._executor, self._retries, self._told = plan, executor, retries, told
        self.todo = missing(plan)
        self.running: dict[int, Key] = {}
        self.failures: list[Failure] = []
        self._faults: Counter[Key] = Counter()
        self._losses: Counter[Key] = Counter()
        self._seen: dict[Key, Any] = {}
        self._handed_out = 0

    def move_on(self) -> None:
        """Hand out what there is room for, and take in what happens within a moment."""
        while self.todo and self._executor.free:
            self._hand_out(self.todo.pop(0))
        if not self.running:  # a cluster that is just starting
            time.sleep(_LOOK_SECONDS)
        ended = self._executor.wait(_LOOK_SECONDS)
        for key in self.running.values():
            self._look(key)
        for end in ended:
            self._take_in(end)
        self._told(None)

    def _hand_out(self, key: Key) -> None:
        label, seed = key
        forget(self._plan, label, seed)
        self._handed_out += 1
        self.running[self._handed_out] = key
        arguments = {"folder": str(self._plan.folder.absolute()), "label": label, "seed": seed}
        call = Call("cellwright.compare.job:train_run", arguments)
        self._executor.submit(Job(self._handed_out, call, alone=True))
        self._told(Event(label, seed, "begun"))

    def _look(self, key: Key) -> None:
        """Say so if a training has moved since one last looked."""
        now = reached(self._plan, *key)
        if now is not None and now != self._seen.get(key):
            self._seen[key] = now
            self._told(Event(*key, "moved", dict(now)))

    def _take_in(self, end: Ended) -> None:
        label, seed = key = self.running.pop(end.key)
        if end.kind == "stopped":  # in this process: the training heard the signal, not we
            raise Stopped(self._plan.folder, signal.SIGINT, "the same command")
        if end.kind == "done":
            if self._is_seen(label, seed):
                self._told(Event(label, seed, "ended"))
            else:
                self._count(key, "error", f"{self._plan.run_path(label, seed)} {_ELSEWHERE}")
        else:
            self._count(key, end.kind, end.message)

    def _count(self, key: Key, ending: str, message: str) -> None:
        """Try again what came to nothing, or let it have failed."""
        label, seed = key
        counted = self._losses if ending == "lost" else self._faults
        counted[key] += 1
        faults, losses = self._faults[key], self._losses[key]
        if self._retries.used_up(faults, losses):
            self.failures.append(Failure(label, seed, ending, message, faults + losses))
            write_failures(self._plan, self.failures)
            self._told(Event(label, seed, "failed", {"message": message}))
        else:
            self.todo.append(key)
            self._told(Event(label, seed, "again", {"message": message}))

    def _is_seen(self, label: str, seed: int) -> bool:
        """Whether a training that has ended is there; on a shared file system, soon."""
        until = time.monotonic() + _SEEN_SECONDS
        while not _has_ended(self._plan, label, seed):
            if time.monotonic() > until:
                return False
            time.sleep(_LOOK_SECONDS)
        return True


def _ignore(event: Event | None) -> None:
    pass
