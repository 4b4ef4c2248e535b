"""A corpus of files of several kinds, for work that is divided into units."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

TEXTS = ["the cat sat", " on the mat\n", "naïve 東京 😀", "", "line\nbreaks\r\nand tabs\t", "x" * 700]


def texts(seed: int, number: int) -> list[str]:
    source = random.Random(seed)  # noqa: S311 - not for secrets
    return ["".join(source.choices(TEXTS, k=source.randrange(5))) for _ in range(number)]


def write_corpus(folder: Path) -> Path:
    """Makes a folder with files of every kind, some of several units, and returns it."""
    folder.mkdir()
    records = [
        json.dumps({"text": text}, ensure_ascii=seed % 2 > 0)
        for seed in range(2)
        for text in texts(seed, 200)
    ]
    (folder / "a.jsonl").write_text("\n".join(records), encoding="utf-8")
    pq.write_table(pa.table({"text": texts(2, 300)}), folder / "b.parquet", row_group_size=37)
    for number in range(5):
        (folder / f"c{number}.jsonl").write_text(records[number] + "\n", encoding="utf-8")
    (folder / "d.jsonl").write_bytes(b"")
    return folder
