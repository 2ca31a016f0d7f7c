"""Trials on a Ray cluster.

Ray finds machines, starts processes there and notices when a machine is gone. The rest is the
same as on one machine: in each slot an actor looks after a `WorkerProcess`, which has the limits
and survives crashes. So the loss of an actor means that its machine, or Ray itself, failed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from cellwright.base.module_path import working_folder_last
from cellwright.trials.executors.executor import (
    Ended,
    Executor,
    ExecutorError,
    Job,
    Limits,
    check_count,
)
from cellwright.trials.executors.worker_process import WorkerProcess

_NO_LIMITS = Limits()
_ANSWER_SECONDS = 10.0
_LOOK_SECONDS = 1.0
"""How often the size of the cluster is looked at."""


class Host:
    """The actor: looks after one worker process.

    Args:
        path: where the driver looks for modules; what of it is on this machine too is used.
    """

    def __init__(self, threads: int, limits: Limits, path: Sequence[str]) -> None:
        further = [place for place in path if os.path.isdir(place) and place not in sys.path]
        self._process = WorkerProcess(threads, limits, [*sys.path, *further])

    def ready(self) -> bool:
        """Answers once the actor has a place in the cluster."""
        return True

    def run(self, job: Job) -> Ended | None:
        """Run a job to its end."""
        return self._process.run(job)

    def stop(self, patience: float) -> None:
        """Ask the job that runs to end; its `run` returns when it has, or when it was killed."""
        self._process.stop(patience)


@dataclass
class _Slot:
    actor: Any
    starting: Any | None
    """Ray's promise that the actor is ready, until it is kept."""
    job: Job | None = None
    ending: Any | None = None
    begun: float = 0.0


