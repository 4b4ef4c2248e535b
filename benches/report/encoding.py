"""The table and the page on encoding, from the cells of `harness.compare encoding`."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from harness import capacity, record
from harness.engines import SLOW
from harness.record import Cell, Result
from report.page import between, provenance
from report.targets import OURS, PER_CALL, SUITE, TITLES, Verdict, groups, judge_all, ratio

NAME = "performance"

METHOD = """Ids are compared before anything is timed, and engines take turns. Speeds are medians over texts
and encodings. Ratios are the other's time divided by ours: the median over the texts, in the encoding
where it is least, and in brackets the least of all. One thread unless the row says otherwise. "Replay"
is text seen before by the process (a warm cache); "first pass" is text never seen, in a fresh process (a
cold one)."""

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
    if unit != "x":
        return quantity(value, unit)
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}x"


def outcome(verdict: Verdict) -> str:
    """Returns whether a target is met, as text."""
    return {True: "met", False: "**missed**", None: "not measured"}[verdict.met]


def bound(verdict: Verdict) -> str:
    """Returns the bound of a target as text."""
    value = f"{verdict.bound:.3g}x" if verdict.unit == "x" else quantity(verdict.bound, verdict.unit)
    return f"{'at most' if verdict.at_most else 'at least'} {value}"


def sentence(verdict: Verdict) -> str:
    """Returns a verdict as a line."""
    against = f" against {verdict.against}" if verdict.against else ""
    met = outcome(verdict).strip("*")
    parts = [f"{verdict.row:10} {TITLES[verdict.row]}{against}: {met}, {bound(verdict)}"]
    if verdict.value is not None and verdict.worst is not None:
        parts.append(f"is {figure(verdict.value, verdict.unit)}")
        parts.append(f"worst {figure(verdict.worst, verdict.unit)} ({verdict.where})")
    return ", ".join(parts)


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
    times = ratio(group, contender)
    return speed([cell]) + ("" if contender == OURS or times is None else f" {times:6.2f}x")


# --- The section of the page ---


def section(result: Result, cells: Sequence[Cell]) -> str:
    """Returns the section of the page, between its marks."""
    parts = [introduction(result), comparison(cells), own_targets(cells), unfavourable(cells)]
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

`make bench-compare{folder}` repeats it; all figures are in `{SUITE["result"]}`. {METHOD}{parallelism}

![Ratios of the time of tiktoken and gigatoken to ours](../{SUITE["picture"].removeprefix("docs/")})
"""


def comparison(cells: Sequence[Cell]) -> str:
    """Returns the table against other engines."""
    verdicts = {(each.row, each.against): each for each in judge_all(cells)}
    lines = [
        "| | bytemill | tiktoken | gigatoken | fastest other | against tiktoken | against gigatoken |",
        "|---|---|---|---|---|---|---|",
    ]
    for row, title in TITLES.items():
        of_row = [cell for cell in cells if cell.row == row]
        if not of_row:
            continue
        compared = [group for group in groups(of_row).values() if not for_slow_engines(group)]
        columns = [speed(group[name] for group in compared if name in group) for name in (OURS, *RIVALS)]
        columns.append(fastest_other(compared))
        columns += [against(of_row, verdicts.get((row, rival)), rival) for rival in RIVALS]
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


def against(cells: Sequence[Cell], verdict: Verdict | None, rival: str) -> str:
    """Returns the ratio to a rival, with the target if there is one."""
    if verdict is None:
        ratios = [times for group in groups(cells).values() if (times := ratio(group, rival)) is not None]
        return f"{figure(statistics.median(ratios), 'x')} ({figure(min(ratios), 'x')})" if ratios else "-"
    if verdict.value is None or verdict.worst is None:
        return "not measured"
    ratios_of = f"{figure(verdict.value, 'x')} ({figure(verdict.worst, 'x')})"
    return f"{ratios_of}; {bound(verdict)}: {outcome(verdict)}"


def own_targets(cells: Sequence[Cell]) -> str:
    """Returns the targets about this library alone."""
    lines = ["| | | worst | target | |", "|---|---|---|---|---|"]
    for verdict in judge_all(cells):
        if verdict.against in RIVALS:
            continue
        title = TITLES[verdict.row] + (f", against {verdict.against}" if verdict.against else "")
        if verdict.value is None or verdict.worst is None:
            values = "- | -"
        else:
            value, worst = (figure(each, verdict.unit) for each in (verdict.value, verdict.worst))
            values = f"{value} | {worst}, {verdict.where}"
        lines.append(f"| {title} | {values} | {bound(verdict)} | {outcome(verdict)} |")
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
        "Where another engine is ahead, in how many of the texts and encodings, and by how much:\n",
        *lines,
        "",
    ]
    return "\n".join([*(faster if lines else []), *different(cells)])


def lead(of_row: Sequence[Mapping[str, Cell]], engine: str) -> str:
    """Returns in how many groups of a row another engine is ahead; empty for none."""
    ratios = [times for group in of_row if (times := ratio(group, engine)) is not None]
    ahead = [times for times in ratios if times < 1]
    if not ahead:
        return ""
    return f"{engine} in {len(ahead)} of {len(ratios)}, by up to {figure(1 / min(ahead), 'x')}"


def different(cells: Sequence[Cell]) -> Iterator[str]:
    """Yields the engines with other ids, and their texts."""
    engines = dict.fromkeys(cell.engine for cell in cells if cell.ids_equal is False)
    for engine in engines:
        wrong = [cell for cell in cells if cell.engine == engine and cell.ids_equal is False]
        corpora = ", ".join(dict.fromkeys(cell.corpus for cell in wrong))
        encodings = ", ".join(dict.fromkeys(cell.encoding for cell in wrong))
        yield f"{engine} gives other ids than tiktoken, and has no times there: {corpora} ({encodings}).\n"
