"""An executor by its name, for those who let people choose."""

from __future__ import annotations

from cellwright.base.cores import check_at_once, cores
from cellwright.base.errors import did_you_mean, shown
from cellwright.trials.executors.executor import Executor, ExecutorError, Limits
from cellwright.trials.executors.in_process import InProcess
from cellwright.trials.executors.local_processes import LocalProcesses
from cellwright.trials.executors.ray_cluster import RayCluster

EXECUTORS = ("in-process", "local", "ray")
"""Where trials can run."""

_NO_LIMITS = Limits()


def executor_by_name(
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
        workers: how many trials at once; as many as there are cores for unless said.
        threads: of each trial.
        limits: of each trial; in this process there are none.
        address: of a Ray cluster; one on this machine is started unless said.

    Raises:
        ExecutorError: there is none of that name, or it does not go with the other arguments.
    """
    check_choice(name, workers=workers, threads=threads, address=address)
    if name == "in-process":
        return InProcess()
    if name == "ray":
        return RayCluster(address, workers=workers, threads=threads, limits=limits)
    if workers is None:
        workers = max(1, cores() // threads)
    return LocalProcesses(workers, threads=threads, limits=limits)


def check_choice(
    name: str,
    *,
    workers: int | None = None,
    threads: int = 1,
    limits: Limits = _NO_LIMITS,
    address: str | None = None,
) -> None:
    """Say at once what `executor_by_name` would say, and that limits are of no use if they are.

    Raises:
        ExecutorError: there is none of that name, or it does not go with the other arguments.
    """
    if name not in EXECUTORS:
        hint = did_you_mean(name, EXECUTORS) or f"; there are {', '.join(EXECUTORS)}"
        raise ExecutorError(f"there is no executor {shown(name)}{hint}")
    if address is not None and name != "ray":
        raise ExecutorError(f"an address is for a Ray cluster, and trials run {name}")
    if name != "ray" or address is None:  # a cluster is as large as it is
        check_at_once("threads", threads)
    if name == "ray" and address is None and threads > cores():
        raise ExecutorError(
            f"each trial wants {threads} cores for its threads, and a Ray cluster of this machine "
            f"alone has {cores()}; so none would ever begin"
        )
    if name == "local" and workers is not None:
        check_at_once("workers", workers)
    if name != "in-process":
        return
    if workers is not None and workers != 1:
        raise ExecutorError("in-process runs one trial at a time; leave out the workers")
    if limits != _NO_LIMITS:
        raise ExecutorError("in-process has no limits; leave them out, or choose local or ray")
