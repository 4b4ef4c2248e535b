"""The tables, targets and page on training, from the figures of `harness.compare training`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import capacity, record
from harness.record import Figure, Result
from harness.trainers import OURS, TRAINERS
from harness.training import APART, SUITE
from report.judged import Judged, at_least
from report.page import between, provenance, times

NAME = "training"
OF_MODELS = "training of SentencePiece models"

JOBS: dict[str, Mapping[str, Any]] = {job["key"]: job for job in SUITE["jobs"]}

METHOD = """Each run is a fresh process with the same documents; engines take turns, and figures are
medians. Vocabularies are compared token for token with bytemill's, for the same pattern and tie-breaker.
Ratio = the engine's time / bytemill's; above 1x, bytemill is faster."""

METHOD_OF_PARTS = """ "2 processes" are two independent processes that each count half of the documents: the
speed that two threads can reach on this machine."""


def read_result(path: Path) -> tuple[Result, list[Figure]]:
    """Reads a result and its figures."""
    result = record.read(path)
    return result, [Figure(**figure) for figure in result["figures"]]


# --- Tables ---


def table(figures: Sequence[Figure]) -> str:
    """Returns all figures, a Markdown table for each job and text."""
    groups: dict[tuple[str, str], list[Figure]] = {}
    for figure in figures:
        groups.setdefault((figure.job, figure.corpus), []).append(figure)
    parts = []
    for (job, corpus), group in groups.items():
        lines = of_trainers(group) if JOBS[job]["measure"] == "train" else of_parts(group)
        title = f"**{JOBS[job]['title']}**: {corpus}, {group[0].bytes / 1e6:.1f} MB"
        parts.append(f"{title}\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def of_trainers(group: Sequence[Figure]) -> Iterator[str]:
    """Yields a line for each trainer."""
    yield "| | wall time | CPU time | peak memory | same vocabulary | ratio |"
    yield "|---|---|---|---|---|---|"
    for each in group:
        if each.seconds is None or each.cpu_seconds is None or each.peak_megabytes is None:
            yield f"| {each.contender} | {each.error or '-'} | - | - | - | - |"
            continue
        same = {True: "yes", False: "**no**", None: "-"}[each.equal]
        ratio = "-" if each.ratio is None else times(each.ratio)
        name = each.contender if each.is_ours else f"{each.contender}, {each.pattern}"
        yield (
            f"| {name} | {each.seconds:.2f} s | {each.cpu_seconds:.2f} s | {each.peak_megabytes:.0f} MB "
            f"| {same} | {ratio} |"
        )


def of_parts(group: Sequence[Figure]) -> Iterator[str]:
    """Yields a line for each pattern and number of threads, or processes with a part of the text each.

    Where pieces were merged, it ends with the memory for each, the interpreter's included.
    """
    merged = JOBS[group[0].job]["measure"] == "merge"
    head = "| pattern | threads | wall time | speed | peak memory |"
    yield head + merged * " distinct pieces | memory for each |"
    yield "|---|---|---|---|---|" + merged * "---|---|"
    for each in group:
        threads = APART.removeprefix(f"{OURS}, ") if each.contender == APART else each.threads
        amount = each.bytes / 1e6 if each.job == "counting" else each.tokens
        if each.seconds is None or amount is None or each.peak_megabytes is None:
            yield f"| {each.pattern} | {threads} | {each.error or '-'} | - | - |" + merged * " - | - |"
            continue
        rate = amount / each.seconds
        speed = f"{rate:.0f} MB/s" if each.job == "counting" else f"{rate:,.0f} merges/s"
        seconds, memory = f"{each.seconds:.3f} s", f"{each.peak_megabytes:.0f} MB"
        line = f"| {each.pattern} | {threads} | {seconds} | {speed} | {memory} |"
        if each.pieces is not None:
            line += f" {each.pieces:,} | {each.peak_megabytes * 1e6 / each.pieces:,.0f} bytes |"
        elif merged:
            line += " - | - |"
        yield line


# --- Targets ---


def judged(figures: Sequence[Figure]) -> list[Judged]:
    """Returns the targets that were measured."""
    found: list[Judged] = []
    for key, job in JOBS.items():
        if "targets" in job:
            group = [each for each in figures if each.job == key and each.seconds is not None]
            found += against_rivals(job, group)
    for each in figures:
        if "rate" in JOBS[each.job] and each.threads == 1 and each.seconds:
            found += of_ours(JOBS[each.job], each, figures)
    return found


def against_rivals(job: Mapping[str, Any], group: Sequence[Figure]) -> Iterator[Judged]:
    """Yields the targets about rivals with the same vocabulary."""
    rivals = {each.contender: each for each in group if not each.is_ours and each.equal}
    ratios = {name: each.ratio for name, each in rivals.items() if each.ratio is not None}
    if not ratios:
        return
    fastest = min(ratios, key=ratios.__getitem__)
    for target in job["targets"]:
        against, bound = target["against"], target["bound"]
        if against == "fastest":
            yield compared(job, f"time compared with the fastest, {fastest}", ratios[fastest], bound)
        elif against in ratios:
            yield compared(job, f"time compared with {against}", ratios[against], bound)
        elif against == "leanest memory":
            memory = {name: each.peak_megabytes for name, each in rivals.items() if each.peak_megabytes}
            leanest = min(memory, key=memory.__getitem__)
            counterpart = TRAINERS[leanest].counterpart
            ours = next((each.peak_megabytes for each in group if each.contender == counterpart), None)
            if ours is not None:
                what = f"peak memory compared with the leanest, {leanest}"
                yield compared(job, what, memory[leanest] / ours, bound)


def compared(job: Mapping[str, Any], what: str, value: float, bound: float) -> Judged:
    """Returns the verdict on a ratio of a job."""
    return at_least(f"{job['title']}: {what}", value, bound, times(value))


def of_ours(job: Mapping[str, Any], one: Figure, figures: Sequence[Figure]) -> Iterator[Judged]:
    """Yields the targets of our speed on one thread, and of the speed-up by two; of counting in English."""
    assert one.seconds is not None
    if job["measure"] == "merge":
        if one.tokens:
            rate = one.tokens / one.seconds
            what = f"{job['title']}: {one.corpus}, one thread"
            yield at_least(what, rate, job["rate"], f"{rate:,.0f} merges/s", " merges/s")
        return
    if not one.corpus.startswith("english"):
        return
    what = f"{job['title']}: {one.corpus}, {one.pattern}"
    rate = one.bytes / one.seconds / 1e6
    yield at_least(f"{what}, one thread", rate, job["rate"], f"{rate:,.0f} MB/s", " MB/s")
    two, apart = (
        next(
            (
                one.seconds / each.seconds
                for each in figures
                if (each.job, each.corpus, each.pattern) == (one.job, one.corpus, one.pattern)
                and (each.contender, each.threads) == (contender, 2)
                and each.seconds
            ),
            None,
        )
        for contender in (OURS, APART)
    )
    if two is not None:
        shown = times(two) + (
            "" if apart is None else f"; two processes with half of the text each: {times(apart)}"
        )
        yield at_least(f"{what}, two threads compared with one", two, job["two_threads"], shown)


# --- The section of the page ---


def runs(figures: Sequence[Figure]) -> str:
    """Returns the number of runs, or the fewest and the most."""
    numbers = sorted({figure.rounds for figure in figures if figure.rounds}) or [0]
    return " to ".join(map(str, dict.fromkeys([numbers[0], numbers[-1]])))


def section(result: Result, figures: Sequence[Figure], name: str = NAME) -> str:
    """Returns a section of the page, between its marks."""
    arguments = result["arguments"]
    given = [f"--{name} {value}" for name, value in (("corpus", "DIR"), ("large", "FILE")) if arguments[name]]
    target = "bench-training" if name == NAME else "bench-training-models"
    command = f"make {target}" + (f' ARGS="{" ".join(given)}"' if given else "")
    apart = METHOD_OF_PARTS if any(each.contender == APART for each in figures) else ""
    introduction = (
        f"{provenance(result)} Runs: {runs(figures)}.\n\n"
        f"`{command}` measures again.{capacity.sentence(result.get('cores', {}))}\n\n{METHOD}{apart}"
    )
    return between(name, f"{introduction}\n\n{table(figures)}\n")
