"""Use one process for hours as servers do, and check each result and that memory stays flat.

    PYTHONPATH=tests python -m programs.soak DIR [--minutes 120] [--output FILE]

Random clients, each a thread, encode slices of the text below DIR and of what is derived from it: in batches
on several threads, in sessions, streams and through a cache of prefixes, while the limits of memory change.
64 connections ask a playground in the same process. Each result is compared with tiktoken's or tokenizers'.
Memory is read every five seconds: the most of the last third of the time may be that of the second third and
2 % and 16 MiB. Exits with 1 if a result differs or memory grew.
"""

# ruff: noqa: T201, S311 - a script: it prints; what is random need not be secret

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import bytemill
from bytemill import playground
from bytemill.cli.comparing import portions, sliced
from bytemill.io.atomic import write_atomically
from bytemill.playground.wire import unpack
from programs.ledger import Opened, open_encoding, open_file
from support.derived_text import chunks_of, text_of
from support.memory import resident
from support.offline_tiktoken import offline_tiktoken
from support.requests import ask_on
from support.revision import commit

CLIENTS = 6
CONNECTIONS = 64
LONGEST = 20_000
SECONDS_BETWEEN = 5

# Without an answer for so long, the program fails. Other work on the machine may take the processors for
# minutes: 120 seconds ended a run of two hours.
ANSWER_SECONDS = 1200

# By which memory may grow from the second third of the time to the last one.
SHARE, BYTES = 1.02, 16 << 20


def subjects(folder: Path) -> list[Opened]:
    """Returns the encodings of all clients, each with the same of another library."""
    with offline_tiktoken(folder):
        found = [open_encoding(name, folder) for name in ("o200k_base", "cl100k_base")]
    return [*found, *(open_file(row, folder) for row in ("gemma-3", "bert-uncased"))]


def expected_ids(each: Opened, text: str) -> list[int]:
    """Returns the token IDs of a text by the other library."""
    return list(each.other.encode(text))


class Client:
    """Random calls, each compared with the other library."""

    def __init__(self, seed: int, text: str, shared: list[Opened], cache: bytemill.PrefixCache) -> None:
        """Takes what all clients share."""
        self.source = random.Random(seed)
        self.text = text
        self.shared = shared
        self.cache = cache
        self.calls: Counter[str] = Counter()

    def slice(self, longest: int = LONGEST) -> str:
        """Returns a random part of the text."""
        size = int(min(longest, len(self.text)) ** self.source.random())
        start = self.source.randint(0, len(self.text) - size)
        return self.text[start : start + size]

    def batch(self, each: Opened) -> bool:
        """Encodes several texts to arrays and to lists, on threads."""
        texts = [self.slice(2_000) for _ in range(self.source.randint(1, 12))]
        expected = [expected_ids(each, text) for text in texts]
        ids, offsets = each.encoding.encode_batch_to_numpy(texts, **each.other.special, num_threads=3)
        found = [ids[start:end].tolist() for start, end in itertools.pairwise(offsets)]
        return found == expected == each.encoding.encode_batch(texts, **each.other.special, num_threads=2)

    def session(self, each: Opened) -> bool:
        """Appends to a text, forks it, and edits the fork."""
        text = self.slice()
        session = each.encoding.session(**each.other.special)
        for part in sliced(text, [*portions(len(text), self.source)]):
            session.append(part)
        fork = session.fork()
        start = self.source.randint(0, len(text))
        end = self.source.randint(start, len(text))
        new = self.slice(200)
        fork.edit(start, end, new)
        edited = text[:start] + new + text[end:]
        return session.tolist() == expected_ids(each, text) and fork.tolist() == expected_ids(each, edited)

    def streams(self, each: Opened) -> bool:
        """Encodes and decodes in portions."""
        text = self.slice()
        stream = each.encoding.stream_encoder(**each.other.special)
        sizes = [*portions(len(text), self.source)]
        ids = [number for part in sliced(text, sizes) for number in stream.push(part)]
        ids += stream.flush()
        expected = expected_ids(each, text)
        decoder = each.encoding.stream_decoder()
        decoded = "".join(decoder.push([number]) for number in expected) + decoder.flush()
        return ids == expected and decoded == each.encoding.decode(expected)

    def conversation(self, each: Opened) -> bool:
        """Encodes texts that begin alike, through the cache."""
        text = self.slice()
        for _ in range(3):
            text += self.slice(3_000)
            ids = each.encoding.encode(text, **each.other.special, cache=self.cache)
            if ids != expected_ids(each, text):
                return False
        return True

    def counts(self, each: Opened) -> bool:
        """Counts and truncates."""
        text, special = self.slice(), each.other.special
        expected = expected_ids(each, text)
        kept = each.encoding.truncate(text, 50, **special)
        return (
            each.encoding.count(text, **special) == len(expected)
            and each.encoding.count(kept.text, **special) <= 50
        )

    def limits(self, each: Opened) -> bool:
        """Changes what the caches may take."""
        # Small enough for caches to be full within the first third of an hour: filling is no leak.
        each.encoding.set_cache_limit(1 << self.source.randint(12, 20))
        bytemill.set_process_cache_limit(1 << self.source.randint(20, 26))
        if self.source.random() < 0.1:
            each.encoding.clear_cache()
            self.cache.clear()
        return True

    def run(self, end: float) -> list[str]:
        """Calls until the end, and returns what differed."""
        kinds = [self.batch, self.session, self.streams, self.conversation, self.counts, self.limits]
        wrong: list[str] = []
        while time.monotonic() < end and not wrong:
            kind, each = self.source.choice(kinds), self.source.choice(self.shared)
            if not kind(each):
                wrong.append(f"{kind.__name__} of {each.encoding.name}")
            self.calls[kind.__name__] += 1
        return wrong


