"""Compares training with every other trainer that is installed, each in a fresh process, on the same text.

    python benches/python/compare_training.py --corpus DIR --large FILE --output RESULT.json

Beside every time is whether the vocabulary is that of this library with the same pattern and the same rule
for ties, token for token; engines take turns, ours before each of the others. `--large` names a text file
of some hundred megabytes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from bytemill._core import BUILD_PROFILE
from bytemill.formats.atomic import write_atomically
from compare import machine, present
from cores import summary, work_at_once
from corpora import read_texts
from support.revision import commit
from trainers import FASTEST, OURS, TRAINERS, installed, write_separated
from training_report import APART, Figure, table, verdicts

WORKER = Path(__file__).with_name("training_worker.py")
THREADS = 2

# Jobs that we take a fraction of a second for are done so many times as often: so long are a machine's moods.
SHORT = 5
# The same for some hundredths of a second.
SHORTEST = 15

# Counting the English text is mostly what comes before and after: it is counted so many times over, too.
ENGLISH_TIMES = 8

# What pure Python can train on.
SLICE_CHARACTERS = 100_000
SLICE_VOCABULARY = 512


@dataclass
class Runs:
    """What the processes of one contender reported."""

    results: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None

    def median(self, key: str) -> float | None:
        """The median of a figure."""
        return statistics.median(result[key] for result in self.results) if self.results else None

    def first(self, key: str) -> Any:
        """What does not change from round to round."""
        return self.results[0].get(key) if self.results else None


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="its .txt files, not Python's source")
    parser.add_argument("--large", type=Path, metavar="FILE", help="a text of some hundred megabytes as well")
    parser.add_argument("--jobs", metavar="A,B", type=lambda names: names.split(","), help=", ".join(JOBS))
    parser.add_argument(
        "--trainers", metavar="A,B", type=lambda names: names.split(","), help="only these, and ours"
    )
    parser.add_argument("--rounds", type=int, default=3, help="for each figure (default: %(default)s)")
    parser.add_argument(
        "--timeout", type=float, default=900, help="seconds for a process (default: %(default)s)"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    options = parser.parse_args(arguments)
    for name, chosen, known in (("jobs", options.jobs, JOBS), ("trainers", options.trainers, TRAINERS)):
        unknown = [each for each in chosen or () if each not in known]
        if unknown:
            parser.error(f"--{name}: unknown {', '.join(unknown)}; known are {', '.join(known)}")
    return options


class Comparison:
    """What all jobs share: texts in files, options, and processes."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        """Writes the texts to files in `folder`."""
        self.options = options
        self.folder = folder
        self.texts: dict[str, Path] = {}
        # What two cores gave while two threads were measured.
        self.cores: list[float] = []
        texts = read_texts(options.corpus, 1 << 40 if options.corpus else 10_000_000)
        for name, text in {**texts, "together": "".join(texts.values())}.items():
            self.add(name, folder / f"{name}.txt", text)
        self.add("slice", folder / "slice.txt", next(iter(texts.values()))[:SLICE_CHARACTERS])
        if "english" in texts and "counting" in (options.jobs or JOBS):
            name = f"english {ENGLISH_TIMES} times"
            self.add(name, folder / f"{name}.txt", texts["english"] * ENGLISH_TIMES)
        if options.large is not None:
            # A link, so that what is written beside it is not in somebody's folder.
            link = folder / "large.txt"
            link.symlink_to(options.large.resolve())
            self.add("large", link)

    def add(self, name: str, path: Path, text: str | None = None) -> None:
        """Takes a text, and writes it if it is given."""
        if text is not None:
            path.write_bytes(text.encode())
        write_separated(path)
        self.texts[name] = path

    def chosen(self) -> list[str]:
        """The trainers to measure: ours, and those that are installed and asked for."""
        asked = self.options.trainers
        return [
            name
            for name, trainer in TRAINERS.items()
            if name != "reference"
            and installed(trainer)
            and (not asked or name in asked or trainer.distribution == OURS)
        ]

    def run(self, tasks: dict[str, dict[str, Any]], times: int = 1) -> dict[str, Runs]:
        """Runs each task in turn, round after round, each time in a fresh process; `times` as many rounds."""
        runs = {name: Runs() for name in tasks}
        for _ in range(times * self.options.rounds):
            for name in turns(list(tasks)):
                if runs[name].error is None:
                    self.run_once(name, tasks[name], runs[name])
        return runs

    def run_once(self, name: str, task: dict[str, Any], runs: Runs) -> None:
        """Runs one process, and takes what it reports."""
        command = [sys.executable, str(WORKER), json.dumps(task)]
        # Pools of threads are as large as this says.
        environment = {**os.environ, "RAYON_NUM_THREADS": str(task["threads"])}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                timeout=self.options.timeout,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            runs.error = f"not done after {self.options.timeout:.0f} s"
        else:
            if done.returncode == 0:
                runs.results.append(json.loads(done.stdout.splitlines()[-1]))
            else:
                runs.error = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:100]
        figures = runs.results[-1] if runs.error is None else runs.error
        print(f"  {name}, {Path(task['text']).stem}: {figures}", file=sys.stderr, flush=True)

    # --- Jobs ---

    def train(
        self, job: str, corpus: str, vocab_size: int, names: Sequence[str], times: int = 1
    ) -> Iterator[Figure]:
        """Trains with each trainer."""
        path = self.texts[corpus]
        vocabularies = {name: self.folder / f"vocabulary-{i}.txt" for i, name in enumerate(names)}
        tasks = {
            name: {
                "task": "training",
                "trainer": name,
                "text": str(path),
                "vocab_size": vocab_size,
                "threads": THREADS,
                "vocabulary": str(vocabularies[name]),
            }
            for name in names
        }
        runs = self.run(tasks, times)
        for name in names:
            trainer = TRAINERS[name]
            counterpart = runs.get(trainer.counterpart, Runs())
            seconds, our_seconds = runs[name].median("seconds"), counterpart.median("seconds")
            compared = name != trainer.counterpart and seconds is not None and our_seconds is not None
            common = None
            if compared:
                common = share(vocabularies[name], vocabularies[trainer.counterpart])
            yield figure(
                runs[name],
                job=job,
                corpus=corpus,
                contender=name,
                pattern=trainer.pattern,
                size=path.stat().st_size,
                threads=THREADS,
                tokens="tokens",
                equal=runs[name].first("digest") == counterpart.first("digest")
                if compared and trainer.tie_break
                else None,
                common=common,
                ratio=seconds / our_seconds if compared and seconds and our_seconds else None,
            )

    def together(self) -> Iterator[Figure]:
        """All texts, 100,000 tokens."""
        return self.train("together", "together", 100_000, self.chosen())

    def small(self) -> Iterator[Figure]:
        """The English text, or whatever there is, 32,000 tokens."""
        corpus = "english" if "english" in self.texts else next(iter(self.texts))
        return self.train("small", corpus, 32_000, self.chosen(), SHORT)

    def large(self) -> Iterator[Figure]:
        """The large text, 100,000 tokens."""
        if "large" in self.texts:
            yield from self.train("large", "large", 100_000, self.chosen())

    def definition(self) -> Iterator[Figure]:
        """The pure-Python reference, on what it can do."""
        return self.train("definition", "slice", SLICE_VOCABULARY, [FASTEST, "reference"])

    def counting(self) -> Iterator[Figure]:
        """Counting alone, on one thread and on two; and by two processes that share nothing."""
        for corpus, path in self.texts.items():
            if corpus in ("together", "slice", "large"):
                continue
            for pattern in ("cl100k", "o200k"):
                tasks = {
                    f"{threads} threads": {
                        "task": "counting",
                        "text": str(path),
                        "pattern": pattern,
                        "threads": threads,
                    }
                    for threads in (1, THREADS)
                }
                tasks[APART] = tasks[f"{THREADS} threads"] | {"task": "counting_apart"}
                self.cores.append(work_at_once(THREADS))
                yield from self.ours_alone("counting", corpus, pattern, tasks, "unique", SHORTEST)
                self.cores.append(work_at_once(THREADS))

    def merging(self) -> Iterator[Figure]:
        """Merging alone, 100,000 tokens."""
        for corpus in ("together", "large"):
            if corpus not in self.texts:
                continue
            tasks = {
                f"{threads} threads": {
                    "task": "merging",
                    "text": str(self.texts[corpus]),
                    "pattern": "cl100k",
                    "vocab_size": 100_000,
                    "threads": threads,
                }
                for threads in (1, THREADS)
            }
            yield from self.ours_alone("merging", corpus, "cl100k", tasks, "merges", SHORT)

    def ours_alone(  # noqa: PLR0913, PLR0917 - what a figure says
        self, job: str, corpus: str, pattern: str, tasks: dict[str, dict[str, Any]], tokens: str, times: int
    ) -> Iterator[Figure]:
        """Measures a part of training, which others do not offer; `times` as `run`."""
        done = self.run(tasks, times)
        if len({runs.first("pieces") for runs in done.values() if runs.error is None}) > 1:
            sys.exit(f"{job}, {corpus}: different numbers of pieces")
        for name, runs in done.items():
            yield figure(
                runs,
                job=job,
                corpus=corpus,
                contender=APART if name == APART else OURS,
                pattern=pattern,
                size=self.texts[corpus].stat().st_size,
                threads=tasks[name]["threads"],
                tokens=tokens,
            )


def turns(names: Sequence[str]) -> list[str]:
    """The order of a round: ours, which are short, again before each rival, so that a mood meets both."""
    ours = [name for name in names if name.startswith(OURS)]
    rivals = [name for name in names if not name.startswith(OURS)]
    return [turn for rival in rivals for turn in (*ours, rival)] or ours


def figure(runs: Runs, *, size: int, tokens: str, **known: Any) -> Figure:
    """Puts a figure together; there is none if a process failed."""
    good = runs if runs.error is None else Runs()
    return Figure(
        **known,
        bytes=size,
        rounds=len(good.results),
        seconds=good.median("seconds"),
        cpu_seconds=good.median("cpu_seconds"),
        peak_megabytes=good.median("peak_megabytes"),
        tokens=good.first(tokens),
        error=runs.error,
    )


def share(vocabulary: Path, other: Path) -> float:
    """Which part of the tokens of one vocabulary is in another."""
    tokens, others = (set(path.read_bytes().split()) for path in (vocabulary, other))
    return len(tokens & others) / len(tokens)


JOBS = {
    "together": Comparison.together,
    "large": Comparison.large,
    "small": Comparison.small,
    "counting": Comparison.counting,
    "merging": Comparison.merging,
    "definition": Comparison.definition,
}


# --- The result ---


def format_result(description: dict[str, Any], figures: Sequence[Figure]) -> str:
    """The result as JSON, with a line for each figure. Folders of this machine stay out of it."""
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in description.items()]
    rows = [json.dumps(present(asdict(each))) for each in figures]
    lines.append(' "figures": [\n  ' + ",\n  ".join(rows) + "\n ]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(arguments: Sequence[str]) -> int:
    """Measures, prints and writes; the exit code is 1 if a vocabulary differs that should not."""
    options = parse_arguments(arguments)
    if BUILD_PROFILE != "release":
        sys.exit(f"the extension is a {BUILD_PROFILE} build: run `make build`")
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(options, Path(folder))
        description = {
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "machine": machine(),
            "source": commit(),
            "versions": {
                TRAINERS[name].distribution: installed(TRAINERS[name]) for name in comparison.chosen()
            },
            "arguments": {
                "corpus": None if options.corpus is None else options.corpus.resolve().name,
                "large": None if options.large is None else options.large.name,
                "rounds": options.rounds,
            },
        }
        figures: list[Figure] = []
        for name in options.jobs or JOBS:
            print(name, file=sys.stderr, flush=True)
            figures.extend(JOBS[name](comparison))
    print(table(figures))
    print()
    print("\n".join(verdicts(figures)))
    if options.output is not None:
        description["cores"] = summary(comparison.cores)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(options.output, format_result(description, figures).encode())
    return 1 if any(each.equal is False for each in figures) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
