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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import tokenizers

import bytemill
from bytemill import playground
from bytemill.io.atomic import write_atomically
from bytemill.playground.server import CONTENT_TYPE
from bytemill.playground.wire import unpack
from support.derived_text import chunks_of, text_of
from support.memory import resident
from support.offline_tiktoken import offline_tiktoken
from support.open_models import file_of
from support.revision import commit

CLIENTS = 6
CONNECTIONS = 64
LONGEST = 20_000
SECONDS_BETWEEN = 5

# By which memory may grow from the second third of the time to the last one.
SHARE, BYTES = 1.02, 16 << 20

Ids = list[int]


class Subject(NamedTuple):
    """An encoding, and the same of another library."""

    encoding: bytemill.Encoding
    expected: Callable[[str], Ids]


def of_library(library: tokenizers.Tokenizer) -> Callable[[str], Ids]:
    """Returns how a library's tokenizer encodes."""
    return lambda text: library.encode(text, add_special_tokens=False).ids


def subjects(folder: Path) -> list[Subject]:
    """Returns the encodings of all clients."""
    with offline_tiktoken(folder) as theirs:
        found = [
            Subject(bytemill.get_encoding(name), theirs[name].encode_ordinary)
            for name in ("o200k_base", "cl100k_base")
        ]
    for row in ("gemma-3", "bert-uncased"):
        library = tokenizers.Tokenizer.from_str(file_of(row).decode())
        found.append(Subject(bytemill.Encoding.from_huggingface(library), of_library(library)))
    return found


def parts_of(text: str, source: random.Random) -> Iterator[str]:
    """Cuts a text at random."""
    while text:
        size = source.randint(1, max(1, len(text) // 3))
        yield text[:size]
        text = text[size:]


class Client:
    """Random calls, each compared with the other library."""

    def __init__(self, seed: int, text: str, shared: list[Subject], cache: bytemill.PrefixCache) -> None:
        """Takes what all clients share."""
        self.source = random.Random(seed)
        self.text = text
        self.shared = shared
        self.cache = cache
        self.calls: Counter[str] = Counter()

    def slice(self, longest: int = LONGEST) -> str:
        """Returns a random part of the text."""
        size = int(longest ** self.source.random())
        start = self.source.randrange(len(self.text) - size)
        return self.text[start : start + size]

    def batch(self, each: Subject) -> bool:
        """Encodes several texts to arrays and to lists, on threads."""
        texts = [self.slice(2_000) for _ in range(self.source.randint(1, 12))]
        expected = [each.expected(text) for text in texts]
        ids, offsets = each.encoding.encode_batch_to_numpy(texts, disallowed_special=(), num_threads=3)
        found = [ids[start:end].tolist() for start, end in itertools.pairwise(offsets)]
        return found == expected == each.encoding.encode_ordinary_batch(texts, num_threads=2)

    def session(self, each: Subject) -> bool:
        """Appends to a text, forks it, and edits the fork."""
        text = self.slice()
        session = each.encoding.session(disallowed_special=())
        for part in parts_of(text, self.source):
            session.append(part)
        fork = session.fork()
        start = self.source.randint(0, len(text))
        end = self.source.randint(start, len(text))
        new = self.slice(200)
        fork.edit(start, end, new)
        edited = text[:start] + new + text[end:]
        return session.tolist() == each.expected(text) and fork.tolist() == each.expected(edited)

    def streams(self, each: Subject) -> bool:
        """Encodes and decodes in portions."""
        text = self.slice()
        stream = each.encoding.stream_encoder(disallowed_special=())
        ids = [number for part in parts_of(text, self.source) for number in stream.push(part)]
        ids += stream.flush()
        expected = each.expected(text)
        decoder = each.encoding.stream_decoder()
        decoded = "".join(decoder.push([number]) for number in expected) + decoder.flush()
        return ids == expected and decoded == each.encoding.decode(expected)

    def conversation(self, each: Subject) -> bool:
        """Encodes texts that begin alike, through the cache."""
        text = self.slice()
        for _ in range(3):
            text += self.slice(3_000)
            if each.encoding.encode(text, disallowed_special=(), cache=self.cache) != each.expected(text):
                return False
        return True

    def counts(self, each: Subject) -> bool:
        """Counts and truncates."""
        text = self.slice()
        expected = each.expected(text)
        kept = each.encoding.truncate(text, 50, disallowed_special=())
        return each.encoding.count(text) == len(expected) and each.encoding.count(kept.text) <= max(50, 0)

    def limits(self, each: Subject) -> bool:
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
    running: playground.Playground, seed: int, text: str, each: Subject, end: float
) -> tuple[int, list[str]]:
    """Asks a playground on one connection until the end; returns the number of answers and what differed."""
    source = random.Random(seed)
    base = urlsplit(running.url)
    headers = {
        "Origin": f"http://{base.netloc}",
        "Content-Type": CONTENT_TYPE,
        "Sec-Fetch-Site": "same-origin",
    }
    connection = HTTPConnection("127.0.0.1", base.port or 0, timeout=120)
    answers = 0
    while time.monotonic() < end:
        start = source.randrange(len(text) - 4_000)
        body = text[start : start + source.randint(1, 4_000)].encode()
        path = f"{base.path}encode?e={each.encoding.name}&seq={answers}"
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        block = response.read()
        if response.status != 200:
            return answers, [f"the playground answered {response.status}: {block[:200]!r}"]
        tokens, _, _ = unpack(block)
        if tokens.ids.tolist() != each.expected(body.decode()):
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
