"""The tables of the page on scale, from the rows of `harness.scale`, and the model of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log2
from typing import Any, NamedTuple

from harness.record import Result
from report.page import commit_of

GIGA = 1e9

INTRODUCTION = """\
# Scale

What counting, training and tokenizing cost: by stage, by size of a unit of work, on Ray and Spark
compared with one process, and an estimate for a large cluster. [Ray and Spark](../guides/cluster.md)
shows how to run this. `python -m benches report scale` writes this page from what `make bench-scale` has
recorded.

The texts are mixed from other texts, block by block, with a new name in each document. CPU seconds
include all processes: the program, and the servers, virtual machines and workers of an engine. Peak
memory is the most that all of them had at once, without shared memory, sampled four times a second.

"""

Row = dict[str, Any]


class Cluster(NamedTuple):
    """The cluster of the model, which has not been measured.

    Attributes:
        nodes: Its machines.
        cores: The processors of each.
        read: Gigabytes that each reads in a second from where the files are.
        unit: Gigabytes of a unit.
        power: The exponent with which distinct pieces grow beyond what was measured, in a varied corpus.
    """

    nodes: int = 64
    cores: int = 32
    read: float = 2.0
    unit: float = 2.0
    power: float = 0.75


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Returns the lines of a table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def per_gigabyte(row: Row, name: str = "cpu_seconds") -> float:
    """Returns a figure of a row for each gigabyte of text."""
    value: float = row[name] / row["bytes"] * GIGA
    return value


def named(rows: Iterable[Row], stage: str) -> list[Row]:
    """Returns the rows of a stage."""
    return [row for row in rows if row["stage"] == stage]


def head(result: Result, name: str) -> list[str]:
    """Returns what the results depend on, and how to repeat them."""
    machine = result["machine"]
    load = result["arguments"]["load_average"][-1]
    text = (
        f"{result['date'][:10]}, commit {commit_of(result)}, on {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_gigabytes']} GB, {machine['system']}, {machine['python']}. "
        f"`{name}` measures again."
    )
    note = (
        f"Other programs were running (load average {load:g}), so CPU seconds are more reliable than seconds."
    )
    return [text, note, ""]


def exponent(rows: Sequence[Row]) -> float:
    """Returns the exponent with which distinct pieces grow over the last doubling."""
    last = rows[-1]
    before = min(rows[:-1], key=lambda row: abs(row["bytes"] * 2 - last["bytes"]))
    return log2(last["pieces"] / before["pieces"]) / log2(last["bytes"] / before["bytes"])


def page_of(result: Result, large: Result) -> str:
    """Returns the page."""
    return INTRODUCTION + large_section(large) + section(result)


def section(result: Result) -> str:
    """Returns the section of measurements and the model."""
    lines = ["## Costs", "", *head(result, 'make bench-scale ARGS="--corpus PATH..."')]
    lines += ["**CPU seconds per gigabyte of text**, one thread.", ""]
    lines += table(
        ["stage", "CPU seconds per GB", "CPU µs per different piece"],
        [
            [
                row["stage"],
                f"{per_gigabyte(row):.2f}",
                f"{row['cpu_seconds'] / row['pieces'] * 1e6:.2f}" if "pieces" in row else "",
            ]
            for row in result["stages"]
        ],
    )
    lines += [
        "**Different pieces** by amount of text: of the original texts (once), and of the mix (mixed).",
        "",
    ]
    lines += table(
        ["text", "size", "distinct pieces", "pieces"],
        [
            [row["text"], f"{row['bytes'] / 1e6:,.0f} MB", f"{row['pieces']:,}", f"{row['total']:,}"]
            for row in result["growth"]
        ],
    )
    once, mixed = (exponent(of_text(result, name)) for name in ("once", "mixed"))
    lines += [
        f"Over the last doubling, the exponents of growth are {once:.2f} (once) and {mixed:.2f} (mixed).",
        "",
    ]
    lines += [
        "**Units of work**: different sizes, counted in one process, and the cost of adding up the counts.",
        "",
    ]
    lines += table(
        ["largest unit", "units", "CPU seconds per GB", "bytes of runs per GB", "adding up, µs per row"],
        [
            [
                f"{counted['unit_bytes'] / 1e6:,.0f} MB",
                str(counted["units"]),
                f"{per_gigabyte(counted):.2f}",
                f"{per_gigabyte(added, 'run_bytes') / 1e6:,.0f} MB",
                f"{added['cpu_seconds'] / added['rows'] * 1e6:.2f}",
            ]
            for counted, added in zip(
                named(result["runs"], "count units"), named(result["runs"], "add up"), strict=True
            )
        ],
    )
    lines += ["**Learning** from sorted counts.", ""]
    lines += table(
        ["tokens", "distinct pieces", "seconds", "CPU µs per piece"],
        [
            [
                f"{row['vocab_size']:,}",
                f"{row['pieces']:,}",
                f"{row['seconds']:.1f}",
                f"{row['cpu_seconds'] / row['pieces'] * 1e6:.1f}",
            ]
            for row in result["training"]
        ],
    )
    equal = "equal" if result["all_equal"] else "NOT EQUAL"
    units = named(result["engines"], "count")[0]["units"]
    lines += [
        f"**Engines**: empty units, and a job of {units} units, two at a time except for Local(1).",
        f"All results are {equal}.",
        "",
    ]
    lines += table(ENGINE_HEADS, engine_rows(result["engines"]))
    lines += ["**Adding up** the same counts, by bytemill and by the engines' own operations.", ""]
    lines += table(
        ["by", "seconds", "CPU seconds", "peak memory, MB", "distinct pieces"],
        [
            [
                f"{row['engine']}: {row['stage']}" if "engine" in row else "`PieceCounts.merge_files`",
                f"{row['seconds']:.1f}",
                f"{row['cpu_seconds']:.1f}",
                # This library is called in the process that measures, which has much besides.
                f"{row['peak_megabytes']:,.0f}" if "engine" in row else "",
                f"{row['pieces']:,}",
            ]
            for row in result["sums"]
        ],
    )
    return "\n".join([*lines, *model(result, Cluster())]) + "\n"


ENGINE_HEADS = (
    "engine",
    "ms per empty unit",
    "driver's MB per 1,000 of them",
    "count, s",
    "CPU s per GB",
    "shards, s",
    "CPU s per GB",
    "peak memory, MB",
)


def of_text(result: Result, name: str) -> list[Row]:
    """Returns how the distinct pieces of a text grow."""
    return [row for row in result["growth"] if row["text"] == name]


def engine_rows(rows: Sequence[Row]) -> list[list[str]]:
    """Returns the rows of the table of engines."""
    names = dict.fromkeys(row["engine"] for row in rows)
    found = []
    for name in names:
        of = {row["stage"]: row for row in rows if row["engine"] == name}
        empty, count, shards = of["empty units"], of["count"], of["shards"]
        found.append(
            [
                name,
                f"{empty['seconds'] / empty['units'] * 1e3:.1f}",
                f"{empty['driver_megabytes'] / empty['units'] * 1e3:.1f}",
                f"{count['seconds']:.1f}",
                f"{per_gigabyte(count):.2f}",
                f"{shards['seconds']:.1f}",
                f"{per_gigabyte(shards):.2f}",
                f"{max(count['peak_megabytes'], shards['peak_megabytes']):,.0f}",
            ]
        )
    return found


MODEL_HEADS = (
    "text, exponent",
    "units",
    "distinct pieces",
    "runs",
    "count",
    "add up",
    "load",
    "learn",
    "shards",
    "total",
)


def model(result: Result, cluster: Cluster) -> list[str]:
    """Returns the model of a cluster: what is measured here, multiplied."""
    count = per_gigabyte(named(result["stages"], "read, split, count")[0])
    encode = per_gigabyte(named(result["stages"], "read, encode, write")[0])
    added = named(result["runs"], "add up")[-1]
    row_seconds = added["cpu_seconds"] / added["rows"]
    run_bytes = added["run_bytes"] / added["rows"]
    trained = result["training"][-1]
    piece_seconds = trained["seconds"] / trained["pieces"]
    growth = of_text(result, "once")
    last, measured = growth[-1], exponent(growth)
    loaded = named(result["stages"], "load")[0]
    load_seconds = loaded["seconds"] / loaded["pieces"]

    def pieces(gigabytes: float, power: float) -> float:
        return float(last["pieces"] * (gigabytes * GIGA / last["bytes"]) ** power)

    rows = []
    for size, power in ((size, power) for power in (measured, cluster.power) for size in (1_000, 10_000)):
        units = size / cluster.unit
        read = size / cluster.nodes / cluster.read
        cores = cluster.nodes * cluster.cores
        run_rows = units * pieces(cluster.unit, power)
        seconds = [
            max(read, size * count / cores),
            run_rows * row_seconds / cores,
            pieces(size, power) * load_seconds,
            pieces(size, power) * piece_seconds,
            max(read, size * encode / cores),
        ]
        rows.append(
            [
                f"{size // 1000} TB, {power:.2f}",
                f"{units:,.0f}",
                f"{pieces(size, power) / 1e6:,.0f} M",
                f"{run_rows * run_bytes / GIGA:,.0f} GB",
                *(f"{each:,.0f} s" for each in seconds),
                f"{sum(seconds) / 60:,.0f} min",
            ]
        )
    inputs = [
        f"{cluster.nodes} nodes of {cluster.cores} cores as fast as the one above",
        f"each node reads {cluster.read:g} GB/s",
        f"units of {cluster.unit:g} GB",
        f"{count:.2f} CPU seconds per GB to count, {encode:.2f} to write shards",
        f"{last['pieces']:,} distinct pieces in {last['bytes'] / GIGA:.2f} GB, the exponent {measured:.2f}",
        f"also the exponent {cluster.power:.2f}, a guess for a corpus with more sources",
        f"{run_bytes:.1f} bytes and {row_seconds * 1e6:.2f} µs for each row of the runs, by all cores",
        f"{load_seconds * 1e6:.2f} µs to load each different piece",
        f"{piece_seconds * 1e6:.1f} µs for each different piece to learn {trained['vocab_size']:,} tokens",
    ]
    return [
        "## A model of a cluster",
        "",
        "This is an estimate and has not been measured: it multiplies the figures above. Its inputs:",
        "",
        *(f"- {each};" for each in inputs),
        "- counting and writing take as long as reading or CPU, whichever is longer;",
        "- starting tasks, the network between nodes and failures cost nothing.",
        "",
        *table(MODEL_HEADS, rows),
        "All machines add up; one machine loads and learns.",
    ]


def large_section(result: Result) -> str:
    """Returns the section of the large text."""
    arguments = result["arguments"]
    lines = ["## A corpus as a whole", ""]
    lines += head(result, f'make bench-scale ARGS="--large {arguments["large"]:g} --corpus PATH..."')
    equal = "equal" if result["all_equal"] else "NOT EQUAL"
    text = (
        f"{result['large'][0]['bytes'] / GIGA:.1f} GB of JSON Lines, a vocabulary of "
        f"{arguments['vocab_size']:,} tokens. "
        f"The SHA-256 hashes of counts, vocabulary and token IDs are {equal}."
    )
    disk = result["large"][-1]["folder_bytes"] / GIGA
    lines += [
        text,
        f"All files took {disk:.1f} GB of disk.",
        "",
        *table(
            ["engine", "stage", "seconds", "CPU seconds", "peak memory, MB", "result", "SHA-256"],
            [
                [
                    row["engine"],
                    row["stage"],
                    f"{row['seconds']:,.0f}",
                    f"{row['cpu_seconds']:,.0f}",
                    f"{row['peak_megabytes']:,.0f}",
                    result_of(row),
                    f"`{row['sha256'][:8]}`",
                ]
                for row in result["large"]
            ],
        ),
    ]
    return "\n".join([*lines, ""])


def result_of(row: Row) -> str:
    """Returns what a stage has made."""
    for name, what in (("pieces", "distinct pieces"), ("tokens", "tokens")):
        if name in row:
            return f"{row[name]:,} {what}"
    return ""
