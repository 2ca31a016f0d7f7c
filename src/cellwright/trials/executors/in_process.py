"""Trials in this process, one after the other: for tests, for tables, and to find mistakes."""

from __future__ import annotations

from collections import deque

from cellwright.base.signals import interruptible
from cellwright.trials.executors.executor import Ended, Executor, Job
from cellwright.trials.executors.running import run_call


class InProcess(Executor):
    """Runs each job while it is waited for. There are no limits: a job that hangs, hangs, and one
    that crashes takes this process with it. Nothing is lost with that; the next process that works
    on the study goes on."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()

    @property
    def slots(self) -> int:
        return 1

    @property
    def free(self) -> int:
        return 0 if self._jobs else 1

    def submit(self, job: Job) -> None:
        self._jobs.append(job)

    def wait(self, timeout: float) -> list[Ended]:
        if not self._jobs:
            return []
        job = self._jobs.popleft()
        try:  # also where signals otherwise only leave a note
            with interruptible():
                return [Ended(job.key, **run_call(job.call))]
        except KeyboardInterrupt:
            return [Ended(job.key, "stopped", message="interrupted")]

    def cancel(self, patience: float = 0.0) -> None:
        self._jobs.clear()

    def close(self) -> None:
        self.cancel()
