"""Files of every format, damaged in every way: an error that names the file, and memory in proportion to it.

`test_formats_files.py` has what each format refuses, case by case; here damage is made, the same for all.
"""

# ruff: noqa: S311 - what is random can be repeated

from __future__ import annotations

import base64
import itertools
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from bytemill import Encoding
from bytemill.errors import PatternError, VocabularyError
from bytemill.patterns import GPT2_PATTERN, PATTERNS
from support.native_files import native_version_1
from support.toys import BYTE_RANKS

# Most of the file is tokens, as in real ones.
RANKS = BYTE_RANKS | {b"ab": 256, b"abc": 257, b"abcab": 258}
TOY = Encoding("toy", pat_str=GPT2_PATTERN, mergeable_ranks=RANKS, special_tokens={"<|end|>": 259})

# The file that is damaged, and the others that it needs.
NAMES = [
    "mine.tiktoken",
    "mine.bytemill",
    "version1.bytemill",
    "mine.model",
    "vocab.bpe",
    "encoder.json",
    "tokenizer.json",
    "tekken.json",
]


@pytest.fixture(scope="module")
def whole_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of each format."""
    folder = tmp_path_factory.mktemp("whole")
    TOY.save_tiktoken(folder / "mine.tiktoken")
    TOY.save(folder / "mine.bytemill")
    (folder / "version1.bytemill").write_bytes(native_version_1(TOY))
    TOY.save_minbpe(folder / "mine")
    TOY.save_gpt2(folder)
    TOY.save_huggingface(folder)
    tokens = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for token, rank in RANKS.items()
    ]
    sizes = {"num_vocab_tokens": 259, "default_vocab_size": 269, "default_num_special_tokens": 10}
    config = {"pattern": PATTERNS["llama3"], "version": "v13", **sizes}
    (folder / "tekken.json").write_text(json.dumps({"config": config, "vocab": tokens}), encoding="utf-8")
    return folder


@pytest.fixture
def files(whole_files: Path, tmp_path: Path) -> Path:
    """Such a folder, to be damaged."""
    shutil.copytree(whole_files, tmp_path, dirs_exist_ok=True)
    return tmp_path


def truncated(whole: bytes) -> Iterator[bytes]:
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        yield whole[:place]


def flipped(whole: bytes) -> Iterator[bytes]:
    source = random.Random(3)
    for _ in range(60):
        place = source.randrange(len(whole))
        yield whole[:place] + bytes([whole[place] ^ 1 << source.randrange(8)]) + whole[place + 1 :]


def repeated(whole: bytes) -> Iterator[bytes]:
    source = random.Random(4)
    for _ in range(20):
        start = source.randrange(len(whole))
        part = whole[start : start + source.randrange(1, 200)]
        yield whole[:start] + part + whole[start:]
    yield whole + whole


def numbers(whole: bytes) -> Iterator[bytes]:
    """Other numbers where there are some."""
    source = random.Random(5)
    digits = [place for place, byte in enumerate(whole) if chr(byte).isdigit()]
    for number in (
        b"-1",
        b"1e999",
        b"4294967295",
        b"18446744073709551616",
        b"9" * 5000,
        b"1.5",
        b"NaN",
        b"0x10",
    ):
        for _ in range(4):
            place = source.choice(digits)
            yield whole[:place] + number + whole[place + 1 :]


def bytes_between(whole: bytes) -> Iterator[bytes]:
    """Inserts bytes that are no text, or begin another kind of file: at the start, inside, at the end."""
    source = random.Random(6)
    for part in (
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\0",
        b"\r",
        b"\xe2\x80\xa8",
        b"\x1f\x8b\x08",
        b"\n\n",
    ):
        for place in (0, len(whole), source.randrange(len(whole)), source.randrange(len(whole))):
            yield whole[:place] + part + whole[place:]


DAMAGE = (truncated, flipped, repeated, numbers, bytes_between)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_damaged_files(name: str, files: Path) -> None:
    path = files / name
    whole = path.read_bytes()
    refused = 0
    for contents in itertools.chain.from_iterable(damage(whole) for damage in DAMAGE):
        path.write_bytes(contents)
        try:
            read = Encoding.from_file(path, pattern="gpt2" if path.suffix == ".tiktoken" else None)
        except VocabularyError as error:
            refused += 1
            assert str(files) in str(error)  # noqa: PT017 - not all is refused
            assert len(str(error)) < 20_000  # noqa: PT017
        except PatternError:
            refused += 1
        else:
            # Some damage does not matter, or makes another vocabulary: a sound one.
            if read.definition.tokenizer is not None:
                # A field with another name is not there for the library either.
                theirs = Tokenizer.from_str(contents.decode())
                ids = theirs.encode("abcab \u00e9", add_special_tokens=False).ids
                assert read.encode("abcab \u00e9", allowed_special="all") == ids
                assert read.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
                continue
            assert read.decode(read.encode_ordinary("abcab \u00e9")) in {
                "abcab \u00e9",
                "abcab\u00e9",
                " ",
                "",
            }
    assert refused > 60


HOSTILE_JSON: dict[str, Callable[[], bytes]] = {
    "deep lists": lambda: b'{"a": ' + b"[" * 200_000,
    "deep objects": lambda: b'{"a": ' * 200_000 + b"1" + b"}" * 200_000,
    "a huge integer": lambda: b'{"a": ' + b"9" * 1_000_000 + b"}",
    "a huge exponent": lambda: b'{"a": 1e999999999999999999999}',
    "not a number": lambda: b'{"a": NaN, "b": -Infinity}',
    "a key twice": lambda: b'{"a": 1, "a": 2}',
    "a huge string": lambda: b'{"a": "' + b"x" * 5_000_000 + b'"}',
    "a huge key": lambda: b'{"' + b"x" * 5_000_000 + b'": "a"}',
    "many keys": lambda: json.dumps({str(number): [] for number in range(100_000)}).encode(),
    "a lone surrogate": lambda: b'{"\\ud800": 1}',
    "no UTF-8": lambda: b'{"a\xff": 1}',
    "a mark at the beginning": lambda: b'\xef\xbb\xbf{"a": 1}',
    "UTF-16": lambda: '{"a": 1}'.encode("utf-16"),
    "two values": lambda: b'{"a": 1}{"b": 2}',
    "a comment": lambda: b'{"a": 1} // no',
    "no entries": lambda: b"{}",
    "wrong types": lambda: b'{"model": {"type": 5, "vocab": [], "merges": {}}, "config": null, "vocab": 1}',
    "wrong parts": lambda: b'{"config": {}, "vocab": [null, 5, [], {"rank": {}}], "special_tokens": 7}',
    "wrong native": lambda: b'{"format": "bytemill", "version": 1e400, "tokens": [[[]]]}',
}


@pytest.mark.parametrize("make", HOSTILE_JSON.values(), ids=HOSTILE_JSON)
@pytest.mark.parametrize("name", ["mine.bytemill", "encoder.json", "tokenizer.json", "tekken.json"])
def test_hostile_json(name: str, make: Callable[[], bytes], files: Path) -> None:
    path = files / name
    path.write_bytes(make())
    with pytest.raises(VocabularyError) as caught:
        Encoding.from_file(path)
    assert str(files) in str(caught.value)
    # A message is for reading, whatever was in the file.
    assert len(str(caught.value)) < 2_000


# The peak while a file is refused, against that after a small one was: in an interpreter of its own.
MEMORY = """
import resource, sys
from bytemill import Encoding
from bytemill.errors import VocabularyError

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def refuse(path):
    try:
        Encoding.from_file(path, pattern="gpt2" if path.endswith(".tiktoken") else None)
    except VocabularyError:
        return
    raise AssertionError(path)

