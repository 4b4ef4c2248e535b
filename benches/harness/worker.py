"""Runs one task in a fresh process: `python -m harness.worker TASK` prints its result as a line of JSON.

TASK is JSON: "task" is a key of `TASKS`, the other entries are its arguments.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

# The module of each task. Others are not imported: they would take time and memory.
TASKS = {
    "encoding": "harness.encoding_tasks",
    "loading": "harness.encoding_tasks",
    "growth": "harness.encoding_tasks",
    "coding": "harness.model_tasks",
    "importing": "harness.encoding_tasks",
    "training": "harness.training_tasks",
    "counting": "harness.training_tasks",
    "counting_apart": "harness.training_tasks",
    "merging": "harness.training_tasks",
    "sharding": "harness.shards",
    "streaming": "harness.stream",
    "scaling": "harness.threads",
}


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    name = asked["task"]
    work = getattr(import_module(TASKS[name]), name)
    print("\n" + json.dumps(work(asked)))
