"""The table and the page on encoding, from the cells of `harness.compare encoding`."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from harness import capacity, record
from harness.engines import SLOW
from harness.record import Cell, Result
from report.judged import Judged
from report.page import between, picture, provenance, times
from report.targets import OURS, PER_CALL, SUITE, TITLES, Verdict, compared, groups, judge_all, ratio

NAME = "performance"

METHOD = """Token IDs are compared before anything is timed, and engines take turns. Speeds are medians
over texts and encodings, on one thread unless the row says otherwise. **First pass** is cold: a fresh
process encodes text that it has never seen. **Replay** is warm: the process has encoded the text before.

Ratio = other / bytemill, of time or memory: above 1x, bytemill is faster or takes less. The first number
is the worst median of any encoding, the number in brackets the worst single text."""

RIVALS: Sequence[str] = SUITE["rivals"]


def read_result(path: Path) -> tuple[Result, list[Cell]]:
    """Reads a result and its cells."""
    result = record.read(path)
    return result, [Cell(**cell) for cell in result["cells"]]


# --- Figures in words ---


def quantity(seconds_or_megabytes: float, unit: str) -> str:
    """Returns a time or an amount of memory as text."""
    if unit == "MB":
        return f"{seconds_or_megabytes:.1f} MB"
    if seconds_or_megabytes < 1e-3:
        return f"{seconds_or_megabytes * 1e6:.2f} µs"
    return f"{seconds_or_megabytes * 1e3:.1f} ms"


def speed(cells: Iterable[Cell]) -> str:
    """Returns the median of cells of a row as text: bytes per second, seconds per call, or megabytes."""
    cells = [cell for cell in cells if cell.median is not None]
    if not cells:
        return "-"
    if cells[0].unit == "MB" or cells[0].row in PER_CALL:
        return quantity(statistics.median((cell.median or 0) / cell.calls for cell in cells), cells[0].unit)
    rate = statistics.median(cell.bytes / cell.median / 1e6 for cell in cells if cell.median)
    return f"{rate:.0f} MB/s" if rate >= 10 else f"{rate:.1f} MB/s"


def figure(value: float, unit: str) -> str:
    """Returns a ratio, a time or an amount of memory as text."""
    return times(value) if unit == "x" else quantity(value, unit)


def judged(cells: Sequence[Cell]) -> list[Judged]:
    """Returns the targets of all rows with what was measured."""
    return [in_words(verdict) for verdict in judge_all(cells)]


def in_words(verdict: Verdict) -> Judged:
    """Returns a verdict as text."""
    title = TITLES[verdict.row] + (f", compared with {verdict.against}" if verdict.against else "")
    value = "-"
    if verdict.value is not None and verdict.worst is not None:
        median, worst = (figure(each, verdict.unit) for each in (verdict.value, verdict.worst))
        value = f"{median}, worst {worst} ({verdict.where})"
    bound = f"{verdict.bound:.3g}x" if verdict.unit == "x" else quantity(verdict.bound, verdict.unit)
    return Judged(title, value, f"{'at most' if verdict.at_most else 'at least'} {bound}", verdict.met)


# --- The whole table, for a terminal ---


def table(cells: Sequence[Cell]) -> str:
    """Returns all figures: a line per group, a column per contender, with its time divided by ours."""
    lines: list[str] = []
    for row, title in TITLES.items():
        of_row = [cell for cell in cells if cell.row == row]
        if not of_row:
            continue
        contenders = list(dict.fromkeys(cell.contender for cell in of_row))
        widths = [max(len(name), 20) + 2 for name in contenders]
        heads = (f"{name:>{width}}" for name, width in zip(contenders, widths, strict=True))
        lines += ["", f"{row}: {title}", f"  {'':34}" + "".join(heads)]
        for (_, corpus, encoding), group in groups(of_row).items():
            columns = (
                f"{entry(group, name):>{width}}" for name, width in zip(contenders, widths, strict=True)
            )
            lines.append(f"  {corpus[:21]:22}{encoding:12}" + "".join(columns))
    return "\n".join(lines)


def entry(group: Mapping[str, Cell], contender: str) -> str:
    """Returns one contender of a group as text."""
    cell = group.get(contender)
    if cell is None:
        return "-"
    if cell.median is None:
        return (cell.error or "-")[:20]
    value = ratio(group, contender)
    return speed([cell]) + ("" if contender == OURS or value is None else f" {value:6.2f}x")


# --- The section of the page ---


def section(result: Result, cells: Sequence[Cell]) -> str:
    """Returns the section of the page, between its marks."""
    parts = [introduction(result), comparison(cells), with_itself(cells), unfavourable(cells)]
    return between(NAME, "\n".join(part for part in parts if part))


def introduction(result: Result) -> str:
    """Returns the provenance of the figures and their meaning."""
    arguments = result["arguments"]
    corpora = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in result["corpora"].items())
    parallelism = capacity.sentence(result.get("cores", {}))
    folder = "" if arguments["corpus"] is None else ' ARGS="--corpus DIR"'
    quick = (
        "**A quick run on small texts, with one round for each figure: an example, not a measurement.**\n\n"
        if arguments["quick"]
        else ""
    )
    return f"""{quick}{provenance(result)} Texts: {corpora}.

