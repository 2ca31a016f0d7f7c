"""A Ray cluster of several machines on this one."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

_SMALL = {"object_store_memory": 80 * 2**20, "include_dashboard": False}


@contextlib.contextmanager
def simulated_cluster(machines: int, cores: int = 1) -> Iterator[Any]:
    """A cluster whose head does no work, and so many machines that do."""
    import ray
    from ray.cluster_utils import Cluster

    logging.getLogger("ray").setLevel(logging.ERROR)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **_SMALL})
    try:
        for _ in range(machines):
            cluster.add_node(num_cpus=cores, object_store_memory=_SMALL["object_store_memory"])
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()
