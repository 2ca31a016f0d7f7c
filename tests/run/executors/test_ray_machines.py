"""Machines of a Ray cluster come and go."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cellwright.run.executors import Call, Ended, Executor, ExecutorError, Job, RayCluster

pytest.importorskip("ray", reason="Ray is not installed")

PATIENCE = 60


def wait_for_slots(executor: Executor, count: int) -> None:
    until = time.monotonic() + PATIENCE
    while executor.slots != count:
        assert time.monotonic() < until, f"{executor.slots} slots, not {count}"


def test_a_job_on_a_machine_that_vanishes_is_lost_and_the_rest_goes_on(tmp_path: Path):
    from run.executors.simulated import simulated_cluster

    hang, add = "run.executors.jobs:hang_once", "run.executors.jobs:add"
    with simulated_cluster(machines=1) as cluster, RayCluster(cluster.address) as executor:
        wait_for_slots(executor, 1)
        marker = tmp_path / "pid"
        executor.submit(Job(0, Call(hang, {"marker": str(marker)})))
        while not marker.exists():
            assert executor.wait(0.05) == []
        (machine,) = list(cluster.worker_nodes)
        cluster.remove_node(machine, allow_graceful=False)
        ended: list[Ended] = []
        while not ended:
            ended = executor.wait(PATIENCE)
        assert [(end.key, end.kind) for end in ended] == [(0, "lost")]
        executor.submit(Job(1, Call(add, {"a": 1, "b": 2})))  # waits for a machine
        assert executor.free == 0
        cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)
        ended = []
        while not ended:
            ended = executor.wait(PATIENCE)
        assert [(end.key, end.value) for end in ended] == [(1, 3)]


def test_a_cluster_that_is_not_there():
    with pytest.raises(ExecutorError, match=r"cannot join the Ray cluster 127\.0\.0\.1:1: "):
        RayCluster("127.0.0.1:1")
