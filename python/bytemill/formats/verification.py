"""Writing files that are known to be right: they are read back and tried before they get their names."""

from __future__ import annotations

from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bytemill.errors import VocabularyError
from bytemill.formats.atomic import create, replacing

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from bytemill.core import Encoding
    from bytemill.formats.parts import Parts

__all__ = ["check_ids", "check_parts", "check_with_tokenizers", "sample_texts", "write_verified"]

# What patterns treat in ways of their own: cases, contractions, numbers, blanks, line ends, scripts, marks.
TEXTS = [
    "",
    "Hello World, HELLO wOrLd! It's they'LL I'm we've 'tis O'Neill's",
    "x = [1, 12, 123, 1234, 12345678]; // 3.14e-10 \u0661\u0662\u0663\u0664 \xb2\xb3 \u2167",
    "  a \n\n  b\r\n\tc   \n d  \t",
    "trailing blanks   ",
    "\xa0\u3000no-break and wide\u2003blanks\u2028\x85\x1c",
    "!?...---===/**/\n/\n//;;\n$%^&*()_+{}|:\"<>'",
    "Zu\u0308rich Stra\xdfe \u0130stanbul \u01c5 \u02b0 na\xefve \u017f'\u017f",
    "\u041f\u0440\u0438\u0432\u0435\u0442 \u03b3\u03b5\u03b9\u03ac",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u3053\u3093\u306b\u3061\u306f",
    "\ud55c\uad6d\uc5b4 \u30c6\u30b9\u30c8",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001d400\U00020000 e\u0301\u0338",
    "a" * 300 + "ab" * 100 + " " * 100,
    "".join(map(chr, range(256))),
]

# How many tokens and special tokens become sample texts.
TOKENS = 1000


def sample_texts(encoding: Encoding) -> list[str]:
    """Gives texts of all kinds, among them tokens from everywhere in the vocabulary."""
    tokens = list(encoding._mergeable_ranks)  # noqa: SLF001 - tiktoken's name
    special = list(encoding._special_tokens)  # noqa: SLF001 - tiktoken's name
    spread = tokens[:: max(1, len(tokens) // TOKENS)]
    texts = [token.decode(errors="replace") for token in spread]
    return [*TEXTS, *texts, " ".join(texts), *[f"a{text} b" for text in special[:TOKENS]]]


def write_verified(files: Mapping[str | os.PathLike[str], bytes], check: Callable[..., None]) -> None:
    """Writes files under other names, reads them back, checks them, and only then gives them their names.

    Args:
        files: The contents of each file.
        check: Called with what was read back of each; raises if that is not right.

    Raises:
        OSError: A file cannot be written; then, or if `check` raises, no file has changed and none is left.
    """
    with ExitStack() as stack:
        temporaries = [stack.enter_context(replacing(path)) for path in files]
        for temporary, contents in zip(temporaries, files.values(), strict=True):
            with create(temporary) as file:
                file.write(contents)
        check(*[temporary.read_bytes() for temporary in temporaries])


def check_parts(encoding: Encoding, parts: Parts) -> None:
    """Checks that what was read back is the encoding; `VocabularyError` if not."""
    from bytemill.core import Encoding

    expected = encoding._mergeable_ranks, encoding._special_tokens  # noqa: SLF001 - tiktoken's names
    if (parts.ranks, parts.special_tokens) != expected:
        message = f"{encoding!r} cannot be written: the file has other tokens when it is read back"
        raise VocabularyError(message)
    pattern = parts.pattern or parts.usual_pattern or encoding._pat_str  # noqa: SLF001 - tiktoken's name
    # Not by the constructor: it would warn again of what it warned of when the encoding was made.
    read = Encoding.__new__(Encoding)
    read._build("read back", pattern, parts.ranks, parts.special_tokens)  # noqa: SLF001 - ours
    check_ids(encoding, lambda text: read.encode(text, allowed_special="all"), "this library")


def check_ids(encoding: Encoding, encode: Callable[[str], Sequence[int]], reader: str) -> None:
    """Checks that a function gives the same ids for sample texts; `VocabularyError` if not."""
    for text in sample_texts(encoding):
        expected, got = encoding.encode(text, allowed_special="all"), list(encode(text))
        if expected != got:
            message = (
                f"{encoding!r} cannot be converted exactly: {reader} gives other ids for {text[:100]!r}: "
                f"expected {expected[:20]}, got {got[:20]}"
            )
            raise VocabularyError(message)


def check_with_tokenizers(encoding: Encoding, tokenizer_json: bytes) -> None:
    """Checks a `tokenizer.json` with the library tokenizers itself, if it is installed."""
    if find_spec("tokenizers") is None:
        return
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(tokenizer_json.decode())
    check_ids(encoding, lambda text: tokenizer.encode(text, add_special_tokens=False).ids, "tokenizers")
    ids = [*encoding._special_tokens.values()][:TOKENS]  # noqa: SLF001 - tiktoken's name
    if tokenizer.decode(ids, skip_special_tokens=False) != encoding.decode(ids):
        message = f"{encoding!r} cannot be converted exactly: tokenizers decodes special tokens to other text"
        raise VocabularyError(message)