class RayCluster(Executor):
    """As many slots as the cluster has room for, growing and shrinking with it.

    Args:
        address: of the cluster, as `ray.init` takes it: "auto", "host:6379", "ray://…"; without
            one, a cluster of this machine alone is started.
        workers: the most jobs at once; as many as fit unless said.
        threads: how many threads, and so cores, each has.
        limits: of each job.

    Raises:
        ExecutorError: Ray is not installed, or there is no cluster at the address.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        workers: int | None = None,
        threads: int = 1,
        limits: Limits = _NO_LIMITS,
    ) -> None:
        if workers is not None:
            check_count("the number of workers", workers)
        check_count("the number of threads", threads)
        self._ray = _ray()
        self._workers, self._thread_count, self._limits = workers, threads, limits
        self._ours = not self._ray.is_initialized()
        if self._ours:
            _join(self._ray, address)
        options = {"num_cpus": threads, "max_restarts": 0, "max_task_retries": 0}
        # Two calls at once, so that a host can be asked to stop while it runs a job.
        self._host = self._ray.remote(max_concurrency=2, **options)(Host)
        self._slots: list[_Slot] = []
        self._jobs: list[Job] = []
        self._looked = float("-inf")
        self._look()

    @property
    def slots(self) -> int:
        self._look()
        return sum(slot.starting is None for slot in self._slots)

    @property
    def free(self) -> int:
        self._look()
        idle = sum(slot.starting is None and slot.job is None for slot in self._slots)
        return max(0, idle - len(self._jobs))

    def submit(self, job: Job) -> None:
        self._jobs.append(job)
        self._hand_out()

    def wait(self, timeout: float) -> list[Ended]:
        until = time.monotonic() + timeout
        while True:
            self._look()
            self._hand_out()
            refs = [slot.ending for slot in self._slots if slot.ending is not None]
            waiting = [slot.starting for slot in self._slots if slot.starting is not None]
            left = max(0.0, until - time.monotonic())
            if not refs and not self._jobs:
                return []
            self._ray.wait([*refs, *waiting], num_returns=1, timeout=min(left, _LOOK_SECONDS))
            ended = self._collect()
            if ended or left <= 0:
                return ended

    def cancel(self, patience: float = 0.0) -> None:
        self._jobs.clear()
        busy = [slot for slot in self._slots if slot.job is not None]
        if busy and patience:
            for slot in busy:
                slot.actor.stop.remote(patience)
            endings = [slot.ending for slot in busy]
            most = patience + _ANSWER_SECONDS
            self._ray.wait(endings, num_returns=len(endings), timeout=most)
        for slot in busy:
            self._drop(slot)
        self._looked = float("-inf")

    def close(self) -> None:
        for slot in list(self._slots):
            self._drop(slot)
        self._jobs.clear()
        if self._ours:
            self._ray.shutdown()

    def _collect(self) -> list[Ended]:
        busy = {slot.ending: slot for slot in self._slots if slot.ending is not None}
        if not busy:
            return []
        done, _ = self._ray.wait(list(busy), num_returns=len(busy), timeout=0)
        return [ended for ref in done if (ended := self._ended(busy[ref])) is not None]

    def _ended(self, slot: _Slot) -> Ended | None:
        job, ref, seconds = slot.job, slot.ending, time.monotonic() - slot.begun
        assert job is not None
        slot.job = slot.ending = None
        try:
            found: Ended | None = self._ray.get(ref)
            return found
        except Exception as error:
            self._drop(slot)
            said = " ".join(str(error).split())[:500]
            return Ended(job.key, "lost", None, f"its machine, or Ray, failed: {said}", seconds)

    def _hand_out(self) -> None:
        for slot in self._slots:
            if self._jobs and slot.starting is None and slot.job is None:
                slot.job, slot.begun = self._jobs.pop(0), time.monotonic()
                slot.ending = slot.actor.run.remote(slot.job)

    def _look(self) -> None:
        """See which actors have their place, and have as many as the cluster is large."""
        starting = {slot.starting: slot for slot in self._slots if slot.starting is not None}
        if starting:
            there, _ = self._ray.wait(list(starting), num_returns=len(starting), timeout=0)
            for ref in there:
                try:
                    self._ray.get(ref)
                    starting[ref].starting = None
                except Exception:  # its machine vanished before it had begun
                    self._drop(starting[ref])
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        room = int(self._ray.cluster_resources().get("CPU", 0) // self._thread_count)
        wanted = room if self._workers is None else min(room, self._workers)
        for _ in range(wanted - len(self._slots)):
            path = working_folder_last(sys.path)
            actor = self._host.remote(self._thread_count, self._limits, path)
            self._slots.append(_Slot(actor, actor.ready.remote()))
        # Those that never got a place, since the cluster has shrunk.
        surplus = [slot for slot in self._slots if slot.starting is not None]
        for slot in surplus[: max(0, len(self._slots) - wanted)]:
            self._drop(slot)

    def _drop(self, slot: _Slot) -> None:
        self._slots.remove(slot)
        with contextlib.suppress(Exception):  # it may be gone already
            self._ray.kill(slot.actor)


def _ray() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise ExecutorError(
            "the Ray executor needs the package ray; pip install 'cellwright[cluster]' brings it"
        ) from None


def _join(ray: Any, address: str | None) -> None:
    if address is not None:
        _must_listen(address)
    here: dict[str, Any] = {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(
            address=address if address is not None else "local",
            log_to_driver=False,
            logging_level=logging.ERROR,
            **(here if address is None else {}),
            **_job(address),
        )
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
        said = " ".join(str(error).split())[:300]
        raise ExecutorError(
            f"cannot join the Ray cluster {address or 'of this machine'}: {said}; "
            "'ray start --head' starts one"
        ) from None


def _job(address: str | None) -> dict[str, Any]:
    """How Ray is kept from having its processes look for modules in our working directory before
    all others: only of jobs that come through its client does it know that they do not want that.
    What a worker needs of that directory comes with the driver's path. A client's address, and a
    job that was submitted, have settings of their own."""
    if (address or "").startswith("ray://") or "RAY_JOB_CONFIG_JSON_ENV_VAR" in os.environ:
        return {}
    return {"job_config": import_module("ray.job_config").JobConfig(_client_job=True)}


def _must_listen(address: str) -> None:
    """Say at once that nobody is at an address; Ray would try for several minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return  # "auto", or something that Ray knows better
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ExecutorError(
            f"there is no Ray cluster at {address} ({error}); 'ray start --head' starts one"
        ) from None
