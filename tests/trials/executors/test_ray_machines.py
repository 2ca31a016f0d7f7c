"""Machines of a Ray cluster come and go."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cellwright.search.blackbox.methods import method
from cellwright.spaces import Enas
from cellwright.trials.executors import Call, Ended, Executor, ExecutorError, Job, RayCluster
from cellwright.trials.store import open_store
from cellwright.trials.study import Event, TrialFinished, run_study
from trials.executors.simulated import add_machine, remove_machine, simulated_cluster

pytest.importorskip("ray", reason="Ray is not installed")

PATIENCE = 60


def wait_for_slots(executor: Executor, count: int) -> None:
    until = time.monotonic() + PATIENCE
    while executor.slots != count:
        assert time.monotonic() < until, f"{executor.slots} slots, not {count}"


def test_a_job_on_a_machine_that_vanishes_is_lost_and_the_rest_goes_on(tmp_path: Path):
    hang, add = "trials.executors.jobs:hang_once", "trials.executors.jobs:add"
    with simulated_cluster(machines=1) as cluster, RayCluster(cluster.address) as executor:
        wait_for_slots(executor, 1)
        marker = tmp_path / "pid"
        executor.submit(Job(0, Call(hang, {"marker": str(marker)})))
        while not marker.exists():
            assert executor.wait(0.05) == []
        remove_machine(cluster)
        ended: list[Ended] = []
        while not ended:
            ended = executor.wait(PATIENCE)
        assert [(end.key, end.kind) for end in ended] == [(0, "lost")]
        executor.submit(Job(1, Call(add, {"a": 1, "b": 2})))  # waits for a machine
        assert executor.free == 0
        add_machine(cluster)
        ended = []
        while not ended:
            ended = executor.wait(PATIENCE)
        assert [(end.key, end.value) for end in ended] == [(1, 3)]


def test_a_study_goes_on_when_a_machine_vanishes(tmp_path: Path):
    made = method("random", Enas(nodes=4))
    call = Call("trials.evaluators:evaluate", {"seconds": 0.1})

    def chaos(event: Event) -> None:
        if isinstance(event, TrialFinished) and event.number == 5:
            remove_machine(cluster)
            add_machine(cluster)

    with (
        simulated_cluster(machines=2) as cluster,
        RayCluster(cluster.address) as executor,
        open_store(tmp_path / "studies.db") as store,
    ):
        how = {"trials": 16, "watch": chaos}
        found = run_study(store, "s", made, call, executor, **how)
    assert found.states == {"waiting": 0, "running": 0, "finished": 16, "failed": 0}


def test_a_cluster_that_is_not_there():
    with pytest.raises(ExecutorError, match=r"no Ray cluster at 127\.0\.0\.1:1 "):
        RayCluster("127.0.0.1:1")
