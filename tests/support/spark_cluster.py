"""A cluster of Spark on this machine: two executors, each a JVM with one core.

Tests name this module in `pytest_plugins` for the fixture `session`. Since they import it before pytest does:
PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

__all__ = ["session", "spark_session"]

ROOT = Path(__file__).parents[2]
MEMORY = "700"


def spark_session(master: str, folder: str) -> Any:
    """Starts Spark, all of whose sockets are on the loopback interface."""
    paths = f"{ROOT / 'python'}{os.pathsep}{ROOT / 'tests'}"
    os.environ |= {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": paths,
        # Workers of a local cluster start executors with it.
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": folder,
    }
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": f"{MEMORY}m",
        "spark.executorEnv.PYTHONPATH": paths,
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": folder,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    session = SparkSession.builder.master(master).config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def pytest_configure(config: pytest.Config) -> None:
    """Lets Spark and what it uses warn."""
    config.addinivalue_line("filterwarnings", "default")
    config.addinivalue_line("filterwarnings", "error:::bytemill")


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    with tempfile.TemporaryDirectory(prefix="spark", ignore_cleanup_errors=True) as folder:
        session = spark_session(f"local-cluster[2,1,{MEMORY}]", folder)
        try:
            yield session
        finally:
            session.stop()
