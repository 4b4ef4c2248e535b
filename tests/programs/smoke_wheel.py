"""Checks an installed wheel: encodes, counts, decodes, trains and shards, beside the readable reference.

    python -I smoke_wheel.py

It needs nothing but bytemill, and is what `make smoke-wheels` runs on each platform.
"""

from __future__ import annotations

import sys
import sysconfig
import tempfile
import threading
from pathlib import Path

import bytemill
from bytemill import reference

TEXTS = [
    "hello world",
    "It's 12 words;\r\n\n  na\u00efve \u65e5\u672c\u8a9e e\u0301 \U0001f469\u200d\U0001f680",
    "def f(x):\n\treturn x ** 2  # comment\n" * 3,
    "",
    " " * 40 + "end",
]
# Published ids, so that the reference and the core cannot be wrong in the same way.
HELLO_WORLD = {"gpt2": [31373, 995], "cl100k_base": [15339, 1917], "o200k_base": [24912, 2375]}


def expect(name: str, got: object, expected: object) -> None:
    """Ends the program where a result is another than the expected one."""
    if got != expected:
        sys.exit(f"{name}: expected {expected!r:.300}, got {got!r:.300}")


def check_encodings() -> None:
    """Compares ids, counts and texts with the reference."""
    for name, hello_world in HELLO_WORLD.items():
        encoding = bytemill.get_encoding(name)
        expect(f"{name}, published ids", encoding.encode(TEXTS[0]), hello_world)
        slow = reference.ReferenceEncoding(
            encoding._mergeable_ranks, encoding._special_tokens, encoding._pat_str
        )
        expected = [slow.encode_ordinary(text) for text in TEXTS]
        expect(f"{name}, encode", [encoding.encode(text) for text in TEXTS], expected)
        # Text that is cold, then in the cache, in threads.
        expect(f"{name}, batch", encoding.encode_batch(TEXTS * 50, num_threads=2), expected * 50)
        expect(f"{name}, count", list(encoding.count_batch(TEXTS)), [len(ids) for ids in expected])
        flat, offsets = encoding.encode_batch_to_numpy(TEXTS)
        expect(f"{name}, array", flat.tolist(), [token for ids in expected for token in ids])
        expect(f"{name}, offsets", int(offsets[-1]), len(flat))
        expect(f"{name}, decode", encoding.decode_batch(expected), TEXTS)
        special = encoding.encode("<|endoftext|>", allowed_special="all")
        expect(f"{name}, special token", special, [encoding.eot_token])


def check_training(folder: Path) -> None:
    """Trains on text and on a file, compares the merges with the reference, saves and loads."""
    text = "the lowest of the low, slower and slowest; \u65e5\u672c " * 30
    pattern = bytemill.get_encoding("cl100k_base")._pat_str
    merges = reference.train(text, 280, pattern=pattern, tie_break="smallest_pair")
    ranks = reference.ranks_of_merges(merges)
    corpus = folder / "corpus.txt"
    corpus.write_bytes(text.encode())
    saved = folder / "trained.bytemill"
    for source in ([text], str(corpus)):
        trained = bytemill.train(
            source, 280, pattern=pattern, tie_break="smallest_pair", num_threads=2, progress=False
        )
        expect("trained vocabulary", trained._mergeable_ranks, ranks)
        trained.save(str(saved))
        loaded = bytemill.Encoding.from_file(str(saved))
        slow = reference.ReferenceEncoding(ranks, pattern=pattern)
        expect("ids of a saved vocabulary", loaded.encode(text), slow.encode_ordinary(text))
        expect("text of a saved vocabulary", loaded.decode(loaded.encode(text)), text)


def check_threads() -> None:
    """Encodes in eight threads at once with one encoding."""
    encoding = bytemill.get_encoding("o200k_base")
    text = " ".join(str(number) for number in range(2000))
    expected = encoding.encode(text)
    results: list[list[int]] = []
    threads = [threading.Thread(target=lambda: results.append(encoding.encode(text))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect("ids in threads", results, [expected] * 8)


def main() -> None:
    """Runs the checks, and prints what they ran on."""
    check_encodings()
    with tempfile.TemporaryDirectory() as folder:
        check_training(Path(folder))
    check_threads()
    version = sys.version.split()[0]
    print(f"bytemill {bytemill.__version__} passed: Python {version}, {sysconfig.get_platform()}")  # noqa: T201 - a program


if __name__ == "__main__":
    main()
