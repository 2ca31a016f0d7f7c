"""A Ray cluster of several machines on this one."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from typing import Any

# Read when Ray is imported: its machines meet on the loopback address, and nobody is told.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_raylet_start_wait_time_s"] = "180"  # noqa: SIM112

_SMALL = {"object_store_memory": 80 * 2**20}


@contextlib.contextmanager
def simulated_cluster(machines: int, cores: int = 1) -> Iterator[Any]:
    """A cluster whose head does no work, and so many machines that do."""
    import ray
    from ray.cluster_utils import Cluster

    logging.getLogger("ray").setLevel(logging.ERROR)
    head = {"num_cpus": 0, "include_dashboard": False, **_SMALL}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(machines):
            add_machine(cluster, cores)
        yield cluster
    finally:
        ray.shutdown()
        for machine in [*cluster.worker_nodes, cluster.head_node]:
            cluster.remove_node(machine, allow_graceful=False)


def add_machine(cluster: Any, cores: int = 1) -> None:
    """One more machine."""
    cluster.add_node(num_cpus=cores, **_SMALL)


def remove_machine(cluster: Any) -> None:
    """One of the machines vanishes without a word."""
    machine = min(cluster.worker_nodes, key=lambda node: node.unique_id)
    cluster.remove_node(machine, allow_graceful=False)
