"""Compares models' own tokenizer files with the libraries that they are made for: ids first, then time.

    python -m benches models --corpus DIR

Each run is a fresh process that loads a file and encodes the documents of one text, one call for each: the
first pass is text that the process has never seen, **cold**; the passes after it are **warm**. The ids of
each document are then decoded to text. Processes take turns, round after round; a speed is the median of the
rounds. The release candidate of `tokenizers` has the same name as the released version, so it is installed
into a folder of its own.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness import record
from harness.model_tasks import BATCHES, SUITE
from harness.processes import WorkerError, run_worker
from harness.record import Result
from harness.suites import CANDIDATE, OURS, ROOT
from report.judged import Judged, at_least, at_most
from report.page import between, provenance, times

CANDIDATE_VERSION = "1.0.0rc3"
STATES = ("cold", "warm")
CANDIDATE_FOLDER = ROOT / ".venv" / "candidate"

# How an engine is called if not for the list of each document.
OTHER_FORMS = {"nanotoken": "batch of 1"}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One measurement.

    Attributes:
        model: Name of the model.
        kind: "sentencepiece", "native" or "general": how this library splits its text; "words" for WordPiece,
            "scores" for Unigram; "own file" for a `.bytemill`.
        corpus: Name of the text.
        engine: Name of the engine.
        form: Form of its result: "array" or "list", of one call for each document; or "batch of 1" or
            "batch of 2": the arrays of one call for all documents, on as many threads.
        bytes: Bytes of text in a pass.
        load: Milliseconds until it is ready, in the process that has imported it.
        cold: MB/s over text that the process has not seen.
        warm: MB/s over the same text, seen before.
        decode: MB/s of the same text, decoded from the ids of each document; `None` where it is not measured.
        ids_equal: Whether the ids are those of the library that the file is made for; `None` if the engine
            reads a `.model` of the same scores, which it adds up in another way.
        text_equal: The same of the decoded text.
    """

    model: str
    kind: str
    corpus: str
    engine: str
    form: str
    bytes: int
    load: float
    cold: float
    warm: float
    rounds: int
    decode: float | None = None
    ids_equal: bool | None = None
    text_equal: bool | None = None


