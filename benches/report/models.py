"""The table, targets and page on models' own tokenizer files, from the cells of `harness.models`."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness import record
from harness.models import BATCHES, CANDIDATE, OURS, STATES, SUITE, Cell
from harness.record import Result
from report.judged import Judged, at_least, at_most
from report.page import between, provenance, times

NAME = "models"

METHOD = """Mistral v1 is the published file. The others are stand-ins: a `tokenizer.json` with the
published normalizer and pre-tokenizer of the model, and the vocabulary of cl100k_base. Speed depends on
the text and on these steps more than on the vocabulary.

Each run is a fresh process that loads the file and encodes documents of 4 KB on one thread, one call for
each document; or, as a batch, all in one call to arrays. The first pass is cold: the process has never
seen the text. Later passes are warm. Processes take turns; figures are medians of the rounds, then of the
texts. All engines returned the same token IDs, which are compared first. The time of `tokenizers`
includes reading `.ids`.

Ratio = bytemill's speed / the engine's, both to lists; above 1x, bytemill is faster."""

FORMS = {"batch of 1": "batch, 1 thread", "batch of 2": "batch, 2 threads"}


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
    heads = "model | engine | cold, MB/s | warm, MB/s | load | ratio, cold | ratio, warm"
    lines = [f"| {heads} |", "|---" * 7 + "|"]
    for (model, _), contenders in groups(cells).items():
        ours = medians(contenders[OURS, "list"])
        for (engine, form), group in contenders.items():
            own = medians(group)
            ratios = " | ".join("" if engine == OURS else times(ours[key] / own[key]) for key in STATES)
            same = "" if all(each.ids_equal for each in group) else " (**ids differ**)"
            contender = f"{engine}, {FORMS.get(form, form)}{same}"
            lines.append(
                f"| {model} | {contender} | {own['cold']:.1f} | {own['warm']:.1f} | {own['load']:.0f} ms "
                f"| {ratios} |"
            )
            model = ""  # noqa: PLW2901 - once for each model
    return "\n".join(lines)


def judged(cells: Sequence[Cell]) -> list[Judged]:
    """Returns the targets that were measured."""
    return [each for group in groups(cells).items() for each in of_model(*group)]


def of_model(
    model: tuple[str, str], contenders: Mapping[tuple[str, str], Sequence[Cell]]
) -> Iterator[Judged]:
    """Yields the targets of one model."""
    name, kind = model
    targets = SUITE["targets"]
    for engine, key in (("sentencepiece", "sentencepiece"), (CANDIDATE, f"{CANDIDATE}, {kind}")):
        rival = contenders.get((engine, "list"))
        for what, bound in (targets.get(key, {}) if rival else {}).items():
            form, state = what.split(", ")
            theirs = {each.corpus: getattr(each, state) for each in rival or ()}
            ratios = [getattr(each, state) / theirs[each.corpus] for each in contenders[OURS, form]]
            yield ratio(f"{name}, {what}, compared with {engine}", ratios, bound)
    one, two = (contenders.get((OURS, form), ()) for form in BATCHES)
    for state, bound in targets["two threads"].items():
        alone = {each.corpus: getattr(each, state) for each in one}
        ratios = [getattr(each, state) / alone[each.corpus] for each in two]
        if ratios:
            yield ratio(f"{name}, batch on two threads, {state}, compared with one", ratios, bound)
    limit = targets["load"][kind]
    load = medians(contenders[OURS, "list"])["load"]
    yield at_most(f"{name}, load", load, limit, f"{load:.0f} ms", " ms")


def ratio(what: str, ratios: Sequence[float], bound: float) -> Judged:
    """Returns the verdict on the median of ratios."""
    value = statistics.median(ratios)
    return at_least(what, value, bound, times(value))


def section(result: Result, cells: Sequence[Cell]) -> str:
    """Returns the section of the page, between its marks."""
    return between(
        NAME,
        f'{provenance(result)}\n`make bench-models ARGS="--corpus DIR"` measures again.\n\n{METHOD}\n\n'
        f"{table(cells)}\n",
    )
