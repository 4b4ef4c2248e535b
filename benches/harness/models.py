"""Compares models' own tokenizer files with the libraries that they are made for: ids first, then time.

    python -m benches models --corpus DIR

Each run is a fresh process that loads a file and encodes the documents of one text, one call for each: the
first pass is text that the process has never seen, **cold**; the passes after it are **warm**. Processes take
turns, round after round; a speed is the median of the rounds. The release candidate of `tokenizers` has the
same name as the released version, so it is installed into a folder of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

from harness import record
from harness.corpora import cut
from harness.record import Result
from harness.suites import CANDIDATE, OURS, ROOT, suite
from report.judged import Judged, at_least, at_most
from report.page import between, provenance, times

SUITE = suite("models")
CANDIDATE_VERSION = "1.0.0rc3"
STATES = ("cold", "warm")
CANDIDATE_FOLDER = ROOT / ".venv" / "candidate"

Encode = Callable[[Any], Any]

# Forms of one call for all documents, and their threads.
BATCHES = {"batch of 1": 1, "batch of 2": 2}


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
        ids_equal: Whether the ids are those of the library that the file is made for; `None` if the engine
            reads a `.model` of the same scores, which it adds up in another way.
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
    ids_equal: bool | None = None


# --- In the measured process ---
def ours(file: str, form: str) -> Encode:
    """Returns this library's method for a form of result."""
    encoding = import_module("bytemill").Encoding.from_file(file)
    # `tokenizers` finds special tokens in every text.
    special: dict[str, Any] = {"allowed_special": "all"} if encoding.special_tokens_set else {}
    if form in BATCHES:
        return partial(encoding.encode_batch_to_numpy, num_threads=BATCHES[form], **special)
    if special:
        return partial(encoding.encode_to_numpy if form == "array" else encoding.encode, **special)
    method: Encode = encoding.encode_to_numpy if form == "array" else encoding.encode_ordinary
    return method


def sentencepiece(file: str, _form: str) -> Encode:
    """Returns the method of `sentencepiece`."""
    encode: Encode = import_module("sentencepiece").SentencePieceProcessor(model_file=file).encode
    return encode


def tokenizers(file: str, _form: str) -> Encode:
    """Returns the method of `tokenizers`, with its ids read."""
    encode = import_module("tokenizers").Tokenizer.from_file(file).encode
    return lambda text: encode(text, add_special_tokens=False).ids


def nanotoken(file: str, _form: str) -> Encode:
    """Returns the method of `nanotoken` for all documents, on one thread."""
    encode = import_module("nanotoken").Tokenizer(file).encode_batch

    def flat(texts: Any) -> Any:
        batch = encode(texts, add_special_tokens=False, parallel=False)
        return batch.ids, batch.offsets

    return flat


LOADERS = {
    OURS: ours,
    "sentencepiece": sentencepiece,
    "tokenizers": tokenizers,
    CANDIDATE: tokenizers,
    "nanotoken": nanotoken,
}

# How an engine is called if not for the list of each document.
OTHER_FORMS = {"nanotoken": "batch of 1"}


def serve(engine: str, file: str, form: str, text: str) -> dict[str, Any]:
    """Measures one engine in this process, and returns milliseconds, MB/s and a digest of all ids."""
    documents = cut(Path(text).read_text(encoding="utf-8"), SUITE["document_bytes"])
    size = sum(len(document.encode()) for document in documents)
    import_module({OURS: "bytemill", CANDIDATE: "tokenizers"}.get(engine, engine))
    start = perf_counter()
    encode = LOADERS[engine](file, form)
    load = perf_counter() - start
    sentence = "The first call may build what the others use."
    encode([sentence] if form in BATCHES else sentence)

    def a_pass() -> tuple[float, Any]:
        start = perf_counter()
        ids = encode(documents) if form in BATCHES else [encode(document) for document in documents]
        return perf_counter() - start, ids

    cold, ids = a_pass()
    if form in BATCHES:
        flat, offsets = ids
        ids = [flat[start:end] for start, end in pairwise(offsets)]
    digest = hashlib.sha256()
    for each in ids:
        digest.update(json.dumps(each if isinstance(each, list) else each.tolist()).encode())
    del ids
    # Slow engines need no second pass to be compared with.
    passes = SUITE["passes"] if cold < SUITE["slow_seconds"] else 1
    warm = statistics.median(a_pass()[0] for _ in range(passes))
    return {
        "load": load * 1e3,
        "cold": size / cold / 1e6,
        "warm": size / warm / 1e6,
        "bytes": size,
        "digest": digest.hexdigest(),
    }