refuse(sys.argv[1])
before = peak()
refuse(sys.argv[2])
print(peak() - before)
"""

LARGE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "one line of base64": ("a.tiktoken", lambda: b"A" * 20_000_000 + b" 1\n"),
    "one line": ("a.tiktoken", lambda: b"YQ== 0\n" + b"! " * 10_000_000),
    "one string": ("a.json", lambda: b'{"a": "' + b"x" * 20_000_000 + b'"}'),
    "one number": ("a.json", lambda: b'{"a": ' + b"1" * 20_000_000 + b"}"),
    "a native file": ("a.bytemill", lambda: b"bytemill 2\n{}\n" + bytes(20_000_000)),
    "no format": ("a.bin", lambda: b"\x7fELF" + bytes(20_000_000)),
}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in other units elsewhere")
@pytest.mark.parametrize("kind", LARGE)
def test_memory_is_in_proportion(kind: str, tmp_path: Path) -> None:
    name, make = LARGE[kind]
    small, large = tmp_path / f"small-{name}", tmp_path / name
    contents = make()
    small.write_bytes(contents[:100])
    large.write_bytes(contents)
    command = [sys.executable, "-c", MEMORY, str(small), str(large)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603
    assert done.returncode == 0, done.stderr
    # The file, and a copy of it as text.
    assert int(done.stdout) < 2.5 * len(contents)
