"""Trials in this process, one after the other: for tests, for tables, and to find mistakes."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections import deque
from collections.abc import Iterator

from cellwright.trials.executors.executor import Ended, Executor, Job
from cellwright.trials.executors.running import run_call

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
        try:
            with _interruptible():
                return [Ended(job.key, **run_call(job.call))]
        except KeyboardInterrupt:
            return [Ended(job.key, "stopped", message="interrupted")]

    def cancel(self, patience: float = 0.0) -> None:
        self._jobs.clear()

    def close(self) -> None:
        self.cancel()


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C and the signal TERM end the job, also where they otherwise only leave a note."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
