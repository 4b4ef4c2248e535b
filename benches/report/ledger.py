"""The page of the ledger, a line for each row that `programs.ledger` records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from bytemill.cli.ledger import NAMES, differences
from harness.suites import ROOT
from report.page import between

NAME = "ledger"
RESULT = ROOT / "benches" / "results" / "ledger.jsonl"
PAGE = ROOT / "docs" / "ledger.md"

COLUMNS = ["row", "models", "file", "MB", "documents", *NAMES.values()]

# Digits of digests and commits that are shown.
DIGITS = 8

Row: TypeAlias = Mapping[str, Any]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Returns the recorded rows."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def section(rows: Sequence[Row]) -> str:
    """Returns the generated part of the page."""
    return between(NAME, "\n".join(lines(rows)) + "\n")


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the lines: the sums, a table for each library and kind, and the differences."""
    yield sums(rows)
    yield ""
    yield f"Compared in all rows: {'; '.join(compared(rows, aspect) for aspect in NAMES)}."
    for (oracle, kind), group in groupby(sorted(rows, key=group_of), key=group_of):
        yield ""
        yield f"## {oracle}: {kind}"
        yield ""
        yield f"| {' | '.join(COLUMNS)} |"
        yield "|---" * 3 + "|---:" * (len(COLUMNS) - 3) + "|"
        yield from map(line, group)
    yield ""
    yield "## Differences"
    yield ""
    found = [(row, each) for row in rows for each in row["found"]]
    yield from (difference(row, each) for row, each in found)
    if not found:
        yield "None."


def group_of(row: Row) -> tuple[str, str]:
    """Returns the library and the kind, which the rows of a table have in common."""
    return row["oracle"], row["kind"]


def sums(rows: Sequence[Row]) -> str:
    """Returns the line with the sums of all rows."""
    size, derived, seconds = (sum(row[key] for row in rows) for key in ("bytes", "bytes_derived", "seconds"))
    differing = sum(map(differences, rows))
    real = sum(row["file"] == "real" for row in rows)
    return (
        f"**{len(rows)} rows**, {real} of them real files: {size / 1e6:,.1f} MB of text, "
        f"{derived / 1e6:,.1f} MB of it derived; **{differing:,} differences**; "
        f"{seconds / 60:,.0f} minutes of processor time. Runs: {', '.join(sorted(set(map(run, rows))))}. "
        f"Versions of the encoders: {len({row['encoders'] for row in rows})}."
    )


def compared(rows: Sequence[Row], aspect: str) -> str:
    """Returns how much was compared in an aspect of all rows."""
    total = sum(row[aspect]["compared"] for row in rows if row[aspect])
    return f"{NAMES[aspect]} {total:,}"


def run(row: Row) -> str:
    """Returns with which commit of this library a row was compared, and when."""
    commit = row["commit"][:DIGITS] if row["commit"] else "unknown"
    return f"{commit}{' with changes' if row['dirty'] else ''} ({row['date'][:10]})"


def line(row: Row) -> str:
    """Returns the line of a row."""
    digests = " ".join(digest[:DIGITS] for digest in row["files"].values())
    cells = [
        row["name"],
        row["families"],
        f"{row['file']} {digests}",
        f"{row['bytes'] / 1e6:.1f}",
        f"{row['documents']:,}",
        *(tally(row[aspect]) for aspect in NAMES),
    ]
    return f"| {' | '.join(cells)} |"


def tally(sums: Mapping[str, int] | None) -> str:
    """Returns how much was compared in an aspect, and how many documents differ."""
    if sums is None:
        return "none"
    compared = f"{sums['compared']:,}"
    return compared if not sums["differences"] else f"**{compared}: {sums['differences']:,} differ**"


def difference(row: Row, found: Mapping[str, Any]) -> str:
    """Returns the line of a difference, with the shortest text that shows it."""
    text = ascii(found["text"]).replace("`", r"\x60").replace("|", r"\x7c")
    return f"- {row['name']}, {NAMES[found['aspect']]}: `{text}`"
