"""A cluster of Ray on this machine: several nodes, all of whose sockets are on the loopback interface.

Tests take `ray` from here, and name this module in `pytest_plugins` for the fixture `cluster`. Since they
import it before pytest does: PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

__all__ = ["NODE", "NODES", "cluster", "ray", "ray_cluster"]

ROOT = Path(__file__).parents[2]

# When it is imported, Ray reads some of them.
os.environ |= {
    # Otherwise the head listens on the loopback interface and the others look for it elsewhere.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    # Workers import the library and what they are to do in a test.
    "PYTHONPATH": f"{ROOT / 'python'}{os.pathsep}{ROOT / 'tests'}",
}

import ray  # noqa: E402 - see above

NODES = 3
NODE = {"num_cpus": 1, "object_store_memory": 100 << 20}


@contextmanager
def ray_cluster() -> Iterator[Any]:
    """Starts a cluster of `NODES` nodes with one processor each, and connects this process to it."""
    # The paths of sockets end at 107 bytes.
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.environ["RAY_TMPDIR"] = folder
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
        try:
            for _ in range(NODES - 1):
                cluster.add_node(**NODE)
            ray.init(address=cluster.address, log_to_driver=False)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


def pytest_configure(config: pytest.Config) -> None:
    """Lets Ray and what it uses warn."""
    config.addinivalue_line("filterwarnings", "default")
    config.addinivalue_line("filterwarnings", "error:::bytemill")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    with ray_cluster() as cluster:
        yield cluster
