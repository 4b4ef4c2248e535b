"""Measures what counting, training and tokenizing cost by stage, unit and engine, for the model of a cluster.

    python -m benches scale --corpus DIR
    python -m benches scale --corpus DIR --large 10

Counts, vocabularies and files of all engines are compared first: the exit code is 1 if any differ. Engines
run in environments of their own, which `make bench-scale` makes; without them they are left out. With
`--large N`, N gigabytes are made, and counted, learned from and tokenized on a cluster of Ray on this
machine and in one process, whose SHA-256 must be equal.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import bytemill
from bytemill import jobs
from bytemill.documents.blocks import BatchReader
from bytemill.documents.sources import Reading, files_in
from bytemill.shards import write_shards
from harness import record
from harness.memory import resident_bytes
from harness.process_tree import Usage
from harness.scale_text import shuffled_blocks, write_texts

ROOT = Path(__file__).parents[2]
PATTERN = "o200k"
ENCODING = "o200k_base"
VOCAB_SIZES = (10_000, 50_000)
UNITS = (1 / 16, 1 / 4, 1.0)
EMPTY_UNITS = 200

# Of what a slower library encodes.
SAMPLE_BYTES = 32_000_000

Row = dict[str, Any]


@contextmanager
def measured(rows: list[Row], /, **names: Any) -> Iterator[Row]:
    """Adds a row with the wall seconds of the body, and the CPU seconds and memory of all its processes."""
    row: Row = dict(names)
    with Usage() as usage:
        start = perf_counter()
        yield row
        row["seconds"] = perf_counter() - start
    row |= {"cpu_seconds": usage.cpu_seconds, "peak_megabytes": usage.peak_megabytes}
    rows.append(row)
    print(row, flush=True)


def reader() -> BatchReader:
    """Returns what reads the files."""
    return BatchReader(Reading(("text",)), pattern=PATTERN, special_tokens=())


def size_of(folder: Path) -> int:
    """Returns the bytes of all files in a folder and below."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def utf8(text: str | bytes) -> bytes:
    """Returns a text as bytes."""
    return text if isinstance(text, bytes) else text.encode()


# --- One process ---


def stages(texts: Path, work: Path) -> list[Row]:
    """Measures each stage of counting and of tokenizing, with one thread."""
    rows: list[Row] = []
    size = size_of(texts)
    with measured(rows, stage="read", bytes=size):
        for _ in reader().read(texts):
            pass
    with measured(rows, stage="read, split, count", bytes=size) as row:
        counts = bytemill.count_pieces(texts, PATTERN, field="text", num_threads=1, progress=False)
        row["pieces"] = len(counts)
    with measured(rows, stage="sort, save", bytes=size, pieces=len(counts)):
        counts.save(work / "counts.parquet", sort=True)
    with measured(rows, stage="load", bytes=size, pieces=len(counts)):
        bytemill.PieceCounts.merge_files([work / "counts.parquet"])
    encoding = bytemill.get_encoding(ENCODING)
    with measured(rows, stage="read, encode, write", bytes=size) as row:
        written = write_shards(texts, work / "shards", encoding, field="text", num_threads=1)
        row["tokens"] = written.tokens
    documents = [utf8(text).decode() for batch in reader().read(texts) for text in batch.texts]
    encoding.clear_cache()
    with measured(rows, stage="encode", bytes=sum(len(text.encode()) for text in documents)):
        encoding.encode_batch_to_numpy(documents, num_threads=1)
    return rows + in_tokenizers(encoding, documents, work)


