"""An executor by its name, for those who let people choose."""

from __future__ import annotations

from cellwright.cell.errors import did_you_mean, shown
from cellwright.run.executors.executor import Executor, ExecutorError, Limits
from cellwright.run.executors.in_process import InProcess
from cellwright.run.executors.local_processes import LocalProcesses
from cellwright.run.executors.ray_cluster import RayCluster

EXECUTORS = {
    "local": "processes on this machine",
    "ray": "a Ray cluster",
    "here": "the process of the command, one trial after the other",
}
"""The executors, and where they run trials."""

_NO_LIMITS = Limits()


def executor(
    name: str,
    *,
    workers: int | None = None,
    threads: int = 1,
    limits: Limits = _NO_LIMITS,
    address: str | None = None,
) -> Executor:
    """The executor of that name.

    Args:
        name: one of `EXECUTORS`.
        workers: how many trials run at once; 1 on this machine, and what a cluster has room for,
            unless said.
        threads: of each trial.
        limits: of each trial.
        address: of a Ray cluster; one on this machine is started unless said.

    Raises:
        ExecutorError: there is none of that name, or it cannot do what is asked.
    """
    if name not in EXECUTORS:
        hint = did_you_mean(name, EXECUTORS) or f"; there are {', '.join(EXECUTORS)}"
        raise ExecutorError(f"there is no executor {shown(name)}{hint}")
    if address is not None and name != "ray":
        raise ExecutorError("an address is for the executor ray")
    if name == "ray":
        return RayCluster(address, workers=workers, threads=threads, limits=limits)
    if name == "local":
        return LocalProcesses(1 if workers is None else workers, threads=threads, limits=limits)
    if workers not in (None, 1):
        raise ExecutorError("the executor here runs one trial after the other, on one worker")
    if limits != _NO_LIMITS:
        raise ExecutorError("the executor here cannot hold limits; choose local or ray")
    return InProcess()
