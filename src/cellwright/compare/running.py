"""Doing the trainings of a comparison, side by side, wherever an executor runs them.

Whatever ends this process or a worker's, each training goes on from its last checkpoint when it is
tried again, or when the comparison is asked for again, to the same figures.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.base.locks import training_lock
from cellwright.base.signals import stop_requests
from cellwright.compare.failures import Failure, write_failures
from cellwright.compare.plan import Plan
from cellwright.compare.reached import forget, progress_folder, reached
from cellwright.runs.errors import Stopped
from cellwright.trials.batch import LOOK_SECONDS, Batch, Happened
from cellwright.trials.executors import Call, Executor
from cellwright.trials.executors.choosing import executor_by_name
from cellwright.trials.retries import Retries

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
        told = watch or _ignore
        batch = Batch(
            {key: _call(plan, *key) for key in missing(plan)},
            executor,
            retries,
            missed=lambda key: (
                None if _is_seen(plan, *key) else f"{plan.run_path(*key)} {_ELSEWHERE}"
            ),
        )
        looking = _Looking(plan, told)
        failures: list[Failure] = []
        write_failures(plan, failures)
        try:
            while not batch.is_over:
                if stop.signal is not None:
                    executor.cancel(_SAVE_SECONDS)
                    raise Stopped(plan.folder, stop.signal, "the same command")
                for happened in batch.move_on():
                    if happened.kind == "stopped":  # the training heard the signal, not we
                        raise Stopped(plan.folder, signal.SIGINT, "the same command")
                    if happened.kind == "begun":
                        forget(plan, *happened.key)
                    else:
                        looking.at(happened.key)
                    if happened.kind == "failed":
                        failures.append(_failure(happened))
                        write_failures(plan, failures)
                    told(_event(happened))
                for key in batch.going:
                    looking.at(key)
                told(None)
        finally:
            executor.cancel()
    return failures


# -- parts of it -------------------------------------------------------------------------------


def _call(plan: Plan, label: str, seed: int) -> Call:
    arguments = {"folder": str(plan.folder.absolute()), "label": label, "seed": seed}
    return Call("cellwright.compare.job:train_run", arguments)


class _Looking:
    """Says so when a training has moved since one last looked."""

    def __init__(self, plan: Plan, told: Watch) -> None:
        self._plan, self._told = plan, told
        self._seen: dict[Key, Any] = {}

    def at(self, key: Key) -> None:
        """Look at a training."""
        now = reached(self._plan, *key)
        if now is not None and now != self._seen.get(key):
            self._seen[key] = now
            self._told(Event(*key, "moved", dict(now)))


def _event(happened: Happened[Key]) -> Event:
    assert happened.kind != "stopped"
    values = {"message": happened.message} if happened.kind in ("again", "failed") else {}
    return Event(*happened.key, happened.kind, values)


def _failure(happened: Happened[Key]) -> Failure:
    return Failure(*happened.key, happened.ending, happened.message, happened.attempts)


def _is_seen(plan: Plan, label: str, seed: int) -> bool:
    """Whether a training that has ended is there; on a shared file system, soon."""
    until = time.monotonic() + _SEEN_SECONDS
    while not _has_ended(plan, label, seed):
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _ignore(event: Event | None) -> None:
    pass
