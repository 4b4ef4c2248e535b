"""Runs tasks in fresh processes: a task and its result are JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

WORKER = "harness.worker"


class WorkerError(Exception):
    """A task failed in its process."""


def run_worker(
    task: Mapping[str, Any], *, environment: Mapping[str, str] | None = None, timeout: float | None = None
) -> dict[str, Any]:
    """Runs a task of `harness.worker` in a fresh process and returns its result.

    Raises:
        WorkerError: The process failed or took longer than `timeout` seconds.
    """
    command = [sys.executable, "-m", WORKER, json.dumps(task)]
    environment = environment or {}
    inherited = environment.get("PYTHONPATH", os.environ.get("PYTHONPATH"))
    folders = [str(Path(__file__).parents[1]), *filter(None, [inherited])]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(folders)},
        )
    except subprocess.TimeoutExpired:
        raise WorkerError(f"not done after {timeout:.0f} s") from None
    if done.returncode != 0:
        raise WorkerError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
