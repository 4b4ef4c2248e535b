"""Counting, training and tokenizing on a cluster of Ray, with the results of one process.

    >>> import bytemill.ray
    >>> counts = bytemill.ray.count_pieces("corpus/", to="work", field="text")
    >>> encoding = bytemill.ray.train("work", 200_000, memory="64G")
    >>> bytemill.ray.write_shards("corpus/", encoding, to="work", field="text", append="<|endoftext|>")

Files are divided into units, which Ray tasks process; see `bytemill.jobs`. A task may run twice, its node
may die, and a driver that died can be started again: it continues with the units that are left. All nodes
need the same version of this library, and share the files and the work folder under the same names.

| module | responsibility |
|---|---|
| `executor` | running the tasks of a job on Ray |
| `counting` | counting files, and datasets of Ray |
| `sink` | counting the blocks of a dataset |
| `encoding` | encoding a column of a dataset |
| `learning` | training in a task on a large node |
| `sharding` | writing files of ids |
"""

from bytemill.ray.corpora import train, write_shards
from bytemill.ray.datasets import count_pieces, encode
from bytemill.ray.executor import Executor

__all__ = ["Executor", "count_pieces", "encode", "train", "write_shards"]


def __dir__() -> list[str]:
    """Returns the public names."""
    return __all__
