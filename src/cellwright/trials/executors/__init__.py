"""Executors: where trials run. In this process, in local processes, or on a Ray cluster.

May import `base/` only, so that a worker starts fast.
"""

from cellwright.trials.executors.executor import (
    Call,
    Ended,
    Executor,
    ExecutorError,
    Job,
    Limits,
)
from cellwright.trials.executors.in_process import InProcess
from cellwright.trials.executors.local_processes import LocalProcesses
from cellwright.trials.executors.ray_cluster import RayCluster

__all__ = [
    "Call",
    "Ended",
    "Executor",
    "ExecutorError",
    "InProcess",
    "Job",
    "Limits",
    "LocalProcesses",
    "RayCluster",
]
