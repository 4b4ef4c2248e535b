"""The tables, verdicts and page on training, from the figures of `harness.compare training`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import capacity, record
from harness.record import Figure, Result
from harness.trainers import OURS, TRAINERS
from harness.training import APART, SUITE
from report.page import between, provenance

NAME = "training"
OF_MODELS = "training of SentencePiece models"

JOBS: dict[str, Mapping[str, Any]] = {job["key"]: job for job in SUITE["jobs"]}

METHOD = """Each run is a fresh process with the same documents; engines take turns, ours before each of the
others; figures are medians. Vocabularies are compared token for token with ours by the same pattern and
tie-breaker; sentencepiece trains models of its own kind, beside ours of that kind. Targets
are about rivals with the same vocabulary. Two processes that share nothing and count every other
document each show the attainable speed of two threads."""


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
        parts.append(f"{JOBS[job]['title']}: {corpus}, {group[0].bytes / 1e6:.1f} MB\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def of_trainers(group: Sequence[Figure]) -> Iterator[str]:
    """Yields a line for each trainer."""
    yield "| | wall | CPU | peak memory | same vocabulary | its time / ours |"
    yield "|---|---|---|---|---|---|"
    for each in group:
        if each.seconds is None or each.cpu_seconds is None or each.peak_megabytes is None:
            yield f"| {each.contender} | {each.error or '-'} | - | - | - | - |"
            continue
        same = {True: "yes", False: "**no**", None: "-"}[each.equal]
        ratio = "-" if each.ratio is None else f"{each.ratio:.1f}x"
        name = each.contender if each.is_ours else f"{each.contender}, {each.pattern}"
        yield (
            f"| {name} | {each.seconds:.2f} s | {each.cpu_seconds:.2f} s | {each.peak_megabytes:.0f} MB "
            f"| {same} | {ratio} |"
        )


def of_parts(group: Sequence[Figure]) -> Iterator[str]:
    """Yields a line for each pattern and number of threads, or processes with a part of the text each."""
    yield "| | threads | wall | speed | peak memory |"
    yield "|---|---|---|---|---|"
    for each in group:
        threads = APART.removeprefix(f"{OURS}, ") if each.contender == APART else each.threads
        amount = each.bytes / 1e6 if each.job == "counting" else each.tokens
        if each.seconds is None or amount is None or each.peak_megabytes is None:
            yield f"| {each.pattern} | {threads} | {each.error or '-'} | - | - |"
            continue
        rate = amount / each.seconds
        speed = f"{rate:.0f} MB/s" if each.job == "counting" else f"{rate:,.0f} merges/s"
        seconds, memory = f"{each.seconds:.3f} s", f"{each.peak_megabytes:.0f} MB"
        yield f"| {each.pattern} | {threads} | {seconds} | {speed} | {memory} |"


# --- Targets ---


def verdicts(figures: Sequence[Figure]) -> list[str]:
    """Returns whether the targets are met, a line for each that was measured."""
    lines: list[str] = []
    for key, job in JOBS.items():
        if "targets" in job:
            group = [each for each in figures if each.job == key and each.seconds is not None]
            lines += against_rivals(job, group)
    for each in figures:
        if "rate" in JOBS[each.job] and each.threads == 1 and each.seconds:
            lines += of_ours(JOBS[each.job], each, figures)
    return lines


def against_rivals(job: Mapping[str, Any], group: Sequence[Figure]) -> Iterator[str]:
    """Yields the verdicts on the rivals with the same vocabulary."""
    rivals = {each.contender: each for each in group if not each.is_ours and each.equal}
    ratios = {name: each.ratio for name, each in rivals.items() if each.ratio is not None}
    if not ratios:
        return
    fastest = min(ratios, key=ratios.__getitem__)
    for target in job["targets"]:
        against, bound = target["against"], target["bound"]
        if against == "fastest":
            yield verdict(
                f"{job['key']}: time of the fastest rival, {fastest}, to ours", ratios[fastest], bound, "x"
            )
        elif against in ratios:
            yield verdict(f"{job['key']}: time of {against} to ours", ratios[against], bound, "x")
        elif against == "leanest memory":
            memory = {name: each.peak_megabytes for name, each in rivals.items() if each.peak_megabytes}
            leanest = min(memory, key=memory.__getitem__)
            counterpart = TRAINERS[leanest].counterpart
            ours = next((each.peak_megabytes for each in group if each.contender == counterpart), None)
            if ours is not None:
                yield verdict(
                    f"{job['key']}: peak memory of the leanest rival to ours",
                    memory[leanest] / ours,
                    bound,
                    "x",
                )


def of_ours(job: Mapping[str, Any], one: Figure, figures: Sequence[Figure]) -> Iterator[str]:
    """Yields the verdicts on our speed on one thread, and on the speed-up by two; of counting in English."""
    assert one.seconds is not None
    if job["measure"] == "merge":
        if one.tokens:
            yield verdict(
                f"{one.job}: {one.corpus}, one thread", one.tokens / one.seconds, job["rate"], " merges/s"
            )
        return
    if not one.corpus.startswith("english"):
        return
    what = f"{one.job}: {one.corpus}, {one.pattern}"
    yield verdict(f"{what}, one core", one.bytes / one.seconds / 1e6, job["rate"], " MB/s")
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
        line = verdict(f"{what}, two threads to one", two, job["two_threads"], "x")
        yield line + ("" if apart is None else f"; two processes with half of the text each: {apart:.2f}x")


def verdict(what: str, value: float, bound: float, unit: str) -> str:
    """Returns the verdict on one target."""
    shown = f"{value:,.2f}" if unit == "x" else f"{value:,.0f}"
    return f"- {what}: {shown}{unit}; at least {bound:,}{unit}: {'met' if value >= bound else '**missed**'}"


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
    introduction = (
        f"{provenance(result)} Runs: {runs(figures)}.\n\n"
        f"`{command}` repeats it; {METHOD}"
        f"{capacity.sentence(result.get('cores', {}))}"
    )
    parts = [introduction, table(figures), "\n".join(verdicts(figures))]
    return between(name, "\n\n".join(part for part in parts if part) + "\n")
