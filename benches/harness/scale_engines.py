"""Measurements of `harness.scale` on Ray and Spark, in environments that have them; prints rows as JSON.

python -m harness.scale_engines ENGINE TASK ARGUMENTS...
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bytemill
from bytemill import jobs
from harness.process_tree import adopt_orphans
from harness.scale import PATTERN, Row, digest, large_in_one_process, measured, size_of, with_executor

NAMES = {
    "local-1": "Local(1)",
    "local-2": "Local(2)",
    "ray": "Ray, three nodes",
    "spark": "Spark, two executors",
}

# Of the whole text: enough units that nodes share it, each large enough not to count anew what others have.
LARGE_UNIT = 512 << 20


@contextmanager
def started(engine: str) -> Iterator[tuple[Any, jobs.Executor]]:
    """Starts the cluster of an engine on this machine; yields what it is spoken to by, and its executor."""
    if engine.startswith("local"):
        yield None, jobs.Local(int(engine.removeprefix("local-")))
        return
    if engine == "ray":
        import bytemill.ray
        from support.ray_cluster import ray, ray_cluster

        with ray_cluster() as cluster:
            yield ray, bytemill.ray.Executor(address=cluster.address)
        return
    import bytemill.spark
    from support.spark_cluster import MEMORY, spark_session

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        session = spark_session(f"local-cluster[2,1,{MEMORY}]", folder)
        try:
            yield session, bytemill.spark.Executor(session)
        finally:
            session.stop()


def sums(engine: str, access: Any, folder: Path) -> list[Row]:
    """Measures the engine's own sum of the counts in the runs of all units."""
    rows: list[Row] = []
    with measured(rows, engine=engine, stage="sum of groups") as row:
        if engine == "ray":
            summed = access.data.read_parquet(str(folder)).groupby("piece").sum("count").materialize()
        else:
            summed = access.read.parquet(str(folder)).groupBy("piece").sum("count")
            summed.write.format("noop").mode("overwrite").save()
    row["pieces"] = summed.count()
    return rows


def large(executor: jobs.Executor, texts: Path, work: Path, vocab_size: int) -> list[Row]:
    """Counts, learns and tokenizes a large text by units."""
    rows: list[Row] = []
    names: Row = {"engine": NAMES["ray"], "bytes": size_of(texts)}
    plan = jobs.plan(texts, work, field="text", unit_bytes=LARGE_UNIT)
    with measured(rows, **names, stage="count", units=len(plan.units)) as row:
        counts = jobs.count_pieces(plan, PATTERN, executor=executor)
    counts.save(work / "counts.parquet", sort=True)
    row |= {"sha256": digest([work / "counts.parquet"]), "pieces": len(counts)}
    row["run_bytes"] = size_of(work / "counts")
    del counts
    with measured(rows, **names, stage="train") as row:
        encoding = bytemill.ray.train(plan, vocab_size)
        row["sha256"] = encoding.sha256
    with measured(rows, **names, stage="shards", units=len(plan.units)) as row:
        row["tokens"] = jobs.write_shards(plan, encoding, executor=executor).tokens
    row["sha256"] = digest(sorted((work / "shards").rglob("*.bin")))
    return rows


def main(engine: str, task: str, folder: str, *arguments: str) -> None:
    """Measures on an engine, and prints the rows."""
    adopt_orphans()
    with started(engine) as (access, executor):
        if task == "sum":
            rows = sums(engine, access, Path(folder))
        elif task == "jobs":
            rows = with_executor(NAMES[engine], executor, Path(folder), Path(arguments[0]))
        else:
            work, vocab_size = arguments
            if task == "alone":
                rows = large_in_one_process(Path(folder), Path(work), int(vocab_size))
            else:
                rows = large(executor, Path(folder), Path(work), int(vocab_size))
    print(json.dumps(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