`make bench-compare{folder}` measures again; `{SUITE["result"]}` has all figures.{parallelism}

{METHOD}

{picture("compare", "Time and memory of tiktoken and gigatoken, divided by those of bytemill")}
"""


def comparison(cells: Sequence[Cell]) -> str:
    """Returns the table against other engines."""
    heads = ["", OURS, *RIVALS, "fastest other", *(f"{rival} / {OURS}" for rival in RIVALS)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row, title in TITLES.items():
        of_row = [cell for cell in cells if cell.row == row]
        if not of_row:
            continue
        groups_of_row = [group for group in groups(of_row).values() if not for_slow_engines(group)]
        columns = [speed(group[name] for group in groups_of_row if name in group) for name in (OURS, *RIVALS)]
        columns.append(fastest_other(groups_of_row))
        columns += [ratios(compared(row, rival, of_row)) for rival in RIVALS]
        lines.append(f"| {title} | {' | '.join(columns)} |")
    return "\n".join(lines) + "\n"


def for_slow_engines(group: Mapping[str, Cell]) -> bool:
    """Returns whether a group is the beginning of a text, measured for slow engines."""
    others = {cell.engine for cell in group.values()} - {OURS}
    return bool(others) and others <= SLOW


def fastest_other(compared: Sequence[Mapping[str, Cell]]) -> str:
    """Returns the fastest engine besides the three, by its median over the groups in which it has a time."""
    of_engine: dict[str, list[Cell]] = {}
    for group in compared:
        for cell in group.values():
            if cell.engine not in (OURS, *RIVALS) and cell.contender == cell.engine and cell.median:
                of_engine.setdefault(cell.engine, []).append(cell)
    if not of_engine:
        return "-"
    # Without bytes, the fewest seconds or megabytes win.
    pace = {
        engine: statistics.median((cell.bytes or 1) / (cell.median or 1) for cell in of_one)
        for engine, of_one in of_engine.items()
    }
    engine = max(pace, key=pace.__getitem__)
    threads = max(cell.threads for cell in of_engine[engine])
    return f"{engine} {speed(of_engine[engine])}" + (f" on {threads} threads" if threads > 1 else "")


def ratios(verdict: Verdict) -> str:
    """Returns the median and the worst ratio to a rival."""
    if verdict.value is None or verdict.worst is None:
        return "-"
    return f"{times(verdict.value)} ({times(verdict.worst)})"


def with_itself(cells: Sequence[Cell]) -> str:
    """Returns how calls of this library compare with each other: threads, special tokens, counting."""
    lines = ["| bytemill | compared with | ratio | worst single text |", "|---|---|---|---|"]
    for verdict in judge_all(cells):
        if verdict.against is None or verdict.against in RIVALS or verdict.value is None:
            continue
        other = verdict.against.removeprefix(f"{OURS}, ")
        worst = f"{times(verdict.worst or 0)}, {verdict.where}"
        lines.append(f"| {TITLES[verdict.row]} | {other} | {times(verdict.value)} | {worst} |")
    return "\n".join(lines) + "\n"


def unfavourable(cells: Sequence[Cell]) -> str:
    """Returns where another engine is faster, and where one has other ids."""
    lines = []
    for row, title in TITLES.items():
        of_row = [group for group in groups(cells).values() if next(iter(group.values())).row == row]
        engines = dict.fromkeys(cell.engine for group in of_row for cell in group.values())
        ahead = [words for engine in engines if engine != OURS and (words := lead(of_row, engine))]
        if ahead:
            lines.append(f"- {title}: {'; '.join(ahead)}.")
    faster = [
        "Where another engine is ahead, in how many combinations of text and encoding, and by how much:\n",
        *lines,
        "",
    ]
    return "\n".join([*(faster if lines else []), *different(cells)])


def lead(of_row: Sequence[Mapping[str, Cell]], engine: str) -> str:
    """Returns in how many groups of a row another engine is ahead; empty for none."""
    found = [value for group in of_row if (value := ratio(group, engine)) is not None]
    ahead = [value for value in found if value < 1]
    if not ahead:
        return ""
    return f"{engine} in {len(ahead)} of {len(found)}, by up to {times(1 / min(ahead))}"


def different(cells: Sequence[Cell]) -> Iterator[str]:
    """Yields the engines with other ids, and their texts."""
    engines = dict.fromkeys(cell.engine for cell in cells if cell.ids_equal is False)
    for engine in engines:
        wrong = [cell for cell in cells if cell.engine == engine and cell.ids_equal is False]
        corpora = ", ".join(dict.fromkeys(cell.corpus for cell in wrong))
        encodings = ", ".join(dict.fromkeys(cell.encoding for cell in wrong))
        without = f"{corpora} ({encodings})"
        yield f"{engine} returns other token IDs than tiktoken, so it has no times for {without}.\n"