def run(engine: str, file: Path, form: str, text: Path) -> dict[str, Any]:
    """Runs `harness.model_tasks.coding` in a fresh process; `WorkerError` if it fails."""
    task = {"task": "coding", "engine": engine, "file": str(file), "form": form, "text": str(text)}
    folders = [str(CANDIDATE_FOLDER)] if engine == CANDIDATE else []
    environment = {
        "PYTHONPATH": os.pathsep.join([*folders, str(ROOT / "benches"), str(ROOT / "tests")]),
        # One thread each: otherwise NumPy's second thread spins, and so do those of `tokenizers`.
        "OPENBLAS_NUM_THREADS": "1",
        "RAYON_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    return run_worker(task, environment=environment)


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model: the file that each engine reads, and the `kind` of its cells."""

    name: str
    kind: str
    files: Mapping[str, Path]


# Forms of the results of ours.
FORMS = ("array", "list")


def measure(model: Model, text: Path, rounds: int, forms: Sequence[str] = FORMS) -> list[Cell]:
    """Measures all engines on one model and text, without the release candidate if that refuses the file."""
    try:
        return measured(model, text, rounds, forms)
    except WorkerError as error:
        rest = {engine: file for engine, file in model.files.items() if engine != CANDIDATE}
        if len(rest) == len(model.files):
            raise
        print(f"{model.name}, without {CANDIDATE}: {error}", file=sys.stderr, flush=True)
        return measured(replace(model, files=rest), text, rounds, forms)


def measured(model: Model, text: Path, rounds: int, forms: Sequence[str]) -> list[Cell]:
    """Measures all engines on one model and text; `WorkerError` if one fails."""
    files = model.files
    contenders = [(OURS, form) for form in forms]
    contenders += [(engine, OTHER_FORMS.get(engine, "list")) for engine in files if engine != OURS]
    results: dict[tuple[str, str], list[dict[str, Any]]] = {contender: [] for contender in contenders}
    for _ in range(rounds):
        for engine, form in contenders:
            results[engine, form].append(run(engine, files[engine], form, text))
    oracle = next(engine for engine in files if engine != OURS)
    expected = results[oracle, "list"][0]
    cells = []
    for (engine, form), figures in results.items():

        def equal(what: str, figures: Sequence[Mapping[str, Any]] = figures) -> bool:
            return all(each[what] == expected[what] for each in figures)

        measures = [key for key in ("load", *STATES, "decode") if key in figures[0]]
        medians = {key: statistics.median(each[key] for each in figures) for key in measures}
        comparable = model.kind != "scores" or files[engine] == files[oracle]
        cells.append(
            Cell(
                model=model.name,
                kind=model.kind,
                corpus=text.stem,
                engine=engine,
                form=form,
                bytes=figures[0]["bytes"],
                rounds=rounds,
                ids_equal=equal("digest") if comparable else None,
                text_equal=equal("text_digest") if comparable and "decode" in medians else None,
                **medians,
            )
        )
        print(asdict(cells[-1]), file=sys.stderr, flush=True)
    return cells


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="its .txt files, not Python's source")
    parser.add_argument("--models", metavar="A,B", type=lambda value: value.split(","), help="only these")
    parser.add_argument("--rounds", type=int, default=3, help="for each figure (default: %(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Measures, prints and writes; the exit code is 1 if ids or decoded texts differ."""
    options = parse_arguments(arguments)
    from harness import model_files, record
    from harness.corpora import read_texts
    from harness.engines import installed

    texts = read_texts(options.corpus, SUITE["corpus_bytes"])
    cells: list[Cell] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = {corpus: folder / f"{corpus}.txt" for corpus in texts}
        for corpus, text in texts.items():
            paths[corpus].write_text(text, encoding="utf-8", newline="")
        model_files.write_sample(options.corpus, SUITE["corpus_bytes"], folder)
        for model, (kind, write) in model_files.MODELS.items():
            if options.models is None or model in options.models:
                files = Model(name=model, kind=kind, files=write(folder))
                for path in paths.values():
                    cells += measure(files, path, options.rounds, (*FORMS, *BATCHES))
    versions = {engine: installed(engine) for engine in (OURS, "sentencepiece", "tokenizers", "nanotoken")}
    versions[CANDIDATE] = CANDIDATE_VERSION
    head = record.description() | {
        "versions": versions,
        "arguments": record.given(options, "corpus", "models", "rounds"),
    }
    print(table(cells), end="\n\n")
    print("\n".join(map(str, judged(cells))))
    if options.output is not None:
        record.write(options.output, head, cells=cells)
    return 1 if any(False in (cell.ids_equal, cell.text_equal) for cell in cells) else 0


# The table, targets and page on models' own tokenizer files, from the cells of `harness.models`.

NAME = "models"

METHOD = """Mistral v1 is the published file, and BERT has the published vocabulary. XLM-R and T5 have a
Unigram model that is trained on other text of the same corpora. The others are stand-ins: a
`tokenizer.json` with the published normalizer and pre-tokenizer of the model, and the vocabulary of
cl100k_base. Speed depends on the text and on these steps more than on the vocabulary. `sentencepiece`
reads the vocabulary of XLM-R as a `.model`, so that a few of its IDs differ; `nanotoken` gives arrays.

Each run is a fresh process that loads the file and encodes documents of 4 KB on one thread, one call for
each document; or, as a batch, all in one call to arrays. The first pass is cold: the process has never
seen the text. Later passes are warm. Processes take turns; figures are medians of the rounds, then of the
texts. All engines returned the same token IDs, which are compared first. The time of `tokenizers`
includes reading `.ids`.

Ratio = bytemill's speed to lists / the engine's speed; above 1x, bytemill is faster."""

DECODING = """Decoding turns the token IDs of a document, as a list or an array, back into text, a call for
each document; the texts are compared as well."""

CALLED = {"batch of 1": "batch, 1 thread", "batch of 2": "batch, 2 threads"}


def read_result(path: Path) -> tuple[Result, list[Cell]]:
    """Reads a result and its cells."""
    result = record.read(path)
    return result, [Cell(**cell) for cell in result["cells"]]


def medians(cells: Sequence[Cell]) -> dict[str, float]:
    """Returns the medians of all texts; without "decode" where it was not measured."""
    measures = (
        ("load", *STATES, "decode") if all(each.decode is not None for each in cells) else ("load", *STATES)
    )
    return {key: statistics.median(getattr(each, key) for each in cells) for key in measures}


def groups(cells: Sequence[Cell]) -> dict[tuple[str, str], dict[tuple[str, str], list[Cell]]]:
    """Returns the cells by model and kind, then by engine and form."""
    found: dict[tuple[str, str], dict[tuple[str, str], list[Cell]]] = {}
    for cell in cells:
        contenders = found.setdefault((cell.model, cell.kind), {})
        contenders.setdefault((cell.engine, cell.form), []).append(cell)
    return found


def is_decoded(cells: Sequence[Cell]) -> bool:
    """Returns whether decoding was measured."""
    return any(cell.decode is not None for cell in cells)


def table(cells: Sequence[Cell]) -> str:
    """Returns a Markdown table with a line for each model, engine and form of result."""
    # Results from before decoding was measured do not have it.
    measures = (*STATES, "decode") if is_decoded(cells) else STATES
    heads = ["model", "engine", *(f"{key}, MB/s" for key in measures), "load"]
    heads += [f"ratio, {key}" for key in measures]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for (model, _), contenders in groups(cells).items():
        ours = medians(contenders[OURS, "list"])
        for (engine, form), group in contenders.items():
            own = medians(group)
            speeds = [f"{own[key]:.1f}" if key in own else "" for key in measures]
            ratios = [
                times(ours[key] / own[key]) if engine != OURS and key in own and key in ours else ""
                for key in measures
            ]
            same = " (**ids differ**)" if any(each.ids_equal is False for each in group) else ""
            same += " (**text differs**)" if any(each.text_equal is False for each in group) else ""
            shown = [
                model,
                f"{engine}, {CALLED.get(form, form)}{same}",
                *speeds,
                f"{own['load']:.0f} ms",
                *ratios,
            ]
            lines.append(f"| {' | '.join(shown)} |")
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
    for engine in ("sentencepiece", CANDIDATE, "nanotoken"):
        rival = contenders.get((engine, OTHER_FORMS.get(engine, "list")))
        key = f"{engine}, {kind}"
        for what, bound in (targets.get(key, {}) if rival else {}).items():
            form, state = what.split(", ")
            theirs = {each.corpus: getattr(each, state) for each in rival or ()}
            ours = [each for each in contenders[OURS, form] if each.corpus in theirs]
            ratios = [getattr(each, state) / theirs[each.corpus] for each in ours]
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
    method = f"{METHOD}\n\n{DECODING}" if is_decoded(cells) else METHOD
    return between(
        NAME,
        f'{provenance(result)}\n`make bench-models ARGS="--corpus DIR"` measures again.\n\n{method}\n\n'
        f"{table(cells)}\n",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
