"""Count and tokenize large corpora in parallel: on many processes, or on machines of a cluster.

    >>> from bytemill import jobs
    >>> plan = jobs.plan(["corpus/"], "work", field="text")
    >>> counts = jobs.count_pieces(plan, "o200k", executor=jobs.Local(8))
    >>> encoding = bytemill.train(counts, 200_000)
    >>> jobs.write_shards(plan, encoding, append="<|endoftext|>", executor=jobs.Local(8))

Files and the work folder may be URIs, such as "s3://corpus/**/*.parquet" and "s3://work/2026".

A plan divides files into units, that is, pieces of work, and is stored in a work folder, so that a run that
was killed can continue. One task processes a unit; the names and contents of its output depend on the plan
and the options alone, and it is complete when its commit is written. So tasks may run twice, in any order,
on any number of processes or machines that share the folder, and may die at any time: the results are those
of one process.

| in the work folder | what it holds |
|---|---|
| `plan.json` | the units, and how files are read; written once |
| `count.json`, `shard.json` | the options of counting and of shards; written once |
| `counts/unit-000123.parquet` | the sorted counts of a unit |
| `merged/part-000007.parquet`, `reduce.json` | a part of the sorted sum of all counts; where parts begin |
| `shards/unit-000123/` | the shards of a unit |
| `commits/count-000123.json` | written last: sizes and SHA-256 of its files, and sums of what is in them |
| `manifest.json` | all shards in order; written when all units are |
| `compacted/`, `compact.json` | few large shards with the same ids, and which parts they are made of |
| `attempts/` | units that are being done, or whose process died |
| `scratch/` | outputs that are not complete |

| module | responsibility |
|---|---|
| `plan` | dividing files into units; storing a plan |
| `stores` | files by name, in a folder or on an object store |
| `work` | the work folder: what is written once, commits |
| `attempts` | units that were begun, and processes that died of them |
| `counting` | counting a unit |
| `reducing` | adding up the counts of all units, in parts |
| `tokenizing` | writing the shards of a unit |
| `manifest` | the shards of all units |
| `compacting` | few large shards of them |
| `status` | the status of a job |
| `progress` | the progress of a step, while it runs |
| `executors` | what runs tasks: processes of this machine |
| `columns` | counting and encoding columns of tables that an engine hands out |
"""

from bytemill.jobs.compacting import Manifest, compact
from bytemill.jobs.counting import count_pieces
from bytemill.jobs.executors import Executor, Local
from bytemill.jobs.plan import Plan, Unit, plan
from bytemill.jobs.status import Status, status
from bytemill.jobs.tokenizing import write_shards
from bytemill.jobs.work import Progress

__all__ = [
    "Executor",
    "Local",
    "Manifest",
    "Plan",
    "Progress",
    "Status",
    "Unit",
    "compact",
    "count_pieces",
    "plan",
    "status",
    "write_shards",
]


def __dir__() -> list[str]:
    """Returns the public names."""
    return __all__