def ask(
    running: playground.Playground, seed: int, text: str, each: Opened, end: float
) -> tuple[int, list[str]]:
    """Asks a playground on one connection until the end; returns the number of answers and what differed."""
    source = random.Random(seed)
    connection = HTTPConnection("127.0.0.1", urlsplit(running.url).port or 0, timeout=ANSWER_SECONDS)
    query = {"e": each.encoding.name, "seq": "0", "special": "allow"}
    answers = 0
    while time.monotonic() < end:
        start = source.randrange(len(text) - 4_000)
        body = text[start : start + source.randint(1, 4_000)]
        response, block = ask_on(connection, running, "encode", body.encode(), **query)
        if response.status != 200:
            return answers, [f"the playground answered {response.status}: {block[:200]!r}"]
        tokens, _, _ = unpack(block)
        if tokens.ids.tolist() != expected_ids(each, body):
            return answers, ["encode of the playground"]
        answers += 1
    connection.close()
    return answers, []


def memory_until(end: float) -> list[int]:
    """Returns the memory in use, read at intervals."""
    found = []
    while time.monotonic() < end:
        found.append(resident())
        time.sleep(SECONDS_BETWEEN)
    return found


def grew(memory: list[int]) -> bool:
    """Returns whether the last third of the time needed more than the second, beyond what is allowed."""
    third = len(memory) // 3
    return max(memory[2 * third :]) > max(memory[third : 2 * third]) * SHARE + BYTES


def main() -> int:
    """Runs all clients, and prints and records what they found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path, metavar="DIR", help="a folder of .txt files")
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--output", type=Path, metavar="FILE", help="append a line of JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shared = subjects(Path(folder))
    cache = bytemill.PrefixCache(32 << 20)
    # Files first, then what is derived from them, without an end.
    files = sorted(options.corpus.glob("*.txt"))
    chunks = [*itertools.islice(chunks_of(files), sum(path.stat().st_size for path in files) >> 19)]
    texts = [text_of(chunk) for chunk in random.Random(5).sample(chunks, min(CLIENTS, len(chunks)))]
    seed = time.time_ns()
    end = time.monotonic() + 60 * options.minutes
    clients = [Client(seed + number, texts[number % len(texts)], shared, cache) for number in range(CLIENTS)]
    with (
        playground.start("", open_browser=False) as running,
        ThreadPoolExecutor(CLIENTS + CONNECTIONS) as pool,
    ):
        work = [pool.submit(client.run, end) for client in clients]
        asked = [
            pool.submit(ask, running, seed - number, texts[number % len(texts)], shared[number % 2], end)
            for number in range(CONNECTIONS)
        ]
        memory = memory_until(end)
        wrong = [each for done in work for each in done.result()]
        wrong += [each for done in asked for each in done.result()[1]]
        answers = sum(done.result()[0] for done in asked)
    calls = sum((client.calls for client in clients), Counter())
    record = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": commit()["commit"],
        "minutes": options.minutes,
        "seed": seed,
        "calls": dict(calls),
        "answers": answers,
        "threads": threading.active_count(),
        "memory_megabytes": [round(max(memory[at : at + 12]) / 1e6) for at in range(0, len(memory), 12)],
        "wrong": wrong,
        "grew": grew(memory),
    }
    print(json.dumps(record))
    if options.output is not None:
        before = options.output.read_bytes() if options.output.exists() else b""
        write_atomically(options.output, before + (json.dumps(record) + "\n").encode())
    return int(bool(wrong) or record["grew"] is True)


if __name__ == "__main__":
    sys.exit(main())
