"""The tables, verdicts and page on models' own tokenizer files, from the cells of `harness.models`."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness import record
from harness.models import BATCHES, CANDIDATE, OURS, STATES, SUITE, Cell
from harness.record import Result
from report.page import between, provenance

NAME = "models"

METHOD = """Each run is a fresh process that loads the model's file and encodes documents of 4 KB, one call
for each, on one thread, or all in one call, a batch, on one thread or two: the first pass is text that the
process has never seen (cold), those after it are warm. Processes take turns; figures are MB/s, medians of
the rounds, then of the texts. Every engine returned the same ids, which are compared first. The time of
`tokenizers` includes reading `.ids`."""


def read_result(path: Path) -> tuple[Result, list[Cell]]:
    """Reads a result and its cells."""
    result = record.read(path)
    return result, [Cell(**cell) for cell in result["cells"]]


def medians(cells: Sequence[Cell]) -> dict[str, float]:
    """Returns the medians of all texts."""
    return {key: statistics.median(getattr(each, key) for each in cells) for key in ("load", *STATES)}


def groups(cells: Sequence[Cell]) -> dict[tuple[str, str], dict[tuple[str, str], list[Cell]]]:
    """Returns the cells by model and kind, then by engine and form."""
    found: dict[tuple[str, str], dict[tuple[str, str], list[Cell]]] = {}
    for cell in cells:
        contenders = found.setdefault((cell.model, cell.kind), {})
        contenders.setdefault((cell.engine, cell.form), []).append(cell)
    return found


def table(cells: Sequence[Cell]) -> str:
    """Returns a Markdown table with a line for each model, engine and form of result."""
    lines = ["| model | splitting | engine | cold | warm | load | ours, same form |", "|---" * 7 + "|"]
    for (model, kind), contenders in groups(cells).items():
        ours = medians(contenders[OURS, "list"])
        for (engine, form), group in contenders.items():
            own = medians(group)
            times = "" if engine == OURS else " / ".join(f"{ours[key] / own[key]:.1f}x" for key in STATES)
            same = "" if all(each.ids_equal for each in group) else " (**ids differ**)"
            lines.append(
                f"| {model} | {kind} | {engine}, {form}{same} | {own['cold']:.1f} | {own['warm']:.1f} "
                f"| {own['load']:.0f} ms | {times} |"
            )
            model = kind = ""  # noqa: PLW2901 - once for each model
    return "\n".join(lines)


def verdicts(cells: Sequence[Cell]) -> list[str]:
    """Returns whether the targets are met, a line for each that was measured."""
    return [line for group in groups(cells).items() for line in of_model(*group)]


def of_model(model: tuple[str, str], contenders: Mapping[tuple[str, str], Sequence[Cell]]) -> Iterator[str]:
    """Yields the verdicts on one model."""
    name, kind = model
    targets = SUITE["targets"]
    for engine, key in (("sentencepiece", "sentencepiece"), (CANDIDATE, f"{CANDIDATE}, {kind}")):
        rival = contenders.get((engine, "list"))
        for what, bound in (targets.get(key, {}) if rival else {}).items():
            form, state = what.split(", ")
            theirs = {each.corpus: getattr(each, state) for each in rival or ()}
            times = [getattr(each, state) / theirs[each.corpus] for each in contenders[OURS, form]]
            yield verdict(f"{name}: {what}, times {engine}", statistics.median(times), bound)
    one, two = (contenders.get((OURS, form), ()) for form in BATCHES)
    for state, bound in targets["two threads"].items():
        alone = {each.corpus: getattr(each, state) for each in one}
        times = [getattr(each, state) / alone[each.corpus] for each in two]
        if times:
            what = f"{name}: a batch on two threads, {state}, times one thread"
            yield verdict(what, statistics.median(times), bound)
    limit = targets["load"][kind]
    load = medians(contenders[OURS, "list"])["load"]
    yield f"{name}: loads in {load:.0f} ms: at most {limit} ms {'met' if load <= limit else '**missed**'}"


def verdict(what: str, value: float, bound: float) -> str:
    """Returns a line on a target."""
    return f"{what}: {value:.1f}x: at least {bound}x {'met' if value >= bound else '**missed**'}"


def section(result: Result, cells: Sequence[Cell]) -> str:
    """Returns the section of the page, between its marks."""
    judged = "\n".join(f"- {line}" for line in verdicts(cells))
    return between(
        NAME,
        f'{provenance(result)}\n`make bench-models ARGS="--corpus DIR"` repeats it.\n\n{METHOD}\n\n'
        f"{table(cells)}\n\n## Targets\n\n{judged}\n",
    )