def in_tokenizers(encoding: bytemill.Encoding, documents: Sequence[str], work: Path) -> list[Row]:
    """Measures how `tokenizers` encodes some of the documents, with one thread; its ids must be equal."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import tokenizers

    encoding.save_huggingface(work / "huggingface")
    theirs = tokenizers.Tokenizer.from_file(str(work / "huggingface" / "tokenizer.json"))
    sample, size = [], 0
    for text in documents:
        if size >= SAMPLE_BYTES:
            break
        sample.append(text)
        size += len(text.encode())
    rows: list[Row] = []
    with measured(rows, stage=f"encode, by tokenizers {tokenizers.__version__}", bytes=size):
        encoded = theirs.encode_batch_fast(sample, add_special_tokens=False)
    ids = encoding.encode_batch(sample, allowed_special="all")
    rows[0]["ids_equal"] = [each.ids for each in encoded] == ids
    rows[0]["tokens"] = sum(map(len, ids))
    return rows


def growth(sources: Sequence[Path], texts: Path) -> list[Row]:
    """Returns the number of distinct pieces at each doubling of the sources, each once, and of the texts."""
    mixed = (batch.texts for batch in reader().read(texts))
    return [
        *doublings("once", shuffled_blocks(sources)),
        *doublings("mixed", mixed),
    ]


def doublings(name: str, parts: Iterable[Sequence[str | bytes]]) -> list[Row]:
    """Returns the number of distinct pieces at each doubling, and at the end."""
    rows: list[Row] = []
    counts = bytemill.PieceCounts(pattern=PATTERN)
    size, limit = 0, 1 << 20
    for texts in parts:
        counts.add(texts)
        size += sum(len(utf8(text)) for text in texts)
        if size >= limit:
            rows.append({"text": name, "bytes": size, "pieces": len(counts), "total": counts.total()})
            limit *= 2
    if not rows or rows[-1]["bytes"] < size:
        rows.append({"text": name, "bytes": size, "pieces": len(counts), "total": counts.total()})
    return rows


def runs(texts: Path, work: Path) -> list[Row]:
    """Measures counting by units of several sizes, and adding up their runs."""
    rows: list[Row] = []
    size = size_of(texts)
    for share in UNITS:
        folder = work / f"units-{share}"
        plan = jobs.plan(texts, folder, field="text", unit_bytes=max(1, int(size * share)))
        names = {"unit_bytes": max(unit.size for unit in plan.units), "units": len(plan.units)}
        with measured(rows, stage="count units", bytes=size, **names):
            jobs.count_pieces(plan, PATTERN, executor=jobs.Local(1))
        paths = sorted((folder / "counts").iterdir())
        run_rows = sum(len(bytemill.PieceCounts.load(path)) for path in paths)
        named = {"run_bytes": sum(path.stat().st_size for path in paths), "rows": run_rows}
        with measured(rows, stage="add up", bytes=size, **names, **named) as row:
            row["pieces"] = len(bytemill.PieceCounts.merge_files(paths))
    return rows


def training(counts: Path) -> list[Row]:
    """Measures learning from counts."""
    rows: list[Row] = []
    for vocab_size in VOCAB_SIZES:
        merged = bytemill.PieceCounts.merge_files([counts])
        with measured(rows, stage="train", vocab_size=vocab_size, pieces=len(merged)) as row:
            encoding = bytemill.train(merged, vocab_size, progress=False)
            row |= {"sha256": encoding.sha256, "piece_bytes": sum(len(piece) for piece, _ in merged)}
    return rows


# --- Engines ---


def with_executor(name: str, executor: jobs.Executor, texts: Path, work: Path) -> list[Row]:
    """Measures an executor: empty units, then a whole job of counting and shards."""
    rows: list[Row] = []
    # A task that nodes know without this program, and that takes no time.
    nothing = list[int]().append
    list(executor.run(nothing, range(4)))
    before = resident_bytes()
    with measured(rows, engine=name, stage="empty units", units=EMPTY_UNITS) as row:
        assert sum(1 for _ in executor.run(nothing, range(EMPTY_UNITS))) == EMPTY_UNITS
        row["driver_megabytes"] = (resident_bytes() - before) / 1e6
    plan = jobs.plan(texts, work, field="text", unit_bytes=max(1, size_of(texts) // 8))
    with measured(rows, engine=name, stage="count", units=len(plan.units), bytes=size_of(texts)) as row:
        counts = jobs.count_pieces(plan, PATTERN, executor=executor)
    counts.save(work / "counts.parquet", sort=True)
    row["sha256"] = digest([work / "counts.parquet"])
    with measured(rows, engine=name, stage="shards", units=len(plan.units), bytes=size_of(texts)) as row:
        jobs.write_shards(plan, bytemill.get_encoding(ENCODING), executor=executor)
    row["sha256"] = digest(sorted((work / "shards").rglob("*.bin")))
    return rows


def digest(paths: Sequence[Path]) -> str:
    """Returns the SHA-256 of the contents of files, one behind the other."""
    total = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while data := file.read(1 << 20):
                total.update(data)
    return total.hexdigest()


def in_environment(engine: str, task: str, *arguments: object) -> list[Row]:
    """Returns the rows of `harness.scale_engines` in the environment of an engine; none without that.

    That of "local" is this one, but in a fresh process, whose memory is that of the job.
    """
    is_local = engine.startswith("local")
    python = Path(sys.executable) if is_local else ROOT / ".venv" / engine / "bin" / "python"
    if not python.exists():
        print(f"left out: {python} is not there; `make bench-scale` makes it")
        return []
    paths = os.pathsep.join(str(ROOT / name) for name in ("python", "tests", "benches"))
    command = [str(python), "-m", "harness.scale_engines", engine, task, *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.PIPE, check=True)
    rows: list[Row] = json.loads(done.stdout.splitlines()[-1])
    print(*rows, sep="\n")
    return rows


def differences(rows: Sequence[Row]) -> list[str]:
    """Returns the stages whose results are not those of all other engines."""
    found: dict[str, set[str]] = {}
    for row in rows:
        if "sha256" in row:
            found.setdefault(row["stage"], set()).add(row["sha256"])
    return [stage for stage, digests in found.items() if len(digests) > 1]


# --- All of a large text ---


def large_in_one_process(texts: Path, work: Path, vocab_size: int) -> list[Row]:
    """Counts, learns and tokenizes in one process."""
    rows: list[Row] = []
    size = size_of(texts)
    names: Row = {"engine": "one process", "bytes": size}
    with measured(rows, **names, stage="count") as row:
        counts = bytemill.count_pieces(texts, PATTERN, field="text", progress=False)
    counts.save(work / "counts.parquet", sort=True)
    row |= {"sha256": digest([work / "counts.parquet"]), "pieces": len(counts)}
    with measured(rows, **names, stage="train") as row:
        encoding = bytemill.train(counts, vocab_size, progress=False)
        row["sha256"] = encoding.sha256
    del counts
    with measured(rows, **names, stage="shards") as row:
        written = write_shards(texts, work / "shards", encoding, field="text")
        row["tokens"] = written.tokens
    row["sha256"] = digest(sorted((work / "shards").glob("*.bin")))
    return rows


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, nargs="+", metavar="PATH", help="folders and files of text")
    parser.add_argument("--megabytes", type=int, default=1000, help="of mixed text (default: 1000)")
    parser.add_argument("--large", type=float, metavar="GB", help="measure this many gigabytes as a whole")
    parser.add_argument("--vocab-size", type=int, default=50_000, help="of --large (default: 50000)")
    parser.add_argument("--folder", type=Path, help="where to put texts and results (default: temporary)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    return parser.parse_args()


def measure(sources: Sequence[Path], folder: Path, arguments: argparse.Namespace) -> dict[str, list[Row]]:
    """Returns the rows of all measurements."""
    texts = folder / "texts"
    if arguments.large is not None:
        write_texts(sources, texts, int(arguments.large * 1e9))
        rows = in_environment("local-1", "alone", texts, folder, arguments.vocab_size)
        rows += in_environment("ray", "large", texts, folder / "work", arguments.vocab_size)
        # Nothing is removed before: this is what the disk has held.
        rows[-1]["folder_bytes"] = size_of(folder)
        return {"large": rows}
    write_texts(sources, texts, arguments.megabytes * 1_000_000)
    found = {"stages": stages(texts, folder), "growth": growth(sources, texts), "runs": runs(texts, folder)}
    found["training"] = training(folder / "counts.parquet")
    names = ("local-1", "local-2", "ray", "spark")
    found["engines"] = [row for name in names for row in in_environment(name, "jobs", texts, folder / name)]
    runs_of_units = folder / f"units-{UNITS[0]}" / "counts"
    found["sums"] = [row for row in found["runs"] if row["stage"] == "add up"][:1]
    found["sums"] += in_environment("ray", "sum", runs_of_units)
    found["sums"] += in_environment("spark", "sum", runs_of_units)
    return found


def main() -> int:
    """Measures, prints and records."""
    arguments = parse_arguments()
    sources = [path for each in arguments.corpus for path in (files_in(each) if each.is_dir() else [each])]
    sources = [path for path in sources if path.suffix == ".txt"]
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        found = measure(sources, Path(name), arguments)
    wrong = differences(found.get("engines", []) + found.get("large", []))
    wrong += [row["stage"] for row in found.get("stages", []) if not row.get("ids_equal", True)]
    print("all results equal" if not wrong else f"NOT EQUAL: {', '.join(wrong)}")
    if arguments.output is not None:
        options = record.given(arguments, "megabytes", "large", "vocab_size")
        options["sources"] = {path.name: path.stat().st_size for path in sources}
        # What ran beside it, as far as that is known: 1, 5 and 15 minutes.
        options["load_average"] = [round(each, 2) for each in os.getloadavg()]
        head = record.description() | {"arguments": options, "all_equal": not wrong}
        record.write(arguments.output, head, **found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
