"""Texts for the tests: real ones from the Python installation, and generated ones, reproducible."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import random
import sysconfig
import zlib
from collections.abc import Iterator
from pathlib import Path

__all__ = [
    "ADVERSARIAL",
    "FRAGMENTS",
    "MARKS",
    "SCRIPTS",
    "SEPARATORS",
    "broken_utf8",
    "installation_files",
    "multilingual",
    "patchwork",
    "random_unicode",
]

# --- Real texts ---------------------------------------------------------------------------------------------


def installation_files(limit: int | None) -> Iterator[tuple[Path, str]]:
    """The source and the documentation of the Python installation: whole files, about `limit` bytes of them.

    Their order mixes all folders and is the same on every run. Files that are not UTF-8,
    of which the standard library has some for its own tests, are read with replacement characters.
    """
    library = Path(sysconfig.get_path("stdlib"))
    paths = [path for pattern in ("*.py", "*.txt") for path in library.rglob(pattern)]
    own = [path for path in paths if not {"site-packages", "dist-packages"} & set(path.parts)]
    size = 0
    for path in sorted(own, key=lambda path: zlib.crc32(path.relative_to(library).as_posix().encode())):
        if limit is not None and size >= limit:
            return
        text = path.read_bytes().decode("utf-8", "replace")
        size += len(text.encode())
        yield path, text


# --- Generated texts ----------------------------------------------------------------------------------------

# First and last code point of blocks of many kinds: alphabets with and without case, abjads, abugidas,
# syllables, ideographs, digits and numbers, marks, symbols, whitespace, private use,
# and unassigned planes.
SCRIPTS: dict[str, tuple[int, int]] = {
    "ascii": (0x20, 0x7E),
    "controls": (0x00, 0x1F),
    "latin-1": (0x80, 0xFF),
    "latin extended": (0x100, 0x24F),
    "phonetic": (0x250, 0x2AF),
    "modifier letters": (0x2B0, 0x2FF),
    "combining marks": (0x300, 0x36F),
    "greek": (0x370, 0x3FF),
    "cyrillic": (0x400, 0x4FF),
    "armenian": (0x531, 0x58A),
    "hebrew": (0x591, 0x5F4),
    "arabic": (0x600, 0x6FF),
    "syriac": (0x700, 0x74F),
    "devanagari": (0x900, 0x97F),
    "bengali": (0x980, 0x9FF),
    "tamil": (0xB80, 0xBFF),
    "thai": (0xE01, 0xE5B),
    "tibetan": (0xF00, 0xFFF),
    "burmese": (0x1000, 0x109F),
    "georgian": (0x10A0, 0x10FF),
    "hangul jamo": (0x1100, 0x11FF),
    "ethiopic": (0x1200, 0x137F),
    "cherokee": (0x13A0, 0x13FF),
    "ogham": (0x1680, 0x169C),
    "khmer": (0x1780, 0x17FF),
    "mongolian": (0x1800, 0x18AF),
    "vietnamese": (0x1E00, 0x1EFF),
    "greek extended": (0x1F00, 0x1FFF),
    "general punctuation": (0x2000, 0x206F),
    "super- and subscripts": (0x2070, 0x209F),
    "number forms": (0x2150, 0x218B),
    "mathematical operators": (0x2200, 0x22FF),
    "enclosed numbers": (0x2460, 0x24FF),
    "symbols": (0x2600, 0x27BF),
    "glagolitic": (0x2C00, 0x2C5F),
    "ideographic punctuation": (0x3000, 0x303F),
    "hiragana": (0x3041, 0x309F),
    "katakana": (0x30A0, 0x30FF),
    "ideographs": (0x4E00, 0x9FFF),
    "yi": (0xA000, 0xA48F),
    "hangul": (0xAC00, 0xD7A3),
    "private use": (0xE000, 0xE0FF),
    "presentation forms": (0xFB00, 0xFDFF),
    "fullwidth": (0xFF00, 0xFFEF),
    "gothic": (0x10330, 0x1034F),
    "deseret": (0x10400, 0x1044F),
    "cuneiform": (0x12000, 0x123FF),
    "mathematical letters": (0x1D400, 0x1D7FF),
    "adlam": (0x1E900, 0x1E95F),
    "emoji": (0x1F300, 0x1FAFF),
    "rare ideographs": (0x20000, 0x2A6DF),
    "tags": (0xE0000, 0xE007F),
    "unassigned": (0x50000, 0x500FF),
    "last plane": (0x10FF00, 0x10FFFF),
}

# Separators of words: whitespace of all kinds, punctuation, apostrophes, line ends.
SEPARATORS = [
    *" " * 12,
    *"\n\t.,;:!?'\"-/()",
    "\r\n",
    "\n\n",
    "  ",
    " \n",
    "\u3000",
    "\xa0",
    "\u2019",
    "\u200d",
    "\x85",
]


def multilingual(seed: int, words: int) -> str:
    """Returns words of every script in turn, joined by separators of all kinds."""
    source = random.Random(seed)
    parts = []
    scripts = list(SCRIPTS.values())
    for _ in range(words):
        first, last = source.choice(scripts)
        parts += [chr(source.randint(first, last)) for _ in range(source.randint(1, 9))]
        parts.append(source.choice(SEPARATORS))
    return "".join(parts)


def random_unicode(seed: int, size: int) -> str:
    """Returns random code points of all planes, without surrogates."""
    source = random.Random(seed)
    points = (source.choice((0x80, 0x800, 0x3000, 0x10000, 0x110000)) for _ in range(size))
    return "".join(chr(point) for point in map(source.randrange, points) if not 0xD800 <= point < 0xE000)


MARKS = "\u0301\u0338\u0e31\u0bbf\u20dd\u093f\ufe0f\u0488"

# Short strings that the patterns treat specially; joined at random, every two of them become adjacent.
FRAGMENTS: list[str] = [
    *"aAzZ \t\n\r'/.,-_(\x00\x1c\x1f\x85\xa0",
    *"sdmtSDMTlvr0917",
    *["'s", "'S", "'\u017f", "'ll", "'Ll", "'RE", "'ve", "'d", "'\u212a", "\u017f", "\u212a"],
    *["  ", "   ", "\r\n", "\n\n", " \n", "\n ", "\t\n\r", "\u2028", "\u2003", "\u3000", "\u180e", "\u200b"],
    *[
        "ab",
        "Ab",
        "AB",
        "aB",
        "the",
        " the",
        "The",
        " of",
        "ing",
        "123",
        "1234",
        "\u0661\u0662",
        "\xb2",
        "\u2177",
    ],
    *[
        "\xe9",
        "e\u0301",
        "\xdf",
        "\u0130",
        "\u01c5",
        "\u02b0",
        "\u05d0",
        "\u4f60\u597d",
        "\u4e2d",
        "\U0001f600",
        "\U0001d400",
    ],
    *MARKS,
    *[
        "...",
        "//",
        "/\n",
        "!\r\n",
        "---",
        "\xb7",
        "\u2019s",
        "\u20ac",
        "\ufffd",
        "\ufeff",
        "\U0010ffff",
        "\u0378",
    ],
]


def patchwork(seed: int, size: int, fragments: list[str] = FRAGMENTS) -> str:
    """Returns `size` random fragments, joined."""
    return "".join(random.Random(seed).choices(fragments, k=size))


def _letters(alphabet: str, size: int) -> str:
    return "".join(random.Random(size).choices(alphabet, k=size))


LOWER_CASE = "abcdefghijklmnopqrstuvwxyz"

# Adversarial texts for splitters and mergers, each for the reason in its name, some 10,000 characters long.
ADVERSARIAL: dict[str, str] = {
    "one letter": "a" * 10_000,
    "one capital letter": "A" * 10_000,
    "two letters in turn": "ab" * 5_000,
    "random letters": _letters(LOWER_CASE, 10_000),
    "random letters of both cases": _letters(LOWER_CASE + LOWER_CASE.upper(), 10_000),
    "random letters, few": _letters("ab", 10_000),
    "growing words": " ".join("a" * length for length in range(150)),
    "growing capitals then small": "".join("A" * length + "b" * length for length in range(100)),
    "spaces": " " * 10_000,
    "spaces then a letter": " " * 10_000 + "a",
    "spaces then a line end": " " * 10_000 + "\n",
    "spaces then a digit": " " * 10_000 + "1",
    "tabs": "\t" * 10_000,
    "line feeds": "\n" * 10_000,
    "carriage returns and line feeds": "\r\n" * 5_000,
    "carriage returns": "\r" * 10_000 + "a",
    "line ends with spaces between": "\n " * 5_000,
    "spaces of growing length": "".join(" " * length + "x" for length in range(140)),
    "spaces of growing length at line ends": "".join(" " * length + "\n" for length in range(140)),
    "blanks of all kinds": _letters(" \t\n\r\x0b\x0c\x85\xa0\u2003\u2028\u2029\u3000\u1680\u205f", 10_000),
    "blanks of all kinds with letters": _letters(" \t\n\r\x0b\x0c\x85\xa0\u2003\u3000ab1.'", 10_000),
    "what Python alone calls blank": _letters("\x1c\x1d\x1e\x1f a\n", 10_000),
    "no-break spaces": "\xa0" * 5_000 + "a\xa0\xa0b" * 1_000,
    "digits": "1234567890" * 1_000,
    "digits of other scripts": "\u0661\u0662\u0663\u0967\u0968\u0969\uff11\uff12" * 1_000,
    "numbers that are no digits": "\xb2\xb3\xbd\u2177\u2460\u3405" * 1_000,
    "digits and spaces": _letters("0123456789   ", 10_000),
    "punctuation": "!" * 10_000,
    "random punctuation": _letters('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~', 10_000),
    "punctuation and line ends": _letters(".,;!?/\r\n", 10_000),
    "slashes": "/" * 5_000 + "a/b//c///\n/\r\n/" * 300,
    "apostrophes": "'" * 10_000,
    "contractions": "'s't're've'm'll'd" * 600,
    "contractions in capitals": "'S'T'RE'VE'M'LL'D" * 600,
    "contractions after words": "he's HE'S it'll IT'LL we'Ve I'M o'clock d'accord 'tis' " * 200,
    "apostrophes and letters": _letters("'sdmtlvreSDMTLVRE\u017f ", 10_000),
    "apostrophe and long s": "'\u017f'\u017fx \u017f'\u017f" * 1_000,
    "contractions cut short": "'l 'v 'r 'L\n'V\r'R' l ' ve '\u017fl" * 300,
    "typographic apostrophes": "it\u2019s we\u2019ll " * 500,
    "underscores": "_" * 10_000,
    "dashes and words": "a-b--c---d----e" * 600,
    "marks": "\u0301" * 5_000,
    "marks on letters": "e\u0301a\u0308\u0301o\u0302" * 1_000,
    "marks on everything": _letters("ab AB12.'\n" + MARKS, 10_000),
    "marks at the start": "".join(mark + "a" for mark in MARKS) * 500,
    "title-case letters": "\u01c5a\u01c8B\u01cb \u1f88\u1f89x" * 1_000,
    "modifier letters": "\u02b0a\u02b1B\u3005\u309d\u0640" * 1_000,
    "cases in turn": _letters("aA\u0430\u0410\u03b1\u0391\u01c5\u02b0\u4e2d\u0301", 10_000),
    "camel case": "camelCaseHTTPServerXMLToJSONv2aB" * 300,
    "one ideograph": "\u4e2d" * 5_000,
    "random ideographs": "".join(map(chr, random.Random(1).choices(range(0x4E00, 0xA000), k=5_000))),
    "random hangul": "".join(map(chr, random.Random(2).choices(range(0xAC00, 0xD7A4), k=5_000))),
    "emoji with modifiers": "\U0001f468\u200d\U0001f469\U0001f44d\U0001f3fd\U0001f1e9\U0001f1ea" * 400,
    "Indic clusters": "\u0b95\u0bcd\u0bb7\u0bbf \u0915\u094d\u0937\u093f " * 800,
    "Thai without spaces": "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01" * 500,
    "right to left": "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd\u200f " * 500,
    "zeros": "\x00" * 5_000 + "a\x00b \x00" * 500,
    "control characters": _letters("".join(map(chr, range(32))), 10_000),
    "zero-width characters": _letters("\u200b\u200c\u200d\u2060\ufeff\u180ea ", 10_000),
    "byte order marks": "\ufeffa\ufeff \ufeff\n" * 1_000,
    "unassigned code points": "".join(map(chr, random.Random(3).choices(range(0x50000, 0x60000), k=3_000))),
    "code": "def f(x):\n\treturn {'a': x[0]//2, \"b\": ~x}  # no\n\n\n    if x:\r\n        pass\n" * 100,
    "base64": _letters(LOWER_CASE + LOWER_CASE.upper() + "0123456789+/", 10_000),
    "hexadecimal": _letters("0123456789abcdef", 10_000),
    "addresses": "https://example.invalid/a/b?c=d&e=f%20g#h user@example.invalid\n" * 150,
    "angle brackets and bars": "<|endof|>|><|<|fim_|endoftext" * 300,
    "fragments": patchwork(4, 8_000),
    "blocks": "".join(chr(0x61 + length % 26) * length + " " for length in (*range(60, 69), *range(124, 133)))
    * 5,
}


def broken_utf8(seed: int, count: int) -> Iterator[bytes]:
    """Returns almost valid UTF-8: truncated characters, flipped bits, missing and misplaced bytes."""
    source = random.Random(seed)
    stray = [
        b"\x80",
        b"\xbf",
        b"\xc0",
        b"\xc3",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98",
        b"\xf4\x90",
        b"\xff",
    ]
    for _ in range(count):
        data = bytearray(patchwork(source.randrange(2**32), source.randint(0, 30)).encode())
        for _ in range(source.randint(1, 4)):
            position = source.randint(0, len(data))
            match source.randrange(5):
                case 0:
                    del data[position:]
                case 1:
                    del data[:position]
                case 2:
                    data[position : position + 1] = b""
                case 3:
                    data[position:position] = source.choice(stray)
                case _ if position < len(data):
                    data[position] ^= 1 << source.randrange(8)
        yield bytes(data)
