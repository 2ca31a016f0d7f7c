"""Executors to test: each once for a module, since processes and clusters take time to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cellwright.trials.executors import Executor, InProcess, Limits, LocalProcesses, RayCluster
from trials.executors.simulated import simulated_cluster

LIMITS = Limits(seconds=60.0, memory=200 * 2**20)


@pytest.fixture(scope="session")
def ray_address() -> Iterator[str]:
    """The address of a cluster of two simulated machines with two cores each."""
    pytest.importorskip("ray", reason="Ray is not installed")
    with simulated_cluster(machines=2, cores=2) as cluster:
        yield cluster.address


@pytest.fixture(scope="module")
def in_process() -> InProcess:
    """Jobs in this process."""
    return InProcess()


@pytest.fixture(scope="module")
def local_processes() -> Iterator[Executor]:
    """Two processes with limits."""
    with LocalProcesses(2, limits=LIMITS) as made:
        yield made


@pytest.fixture(scope="module")
def ray_cluster(ray_address: str) -> Iterator[Executor]:
    """Two slots on two machines, with limits."""
    with RayCluster(ray_address, workers=2, limits=LIMITS) as made:
        yield made


OUTSIDE = ["local_processes", "ray_cluster"]


@pytest.fixture(params=OUTSIDE)
def outside(request: pytest.FixtureRequest) -> Executor:
    """An executor whose jobs are in other processes and have limits."""
    found: Executor = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["in_process", *OUTSIDE])
def executor(request: pytest.FixtureRequest) -> Executor:
    """Any executor."""
    found: Executor = request.getfixturevalue(request.param)
    return found
