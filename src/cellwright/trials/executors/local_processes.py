"""Trials in worker processes on this machine."""

from __future__ import annotations

import queue
import threading

from cellwright.base.cores import cores
from cellwright.trials.executors.executor import (
    Ended,
    Executor,
    Job,
    Limits,
    check_count,
)
from cellwright.trials.executors.worker_process import WorkerProcess

_NO_LIMITS = Limits()


class LocalProcesses(Executor):
    """A number of worker processes. A job that crashes, is killed, hangs or takes too much memory
    ends as such, its process is replaced, and the others do not notice.

    Args:
        workers: how many jobs run at once.
        threads: how many threads each may use; the cores are shared out evenly unless said.
        limits: of each job.
    """

    def __init__(
        self, workers: int = 1, *, threads: int | None = None, limits: Limits = _NO_LIMITS
    ) -> None:
        check_count("the number of workers", workers)
        if threads is None:
            threads = max(1, cores() // workers)
        check_count("the number of threads", threads)
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[tuple[Job, Ended | None]] = queue.SimpleQueue()
        self._open: set[int] = set()
        self._processes = [WorkerProcess(threads, limits) for _ in range(workers)]
        # A thread for each process does nothing but wait for it, so that limits hold while the
        # driver is busy.
        self._threads = [
            threading.Thread(target=self._work, args=(process,), daemon=True)
            for process in self._processes
        ]
        for thread in self._threads:
            thread.start()

    @property
    def slots(self) -> int:
        return len(self._processes)

    @property
    def free(self) -> int:
        return max(0, self.slots - len(self._open))

    def pids(self) -> list[int]:
        """The numbers of the processes that are there now."""
        return [process.pid for process in self._processes if process.pid is not None]

    def submit(self, job: Job) -> None:
        self._open.add(job.key)
        self._jobs.put(job)

    def wait(self, timeout: float) -> list[Ended]:
        ended: list[Ended] = []
        while self._open:
            try:
                job, ending = self._ended.get(block=not ended, timeout=timeout)
            except queue.Empty:
                break
            self._open.discard(job.key)
            if ending is not None:
                ended.append(ending)
        return ended

    def cancel(self, patience: float = 0.0) -> None:
        if not self._open:
            return
        for process in self._processes:
            process.stop(patience)
        while self._open:  # each worker gives back, or takes and gives back, what there is
            job, _ = self._ended.get()
            self._open.discard(job.key)
        for process in self._processes:
            process.resume()

    def close(self) -> None:
        self.cancel()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self, process: WorkerProcess) -> None:
        while (job := self._jobs.get()) is not None:
            self._ended.put((job, process.run(job)))
        process.close()
