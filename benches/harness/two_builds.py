"""Compares two commits of this library: ids and texts first, then the time, in processes that alternate.

    python benches/harness/two_builds.py BASE [OTHER] --corpus DIR [--models DIR] [--rounds N] [--builds DIR]
        [--output FILE]

Tokenizer files in the folder `--models`, which `--write-models` writes, are measured as well: a
SentencePiece model, the same model as a tokenizer.json, a model with a map of characters, chains, and files
whose tokens are decoded, or whose sessions grow, in another way. OTHER is HEAD if it is not given. A commit
may name features of the crate, as in `HEAD+stable-abi`. Both are built in release mode, each into a folder of
its own below `--builds`, where a later call finds them. In each round each build runs once for each text, and
the order changes from round to round. A figure is the best of a few repetitions in one process; ratios are of
medians. The exit code is 1 if the builds give other ids or texts, or if a row is slower by more than
`--tolerance`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[2]
ENCODINGS = ("cl100k_base", "o200k_base")
DOCUMENT = 4096
SHORT = 100
# Characters of the text to which a session appends.
GROWN = 100_000
TRAINED = 20_000

T = TypeVar("T")


def best(repetitions: int, work: Callable[[], object]) -> float:
    """Returns the least seconds that a call took."""
    return best_on(repetitions, lambda: None, lambda _: work())


def best_on(repetitions: int, prepare: Callable[[], T], work: Callable[[T], object]) -> float:
    """Returns the least seconds that a call took, each on what was prepared for it."""
    seconds = []
    for _ in range(repetitions):
        prepared = prepare()
        start = time.perf_counter()
        work(prepared)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def write_models(folder: Path, text: Path) -> None:
    """Writes the tokenizer files that are compared, one of them trained on a text."""
    # Only here: the processes that measure import nothing but the build.
    sys.path[:0] = [str(ROOT / part) for part in ("benches", "tests")]
    import bytemill
    from harness.model_files import GENERAL, NATIVE, write_chain, write_sentencepiece
    from support.open_models import file_of

    folder.mkdir(parents=True, exist_ok=True)
    files = write_sentencepiece(folder)
    shutil.copy(files["sentencepiece"], folder / "llama.model")
    shutil.copy(files["tokenizers"], folder / "llama.json")
    for name in ("Qwen 3", "DeepSeek V3", "BLOOM"):
        (folder / name).mkdir(exist_ok=True)
        written = write_chain(*(NATIVE | GENERAL)[name], folder / name)
        shutil.copy(written["tokenizers"], folder / f"{name}.json")
    for name in ("bert-uncased", "xlm-roberta", "camembert", "cohere-2", "llm-jp"):
        (folder / f"{name}.json").write_bytes(file_of(name))
    trained = bytemill.train([text.read_text(encoding="utf-8")], 8000, kind="sentencepiece")
    trained.save_sentencepiece(folder / "nfkc.model")


def measure(path: Path, *, trains: bool, models: Path | None) -> dict[str, Any]:
    """Measures every row for one text and returns the seconds, with a digest of all ids."""
    import bytemill

    data = path.read_bytes()
    text = data.decode()
    documents = [text[start : start + DOCUMENT] for start in range(0, len(text), DOCUMENT)]
    strings = [text[start : start + SHORT] for start in range(0, min(len(text), 2_000_000), SHORT)]
    seconds: dict[str, float] = {}
    digest = hashlib.sha256()
    files = [] if models is None else sorted([*models.glob("*.model"), *models.glob("*.json")])
    loaded = [(file.name, bytemill.Encoding.from_file(file)) for file in files]
    for name, encoding in [*((name, bytemill.get_encoding(name)) for name in ENCODINGS), *loaded]:
        ids = encoding.encode_to_numpy(text)
        listed = ids.tolist()
        session = encoding.session()
        session.append(text[:GROWN])
        digest.update(ids.tobytes() + encoding.decode(listed).encode() + repr(session.tolist()).encode())

        def cold(encoding: bytemill.Encoding = encoding) -> None:
            encoding.clear_cache()
            encoding.encode_to_numpy(text)

        def isolated(encoding: bytemill.Encoding = encoding) -> None:
            for document in documents[:100]:
                encoding.clear_cache()
                encoding.encode_to_numpy(document)

        def calls(encoding: bytemill.Encoding = encoding) -> None:
            for string in strings:
                encoding.encode(string)

        rows: dict[str, tuple[int, Callable[[], object]]] = {
            "first pass to array": (3, cold),
            "replay to array": (5, lambda e=encoding: e.encode_to_numpy(text)),  # type: ignore[misc]
            "replay to list": (3, lambda e=encoding: e.encode_ordinary(text)),  # type: ignore[misc]
            "isolated 4 KB documents": (3, isolated),
            "100-byte strings": (3, calls),
            "batch of 4 KB documents, 2 threads": (
                5,
                lambda e=encoding: e.encode_batch_to_numpy(documents, num_threads=2),  # type: ignore[misc]
            ),
            "decode an array": (5, lambda e=encoding, i=ids: e.decode(i)),  # type: ignore[misc]
            "decode a list": (3, lambda e=encoding, i=listed: e.decode(i)),  # type: ignore[misc]
            "append to a session": (9, lambda s=session: s.append(" and")),  # type: ignore[misc]
        }
        for row, (repetitions, work) in rows.items():
            seconds[f"{row}, {name}"] = best(repetitions, work)
        # Of a string that was converted to UTF-8 once, the interpreter may keep that.
        new = "replay of a new string"
        seconds[f"{new} to array, {name}"] = best_on(5, data.decode, encoding.encode_to_numpy)
        seconds[f"{new} to list, {name}"] = best_on(3, data.decode, encoding.encode_ordinary)
        # All caches together have a limit: the next encoding is measured as if it were the only one.
        encoding.clear_cache()
    for file in files:
        seconds[f"load, {file.name}"] = best(5, lambda file=file: bytemill.Encoding.from_file(file))  # type: ignore[misc]
    if trains:
        source = [path.read_bytes()]
        counts = bytemill.count_pieces(source, num_threads=1)
        seconds["count, 1 thread"] = best(3, lambda: bytemill.count_pieces(source, num_threads=1))
        trained = bytemill.train(counts, TRAINED, num_threads=1, name="trained")
        digest.update(repr(trained.merges()).encode())
        seconds["learn 20,000 merges, 1 thread"] = best(
            2, lambda: bytemill.train(counts, TRAINED, num_threads=1, name="trained")
        )
        seconds["learn 20,000 merges, 2 threads"] = best(
            2, lambda: bytemill.train(counts, TRAINED, num_threads=2, name="trained")
        )
    return {"seconds": seconds, "digest": digest.hexdigest()}


def git(*words: str) -> str:
    """Runs git in this repository and returns what it prints."""
    return subprocess.run(
        ["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def build(revision: str, builds: Path) -> Path:
    """Builds a commit in release mode, unless it is there, and returns the folder to import it from."""
    revision, _, features = revision.partition("+")
    commit = git("rev-parse", f"{revision}^{{commit}}")
    site = builds / (f"{commit}+{features}" if features else commit)
    if (site / "bytemill").is_dir():
        return site
    with tempfile.TemporaryDirectory(dir=builds) as folder:
        tree = Path(folder) / "tree"
        git("worktree", "add", "--detach", str(tree), commit)
        try:
            pip = [sys.executable, "-m", "pip"]
            command = [*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(tree)]
            variables = {"CARGO_TARGET_DIR": f"{folder}/target"}
            if features:
                variables["MATURIN_PEP517_ARGS"] = f"--features {features}"
            subprocess.run(command, check=True, env=os.environ | variables)
            wheel = next(Path(folder).glob("*.whl"))
            subprocess.run(
                [*pip, "install", "--quiet", "--no-deps", "--target", str(site), str(wheel)], check=True
            )
        finally:
            git("worktree", "remove", "--force", str(tree))
    return site


def run(site: Path, text: Path, *, trains: bool, models: Path | None) -> dict[str, Any]:
    """Measures one build in a process of its own."""
    command = [sys.executable, __file__, "--worker", str(text)] + ["--trains"] * trains
    if models is not None:
        command += ["--models", str(models)]
    environment = os.environ | {"PYTHONPATH": str(site), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def short(site: Path) -> str:
    """Returns the name of a build, with a short commit."""
    commit, plus, features = site.name.partition("+")
    return commit[:12] + plus + features


def report(times: dict[str, list[list[float]]], tolerance: float) -> bool:
    """Prints a line for each row and returns whether one is slower than tolerated."""
    slower = False
    print("| row | base ms | other ms | other / base |\n|---|---|---|---|")
    for row, (base, other) in times.items():
        ratio = statistics.median(other) / statistics.median(base)
        mark = " slower" if ratio > 1 + tolerance else ""
        slower |= bool(mark)
        base_ms, other_ms = (1e3 * statistics.median(seconds) for seconds in (base, other))
        print(f"| {row} | {base_ms:.2f} | {other_ms:.2f} | {ratio:.3f}{mark} |")
    return slower


def main() -> int:
    """Builds, measures in turns and reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("revisions", nargs="*")
    parser.add_argument("--corpus", type=Path, help="a folder of .txt files")
    parser.add_argument("--models", type=Path, help="a folder of tokenizer files")
    parser.add_argument("--write-models", type=Path, help="write such a folder, and exit")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tolerance", type=float, default=0.03)
    parser.add_argument("--builds", type=Path, default=Path(tempfile.gettempdir()) / "bytemill-builds")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--trains", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write_models and options.corpus:
        write_models(options.write_models, min(options.corpus.glob("*.txt")))
        return 0
    if options.worker:
        measured = measure(options.worker, trains=options.trains, models=options.models)
        print(json.dumps(measured))
        return 0
    if options.corpus is None or not 1 <= len(options.revisions) <= 2:
        parser.error("expected one or two commits and --corpus")
    options.builds.mkdir(parents=True, exist_ok=True)
    base, other = (build(revision, options.builds) for revision in [*options.revisions, "HEAD"][:2])
    texts = sorted(options.corpus.glob("*.txt"))
    trained_on = next((text for text in texts if text.stem == "english"), texts[0])
    times: dict[str, list[list[float]]] = {}
    for number in range(options.rounds):
        for text in texts:
            digests = set()
            order = [(0, base), (1, other)]
            for index, site in order if number % 2 == 0 else reversed(order):
                result = run(site, text, trains=text == trained_on, models=options.models)
                digests.add(result["digest"])
                for row, seconds in result["seconds"].items():
                    times.setdefault(f"{text.stem}: {row}", [[], []])[index].append(seconds)
            if len(digests) != 1:
                print(f"{text}: the builds give other ids", file=sys.stderr)
                return 1
    print(f"{platform.machine()}, {options.rounds} rounds, {short(base)} and {short(other)}\n")
    slower = report(times, options.tolerance)
    if options.output:
        options.output.write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")
    return int(slower)


if __name__ == "__main__":
    sys.exit(main())
