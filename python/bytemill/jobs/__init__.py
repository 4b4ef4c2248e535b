"""Counting beyond one process: planned units, done once each, by whatever can run a function.

    >>> from bytemill import jobs
    >>> plan = jobs.plan(["corpus/"], "work", field="text")
    >>> counts = jobs.count_pieces(plan, "o200k", executor=jobs.Local(8))
    >>> encoding = bytemill.train(counts, 200_000)

A plan divides files into units and is stored in a work folder; it is what a run that was killed goes on with.
A unit is counted by one task, from beginning to end; its output has a name and contents that depend on the
plan alone. It is complete when its commit is there. So tasks may run twice, in any order, on any number of
processes or machines that share the folder, and may die at any time: the counts are those of one process.

| in the work folder | what it holds |
|---|---|
| `plan.json` | the units, and how files are read; written once |
| `count.json` | the options of counting; written once |
| `counts/unit-000123.parquet` | the sorted counts of a unit |
| `commits/count-000123.json` | written last: size and SHA-256 of that file, and the sum of its counts |
| `attempts/` | units that are being counted, or whose process died |

| module | responsibility |
|---|---|
| `plan` | dividing files into units; storing a plan |
| `work` | the work folder: what is written once, commits, attempts |
| `counting` | counting a unit; adding up all units |
| `executors` | what runs tasks: processes of this machine |
| `columns` | counting and encoding columns of tables that an engine hands out |
"""

from bytemill.jobs.counting import Status, count_pieces, status
from bytemill.jobs.executors import Executor, Local
from bytemill.jobs.plan import Plan, Unit, plan

__all__ = ["Executor", "Local", "Plan", "Status", "Unit", "count_pieces", "plan", "status"]