# --- In the process that compares ---
class EngineError(Exception):
    """An engine failed; the message has its output."""


def run(task: Sequence[str], engine: str) -> dict[str, Any]:
    """Runs `serve` in a fresh process; `EngineError` if it fails."""
    folders = [str(ROOT / "benches"), str(ROOT / "tests")]
    if engine == CANDIDATE:
        folders.insert(0, str(CANDIDATE_FOLDER))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(folders),
        # One thread each: otherwise NumPy's second thread spins, and so do those of `tokenizers`.
        "OPENBLAS_NUM_THREADS": "1",
        "RAYON_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    command = [sys.executable, "-m", "harness.models", "--serve", *task]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise EngineError(f"{' '.join(task)}:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


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
    except EngineError as error:
        rest = {engine: file for engine, file in model.files.items() if engine != CANDIDATE}
        if len(rest) == len(model.files):
            raise
        reason = str(error).rstrip().rpartition("\n")[2]
        print(f"{model.name}, without {CANDIDATE}: {reason}", file=sys.stderr, flush=True)
        return measured(replace(model, files=rest), text, rounds, forms)


def measured(model: Model, text: Path, rounds: int, forms: Sequence[str]) -> list[Cell]:
    """Measures all engines on one model and text; `EngineError` if one fails."""
    files = model.files
    contenders = [(OURS, form) for form in forms]
    contenders += [(engine, OTHER_FORMS.get(engine, "list")) for engine in files if engine != OURS]
    results: dict[tuple[str, str], list[dict[str, Any]]] = {contender: [] for contender in contenders}
    for _ in range(rounds):
        for engine, form in contenders:
            task = (engine, str(files[engine]), form, str(text))
            results[engine, form].append(run(task, engine))
    oracle = next(engine for engine in files if engine != OURS)
    expected = results[oracle, "list"][0]["digest"]
    cells = []
    for (engine, form), figures in results.items():
        medians = {key: statistics.median(each[key] for each in figures) for key in ("load", *STATES)}
        cells.append(
            Cell(
                model=model.name,
                kind=model.kind,
                corpus=text.stem,
                engine=engine,
                form=form,
                bytes=figures[0]["bytes"],
                rounds=rounds,
                ids_equal=None
                if model.kind == "scores" and files[engine] != files[oracle]
                else all(each["digest"] == expected for each in figures),
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
    parser.add_argument("--serve", nargs=4, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Measures, prints and writes; the exit code is 1 if ids differ."""
    options = parse_arguments(arguments)
    if options.serve is not None:
        print(json.dumps(serve(*options.serve)))
        return 0
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
    return 1 if any(cell.ids_equal is False for cell in cells) else 0


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

Ratio = bytemill's speed / the engine's, both to lists; above 1x, bytemill is faster."""

CALLED = {"batch of 1": "batch, 1 thread", "batch of 2": "batch, 2 threads"}


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
            same = " (**ids differ**)" if any(each.ids_equal is False for each in group) else ""
            contender = f"{engine}, {CALLED.get(form, form)}{same}"
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
    return between(
        NAME,
        f'{provenance(result)}\n`make bench-models ARGS="--corpus DIR"` measures again.\n\n{METHOD}\n\n'
        f"{table(cells)}\n",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
