"""Executors: where trials run. In this process, in local processes, or on a Ray cluster.

May import `cell/` only, so that a worker starts fast.
"""

from cellwright.run.executors.executor import (
    Call,
    Ended,
    Executor,
    ExecutorError,
    Job,
    Limits,
)
from cellwright.run.executors.in_process import InProcess
from cellwright.run.executors.local_processes import LocalProcesses
from cellwright.run.executors.ray_cluster import RayCluster

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
