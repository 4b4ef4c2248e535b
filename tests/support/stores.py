"""Whole jobs on object stores, compared with those in folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]

import bytemill
from bytemill import jobs

ENCODING = bytemill.get_encoding("gpt2")
OPTIONS: dict[str, Any] = {"format": "megatron", "append": "<|endoftext|>", "shard_tokens": 1_500}


def upload(folder: Path, uri: str) -> None:
    """Copies a folder to a store."""
    for path in folder.iterdir():
        with fsspec.open(f"{uri}/{path.name}", "wb") as file:
            file.write(path.read_bytes())


def run_job(
    source: object, work: str, executor: jobs.Executor, unit_bytes: int = 15_000
) -> bytemill.PieceCounts:
    """Counts, writes and compacts shards; what is done already stays."""
    plan = jobs.plan(source, work, unit_bytes=unit_bytes)  # type: ignore[arg-type]
    counts = jobs.count_pieces(plan, "gpt2", executor=executor)
    jobs.write_shards(plan, ENCODING, executor=executor, **OPTIONS)
    jobs.compact(plan, shard_tokens=3_000, executor=executor)
    assert jobs.status(work).is_done
    return counts


def outputs(work: str) -> dict[str, bytes]:
    """Returns the outputs of a job and their commits, by their names in the work folder."""
    system, root = fsspec.core.url_to_fs(work, use_listings_cache=False)
    found = {
        path.removeprefix(root).strip("/"): system.cat_file(path)
        for folder in ("counts", "merged", "shards", "compacted", "commits")
        for path in system.find(f"{root.rstrip('/')}/{folder}")
    }
    assert found
    return found
