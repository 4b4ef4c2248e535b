"""The records of results: single measurements, what they depend on, and the JSON files that keep them."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

Result = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One measurement of an engine; without `median`, `error` is the reason.

    Attributes:
        row: Key of the row in `suites/encoding.toml`.
        corpus: Name of the text.
        encoding: Name of the encoding.
        engine: Name of the engine.
        contender: The same with its variant; unique in its group.
        call: Name of the function that is called.
        form: Form of its result.
        state: "first pass", "replay", "fresh pieces" or "isolated".
        threads: Number of threads.
        bytes: Bytes of text in a round.
        calls: Number of calls in a round.
        unit: Unit of `min` and `median`.
        ids_equal: Whether the ids are those of tiktoken.
    """

    row: str
    corpus: str
    encoding: str
    engine: str
    contender: str
    call: str
    form: str
    state: str
    threads: int
    bytes: int
    calls: int
    unit: str = "s"
    min: float | None = None
    median: float | None = None
    rounds: int = 0
    ids_equal: bool | None = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measurement of a trainer, as medians of the rounds; without `seconds`, `error` is the reason.

    Attributes:
        job: Key of the job in `suites/training.toml`.
        corpus: Name of the text.
        contender: Name of the trainer.
        pattern: What it splits by.
        bytes: Size of the text.
        threads: Maximum number of threads.
        seconds: Wall time.
        cpu_seconds: Time of all processors.
        peak_megabytes: Peak memory of the process.
        tokens: Number of tokens, or merges, or distinct pieces.
        pieces: Number of distinct pieces that were merged.
        equal: Whether the vocabulary equals that of our counterpart; `None` if it cannot.
        ratio: Its time divided by that of our counterpart.
    """

    job: str
    corpus: str
    contender: str
    pattern: str
    bytes: int
    threads: int
    rounds: int = 0
    seconds: float | None = None
    cpu_seconds: float | None = None
    peak_megabytes: float | None = None
    tokens: int | None = None
    pieces: int | None = None
    equal: bool | None = None
    ratio: float | None = None
    error: str | None = None

    @property
    def is_ours(self) -> bool:
        """Returns whether it is this library."""
        return self.contender.startswith("bytemill")


def machine() -> dict[str, Any]:
    """Returns what the results depend on besides the program."""
    cpu = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = [line.split(":", 1) for line in information.read_text().splitlines() if ":" in line]
        fields = {name.strip(): value.strip() for name, value in lines}
        cpu = fields.get("model name", cpu)
        if "cpu family" in fields:
            cpu += f", family {fields['cpu family']} model {fields.get('model', '?')}"
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = f"{platform.system()} {platform.release()}"
    return {
        "cpu": cpu,
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "memory_gigabytes": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": system,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def description() -> dict[str, Any]:
    """Returns the head of every result: date, machine and commit."""
    from support.revision import commit

    date = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return {"date": date, "machine": machine(), "source": commit()}


def given(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Returns some arguments of the command line; of paths the names, without the folders of this machine."""
    values = {name: getattr(options, name) for name in names}
    return {
        name: value.resolve().name if isinstance(value, Path) else value for name, value in values.items()
    }


def write(path: Path, head: Result, **records: Iterable[Any]) -> None:
    """Writes a result as JSON, with a line for each record."""
    # Imported here: workers measure engines in processes that have not imported this library.
    from bytemill.io.atomic import write_atomically

    lines = [f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items()]
    for name, each in records.items():
        rows = [
            json.dumps(rounded(one if isinstance(one, dict) else asdict(one)), ensure_ascii=False)
            for one in each
        ]
        lines.append(f" {json.dumps(name)}: [\n  " + ",\n  ".join(rows) + "\n ]")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def rounded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a record without missing values, and with significant digits only."""
    return {
        name: float(f"{value:.5g}") if isinstance(value, float) else value
        for name, value in record.items()
        if value is not None
    }


def read(path: Path) -> Result:
    """Reads a result."""
    result: Result = json.loads(path.read_text(encoding="utf-8"))
    return result
