"""The jobs of `suites/training.toml`: each trains, counts or merges in fresh processes and yields figures."""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.capacity import parallelism
from harness.corpora import read_texts
from harness.engines import installed
from harness.processes import WorkerError, run_worker
from harness.record import Figure
from harness.suites import suite
from harness.trainers import OURS, TRAINERS, write_separated

SUITE = suite("training")
THREADS: int = SUITE["threads"]

# Counting by processes that share nothing: the attainable speed-up at that moment.
APART = f"{OURS}, 2 processes"

Job = dict[str, Any]


@dataclass
class Runs:
    """The results of the processes of one contender."""

    results: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None

    def median(self, key: str) -> float | None:
        """Returns the median of a figure."""
        return statistics.median(result[key] for result in self.results) if self.results else None

    def first(self, key: str) -> Any:
        """Returns a value that is the same in every round."""
        return self.results[0].get(key) if self.results else None


class Comparison:
    """Shared by all jobs: texts in files, options, and processes."""

    # Texts that are no file of the corpus.
    ADDED = ("together", "slice", "random words", "large")

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        """Writes the texts to files in `folder`."""
        self.options = options
        self.folder = folder
        self.texts: dict[str, Path] = {}
        # Samples of the available parallelism.
        self.capacity: list[float] = []
        texts = read_texts(options.corpus, 1 << 40 if options.corpus else 10_000_000)
        for name, text in {**texts, "together": "".join(texts.values())}.items():
            self.add(name, folder / f"{name}.txt", text)
        self.add("slice", folder / "slice.txt", next(iter(texts.values()))[: SUITE["slice_characters"]])
        jobs = options.jobs or [job["key"] for job in SUITE["jobs"]]
        if "english" in texts and "counting" in jobs:
            name = f"english {SUITE['english_times']} times"
            self.add(name, folder / f"{name}.txt", texts["english"] * SUITE["english_times"])
        if "pieces" in jobs:
            self.add("random words", folder / "random words.txt", random_words(SUITE["random_words"]))
        if options.large is not None:
            # A link, so that the file written beside it stays in this folder.
            link = folder / "large.txt"
            link.symlink_to(options.large.resolve())
            self.add("large", link)

    def add(self, name: str, path: Path, text: str | None = None) -> None:
        """Adds a text, and writes it if given."""
        if text is not None:
            path.write_bytes(text.encode())
        write_separated(path)
        self.texts[name] = path

    def trainers_of(self, key: str) -> list[str]:
        """Returns the trainers that a job measures."""
        job = next(job for job in SUITE["jobs"] if job["key"] == key)
        return job.get("trainers") or self.chosen()

    def chosen(self) -> list[str]:
        """Returns the trainers of bytes to measure: ours, and the installed and chosen ones."""
        return [
            name
            for name, trainer in TRAINERS.items()
            if name != "reference"
            and trainer.pattern != "sentencepiece"
            and installed(trainer.distribution)
            and (not self.options.trainers or name in self.options.trainers or trainer.distribution == OURS)
        ]

    def measure(self, key: str) -> Iterator[Figure]:
        """Measures a job."""
        print(key, file=sys.stderr, flush=True)
        job = next(job for job in SUITE["jobs"] if job["key"] == key)
        for corpus in self.corpora_of(job):
            if job["measure"] == "train":
                yield from self.train(job, corpus)
                continue
            for pattern in job["patterns"]:
                yield from self.ours_alone(job, corpus, pattern)

    def corpora_of(self, job: Job) -> Iterator[str]:
        """Yields the names of the texts of a job."""
        single = [name for name in self.texts if name not in self.ADDED]
        for name in job["texts"]:
            if name == "each":
                yield from single
            elif name in self.texts:
                yield name
            elif name == "english":
                yield single[0]

    def run(self, tasks: dict[str, dict[str, Any]], times: int) -> dict[str, Runs]:
        """Runs each task in turn, round after round, each time in a fresh process."""
        runs = {name: Runs() for name in tasks}
        for _ in range(times * self.options.rounds):
            for name in turns(list(tasks)):
                if runs[name].error is None:
                    self.run_once(name, tasks[name], runs[name])
        return runs

    def run_once(self, name: str, task: dict[str, Any], runs: Runs) -> None:
        """Runs one process and adds its result."""
        try:
            # Thread pools are of this size.
            threads = {"RAYON_NUM_THREADS": str(task["threads"])}
            runs.results.append(run_worker(task, environment=threads, timeout=self.options.timeout))
        except WorkerError as error:
            runs.error = str(error)[:100]
        figures = runs.results[-1] if runs.error is None else runs.error
        print(f"  {name}, {Path(task['text']).stem}: {figures}", file=sys.stderr, flush=True)

    def train(self, job: Job, corpus: str) -> Iterator[Figure]:
        """Trains with each trainer."""
        names = self.trainers_of(job["key"])
        path = self.texts[corpus]
        tasks = {
            name: {
                "task": "training",
                "trainer": name,
                "text": str(path),
                "vocab_size": job["vocab_size"],
                "threads": THREADS,
            }
            for name in names
        }
        runs = self.run(tasks, job.get("times", 1))
        for name in names:
            trainer = TRAINERS[name]
            counterpart = runs.get(trainer.counterpart, Runs())
            seconds, our_seconds = runs[name].median("seconds"), counterpart.median("seconds")
            compared = name != trainer.counterpart and seconds is not None and our_seconds is not None
            same = runs[name].first("digest") == counterpart.first("digest")
            yield figure(
                runs[name],
                job=job["key"],
                corpus=corpus,
                contender=name,
                pattern=trainer.pattern,
                size=path.stat().st_size,
                threads=THREADS,
                tokens="tokens",
                equal=same if compared else None,
                ratio=seconds / our_seconds if compared and seconds and our_seconds else None,
            )

    def ours_alone(self, job: Job, corpus: str, pattern: str) -> Iterator[Figure]:
        """Measures counting or merging, which other trainers do not offer separately."""
        counts = job["measure"] == "count"
        task = {
            "task": "counting" if counts else "merging",
            "text": str(self.texts[corpus]),
            "pattern": pattern,
            "vocab_size": job.get("vocab_size"),
        }
        tasks = {f"{threads} threads": task | {"threads": threads} for threads in (1, THREADS)}
        if counts:
            tasks[APART] = task | {"threads": THREADS, "task": "counting_apart"}
            self.capacity.append(parallelism(THREADS))
        done = self.run(tasks, job.get("times", 1))
        if counts:
            self.capacity.append(parallelism(THREADS))
        if len({runs.first("pieces") for runs in done.values() if runs.error is None}) > 1:
            sys.exit(f"{job['key']}, {corpus}: different numbers of pieces")
        for name, runs in done.items():
            yield figure(
                runs,
                job=job["key"],
                corpus=corpus,
                contender=APART if name == APART else OURS,
                pattern=pattern,
                size=self.texts[corpus].stat().st_size,
                threads=tasks[name]["threads"],
                tokens="unique" if counts else "merges",
            )


def random_words(count: int) -> str:
    """Returns lines of words of five to nine random letters, the same each time."""
    generator = random.Random(0)  # noqa: S311 - a text to measure with
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(generator.choices(letters, k=generator.randint(5, 9))) for _ in range(count)]
    return "\n".join(" ".join(words[start : start + 12]) for start in range(0, count, 12))


def turns(names: Sequence[str]) -> list[str]:
    """Returns the order of a round: ours, which are short, before each rival, so that load affects both."""
    ours = [name for name in names if name.startswith(OURS)]
    rivals = [name for name in names if not name.startswith(OURS)]
    return [turn for rival in rivals for turn in (*ours, rival)] or ours


def figure(runs: Runs, *, size: int, tokens: str, **known: Any) -> Figure:
    """Returns the figure of a contender, without times if a process failed."""
    good = runs if runs.error is None else Runs()
    return Figure(
        **known,
        bytes=size,
        rounds=len(good.results),
        seconds=good.median("seconds"),
        cpu_seconds=good.median("cpu_seconds"),
        peak_megabytes=good.median("peak_megabytes"),
        tokens=good.first(tokens),
        pieces=good.first("unique") if tokens == "merges" else None,
        error=runs.error,
    )
