"""Counting and tokenizing on Spark, with the results of one process.

    >>> import bytemill.spark
    >>> counts = bytemill.spark.count_pieces(frame, "text", to="work")
    >>> encoding = bytemill.train(counts, 200_000)
    >>> frame = bytemill.spark.encode(frame, "text", encoding)

Files are counted without a frame by `bytemill.jobs`, whose units `Executor` runs as tasks of Spark. All
executors must have this library in one version, and share the work folder under the same name.

| module | responsibility |
|---|---|
| `executor` | running the tasks of a job on Spark |
| `columns` | counting and encoding a column of a data frame |
"""

from bytemill.spark.columns import count_pieces, encode
from bytemill.spark.executor import Executor

__all__ = ["Executor", "count_pieces", "encode"]


def __dir__() -> list[str]:
    """Returns the public names."""
    return __all__
