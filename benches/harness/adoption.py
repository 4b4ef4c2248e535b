"""Measures a tokenizer of `transformers` before and after `bytemill.hf.accelerate`: ids first, then time.

    python -m benches adoption --corpus DIR

Each run is a fresh process that loads a `tokenizer.json` and calls the tokenizer with all documents at once,
as programs do: the first call is text that the process has never seen, **cold**; those after it are **warm**.
Processes take turns; figures are medians of the rounds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from harness import record
from harness.corpora import cut, read_texts
from harness.record import Result
from harness.suites import suite
from report.judged import Judged, at_least
from report.page import between, provenance, times

SUITE = suite("models")["adoption"]
MODELS = ("Llama 3", "Qwen 3", "DeepSeek V3")
STATES = ("cold", "warm", "decoding")


@dataclass(frozen=True, kw_only=True)
class Call:
    """One measurement of calls with all documents.

    Attributes:
        model: Name of the model.
        accelerated: Whether the tokenizer is accelerated.
        bytes: Bytes of text in a call.
        cold: Seconds of `tokenizer(texts)["input_ids"]` on text that the process has not seen.
        warm: Seconds of the same, seen before.
        decoding: Seconds of `batch_decode` of the ids.
        equal: Whether ids and decoded texts are the same before and after.
    """

    model: str
    accelerated: bool
    bytes: int
    cold: float
    warm: float
    decoding: float
    rounds: int
    equal: bool


def documents(corpus: Path | None) -> list[str]:
    """Returns as many documents as are measured, from all texts in turn."""
    texts = read_texts(corpus, SUITE["documents"] * SUITE["document_bytes"])
    share = -(-SUITE["documents"] // len(texts))
    parts = [cut(text, SUITE["document_bytes"])[:share] for text in texts.values()]
    return [document for part in parts for document in part][: SUITE["documents"]]


def serve(file: str, accelerated: str, texts: str) -> dict[str, Any]:
    """Measures in this process, and returns seconds and a digest of ids and texts."""
    from transformers import PreTrainedTokenizerFast

    import bytemill.hf

    tokenizer: Any = PreTrainedTokenizerFast(tokenizer_file=file)  # type: ignore[no-untyped-call]
    if accelerated == "accelerated":
        bytemill.hf.accelerate(tokenizer)
    batch = json.loads(Path(texts).read_text(encoding="utf-8"))
    tokenizer(["The first call may build what the others use."])

    def timed(call: Callable[[], Any]) -> tuple[float, Any]:
        start = perf_counter()
        result = call()
        return perf_counter() - start, result

    cold, rows = timed(lambda: tokenizer(batch)["input_ids"])
    warm = statistics.median(timed(lambda: tokenizer(batch)["input_ids"])[0] for _ in range(SUITE["passes"]))
    decoding, decoded = timed(lambda: tokenizer.batch_decode(rows))
    digest = hashlib.sha256(json.dumps([rows, decoded]).encode()).hexdigest()
    size = sum(len(text.encode()) for text in batch)
    return {"cold": cold, "warm": warm, "decoding": decoding, "bytes": size, "digest": digest}


def measure(model: str, file: Path, texts: Path, rounds: int) -> list[Call]:
    """Measures the tokenizer of a model in both ways, round after round."""
    results: dict[str, list[dict[str, Any]]] = {"plain": [], "accelerated": []}
    for _ in range(rounds):
        for way, figures in results.items():
            command = [sys.executable, "-m", "harness.adoption", "--serve", str(file), way, str(texts)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{model}, {way}:\n{done.stderr}")
            figures.append(json.loads(done.stdout.splitlines()[-1]))
    digests = {each["digest"] for figures in results.values() for each in figures}
    calls = []
    for way, figures in results.items():
        medians = {state: statistics.median(each[state] for each in figures) for state in STATES}
        calls.append(
            Call(
                model=model,
                accelerated=way == "accelerated",
                bytes=figures[0]["bytes"],
                rounds=rounds,
                equal=len(digests) == 1,
                **medians,
            )
        )
        print(asdict(calls[-1]), file=sys.stderr, flush=True)
    return calls


def main(arguments: Sequence[str]) -> int:
    """Measures, prints and writes; the exit code is 1 if ids or texts differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="its .txt files, not Python's source")
    parser.add_argument("--models", metavar="A,B", type=lambda value: value.split(","), default=MODELS)
    parser.add_argument("--rounds", type=int, default=3, help="for each figure (default: %(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve is not None:
        print(json.dumps(serve(*options.serve)))
        return 0
    from harness import model_files, record
    from harness.engines import installed

    calls: list[Call] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = folder / "texts.json"
        texts.write_text(json.dumps(documents(options.corpus)), encoding="utf-8")
        for model in options.models:
            _, write = model_files.MODELS[model]
            calls += measure(model, write(folder)["tokenizers"], texts, options.rounds)
    head = record.description() | {
        "versions": {name: installed(name) for name in ("bytemill", "transformers", "tokenizers")},
        "arguments": record.given(options, "corpus", "rounds"),
    }
    print(table(calls), end="\n\n")
    print("\n".join(map(str, judged(calls))))
    if options.output is not None:
        record.write(options.output, head, calls=calls)
    return 0 if all(call.equal for call in calls) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))


# The table and targets on accelerated tokenizers of `transformers`, from `harness.adoption`.

NAME = "adoption"

METHOD = """`tokenizer(texts)["input_ids"]` of a tokenizer of transformers, on {documents:,} documents of
4 KB in one call, before and after `bytemill.hf.accelerate`; both use all cores. Each run is a fresh
process: the text of its first call is cold, later calls are warm. Then `batch_decode` of the token IDs.
Times are medians of the rounds, in seconds. Token IDs and decoded texts were equal. All files are
stand-ins with cl100k's vocabulary, as above."""


def read_result(path: Path) -> tuple[Result, list[Call]]:
    """Reads a result and its calls."""
    result = record.read(path)
    return result, [Call(**call) for call in result["calls"]]


def pairs(calls: Sequence[Call]) -> list[tuple[Call, Call]]:
    """Returns the calls of each model before and after."""
    plain = {call.model: call for call in calls if not call.accelerated}
    return [(plain[call.model], call) for call in calls if call.accelerated]


def table(calls: Sequence[Call]) -> str:
    """Returns a Markdown table with a line for each model and kind of call."""
    lines = ["| model | call | before | after | before / after |", "|---" * 5 + "|"]
    for before, after in pairs(calls):
        model = after.model + ("" if after.equal else " (**ids differ**)")
        for state in STATES:
            old, new = getattr(before, state), getattr(after, state)
            call = "`batch_decode`" if state == "decoding" else f"`tokenizer(texts)`, {state}"
            lines.append(f"| {model} | {call} | {old:.2f} s | {new:.3f} s | {times(old / new)} |")
            model = ""
    return "\n".join(lines)


def judged(calls: Sequence[Call]) -> list[Judged]:
    """Returns the target for each model."""
    found = []
    for before, after in pairs(calls):
        ratio = before.cold / after.cold
        what = f"{after.model}, cold, time before / after"
        found.append(at_least(what, ratio, SUITE["bound"], times(ratio)))
    return found


def section(result: Result, calls: Sequence[Call]) -> str:
    """Returns the section of the page, between its marks."""
    method = METHOD.format(documents=SUITE["documents"])
    return between(
        NAME,
        f'{provenance(result)}\n`make bench-adoption ARGS="--corpus DIR"` measures again.\n\n{method}\n\n'
        f"{table(calls)}\n",
    )
