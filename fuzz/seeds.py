"""Seed inputs of the targets: texts that have broken splitters and mergers, patterns, minimised corpora."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

__all__ = ["PATTERNS", "minimised", "write"]

TEXTS = [
    "",
    "hello World HTTPServer don't I'LL we've 're '\u017fx ''s x'",
    "1234567 3.14 Ⅷ ١٢٣ ½ ²",
    "  \r\n\n\n \n \t\t\u2028\u3000\x1c\u200b\x85\xa0 ",
    "日本語 한국어 ภาษาไทย हिन्दी e\u0301\u0302 \u0301A ǅ ʰª ßẞ İi 👩\u200d💻",
    "//...\r\n/<|endoftext|>\U0010ffff\0",
    "a" * 300,
    "ab" * 150 + "ba" * 60,
    "The lowest of the low, slower and slowest; it's 12 words he'd say…\n\n    return x[i]\t// done\n",
    "A'sB'tC'reD've'm'll'd 'S'T'RE",
]
BYTES = [b"\xe4\xb8", b"a \xc3\xa9\xe2\x82 b", b"  \n\t\xf0\x9f\x98", bytes(range(256))]
SPECIAL = [
    b"abab\xffab\xffba\xffaba\xffb\xffa\xffabbababaabab",
    bytes([0, 1, 255, 0, 1, 2, 255, 2, 1, 255]) * 4,
]
JSON = [
    b'{"text": "a\\n\\t\\"\\\\\\/z\\u00e9\\ud83d\\ude00\\ud83d"}\n',
    b'{"text": null}\n\n{"t": "x", "text": ""}\r\n',
    b'{"a": [1, -2.5e3, {"text": 1}, true, false], "text": "first", "text": "last"}\n{"\\u0074ext": "b"}',
    b'{"text": 1}\n[]\n"a"\n{"text": "\xff"}\n{"text": 1e999, "t": 01}',
]
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
BEFORE = r"[^\r\n\p{L}\p{N}]"
PATTERNS = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    rf"'(?i:[sdmt]|ll|ve|re)|{BEFORE}?+\p{{L}}++|\p{{N}}{{1,3}}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    f"{BEFORE}?{UPPER}*{LOWER}+{ENDINGS}?|{BEFORE}?{UPPER}+{LOWER}*{ENDINGS}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    rf"{ENDINGS}|{BEFORE}?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"\w+|\s+|[^\w\s]",
    r"(?s).{1,300}",
    r"(?<=a)b|a(?=b)|(a)\1|\Gx|\bfoo\b",
    r"[a-z]+-?[a-z]+|\s+",
    r"[a-z]+-?[a-z]+|(\d)\1",
]


def inputs(target: str) -> list[bytes]:
    """Returns the inputs of a target without the leading choice bytes."""
    if target == "pattern":
        return [pattern.encode() + b"\xff" + text.encode() for pattern in PATTERNS for text in TEXTS[1:4]]
    if target == "json":
        return JSON
    texts = [text.encode() for text in TEXTS]
    return [*texts, *BYTES, *SPECIAL, b"\xff".join(texts)]


def minimised(target: str) -> Path:
    """Returns the file of a target's minimised corpus: an input in base64 on each line."""
    return Path(__file__).resolve().parent / "minimised" / f"{target}.txt"


def write(target: str, folder: Path) -> None:
    """Writes the inputs of a target to separate files: minimised ones as they are, others after choices."""
    if minimised(target).exists():
        for line in minimised(target).read_text(encoding="ascii").splitlines():
            whole = base64.b64decode(line, validate=True)
            (folder / f"seed-{hashlib.sha256(whole).hexdigest()[:16]}").write_bytes(whole)
    choices = {"pattern": 0, "json": 2}.get(target, 24)
    for contents in inputs(target):
        for number in range(8 if choices > 2 else 1):  # noqa: PLR2004 - as many as there are ways to read a text
            head = hashlib.sha256(bytes([number]) + contents).digest()[:choices]
            head = bytes(number if target != "json" else 0 for _ in head) if number % 2 else head
            name = hashlib.sha256(head + contents).hexdigest()[:16]
            (folder / f"seed-{name}").write_bytes(head + contents)
