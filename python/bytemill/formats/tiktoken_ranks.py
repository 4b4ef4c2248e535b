"""The `.tiktoken` file: the mergeable tokens in rank order, each a line of base64, a space and the rank.

The pattern and the special tokens are not in the file. Llama 3 and Qwen come in the same format, as
`tiktoken.model`, `tokenizer.model` or `qwen.tiktoken`.
"""

from __future__ import annotations

import base64
import binascii
import re
from operator import itemgetter
from typing import TYPE_CHECKING

from bytemill._messages import import_optional
from bytemill.definition import ID_LIMIT, Definition
from bytemill.errors import VocabularyError
from bytemill.formats.lines import blocks_of, byte_lines, number_of, two_fields
from bytemill.formats.verification import Encode, check_ids, check_prefixes

if TYPE_CHECKING:
    import tiktoken

__all__ = ["definition_of", "format_ranks", "looks_like_ranks", "parse_ranks", "to_tiktoken"]

# Longer lines are cut in messages.
LONG_LINE = 200

FIRST_LINE = re.compile(rb"\s*[A-Za-z0-9+/]+={0,2}[ \t]+[0-9]+\s*?(?:\n|$)")


def looks_like_ranks(contents: bytes) -> bool:
    """Returns whether contents begin like a file of this format."""
    return FIRST_LINE.match(contents) is not None


def parse_ranks(contents: bytes, source: str) -> dict[bytes, int]:
    """Parses the contents of a `.tiktoken` file.

    Stricter than tiktoken, which takes some damaged lines for other tokens: it skips characters that are not
    base64, reads `1_0` as 10, and lets the last of two equal tokens win. Nor is there a token of no bytes, as
    tiktoken reads in the last line of Whisper's `multilingual.tiktoken`: no text becomes it.

    Args:
        contents: The file; empty lines are skipped.
        source: The name of the file, for messages.

    Returns:
        The rank of each token, in the order of the lines.

    Raises:
        VocabularyError: A line does not hold a token and a rank, or repeats one; the message has file, line
            and reason.
    """
    return parse_usual(contents) or parse_lines(contents, source)


def parse_usual(contents: bytes) -> dict[bytes, int] | None:
    """Parses a file as it is usually written, many lines at once; `None` if anything is unusual.

    That takes a third of the time of a line by itself.
    """
    ranks: dict[bytes, int] = {}
    taken: set[int] = set()
    for block in blocks_of(contents, b"\n"):
        # Each line has one space. Others, and long ones, would be copied here before they are refused.
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        if block.count(b" ") != lines or len(block) > LONG_LINE * lines:
            return None
        fields = block.split()
        encoded, digits = fields[::2], fields[1::2]
        joined = b"\n".join(map(b" ".join, zip(encoded, digits, strict=False)))
        if joined != block.removesuffix(b"\n") or not all(map(bytes.isdigit, digits)):
            return None
        try:
            tokens = list(map(binascii.a2b_base64, encoded))
            ranks.update(zip(tokens, map(int, digits), strict=True))
        except ValueError:
            return None
        # Only one spelling of a token is usual.
        if [binascii.b2a_base64(token, newline=False) for token in tokens] != encoded:
            return None
        before = len(taken)
        taken.update(map(ranks.__getitem__, tokens))
        if not before + lines == len(ranks) == len(taken):
            return None
    # There is no token of no bytes.
    return ranks if b"" not in ranks and max(taken, default=0) < ID_LIMIT else None


def parse_lines(contents: bytes, source: str) -> dict[bytes, int]:
    """Parses a file line by line; arguments, result and same errors as `parse_ranks`."""
    ranks: dict[bytes, int] = {}
    line_of_rank: dict[int, int] = {}
    for number, line in enumerate(byte_lines(contents), start=1):
        if not line:
            continue
        try:
            token, rank = parse_line(line, ranks, line_of_rank)
        except ValueError as error:
            shown = repr(line) if len(line) <= LONG_LINE else f"{line[:LONG_LINE]!r}..."
            reason = str(error)[: 2 * LONG_LINE]
            raise VocabularyError(
                f"Error parsing line {shown} in {source}: line {number}: {reason}"
            ) from error
        ranks[token] = rank
        line_of_rank[rank] = number
    return ranks


def parse_line(line: bytes, ranks: dict[bytes, int], line_of_rank: dict[int, int]) -> tuple[bytes, int]:
    """Parses one line, given the lines before; `ValueError` with the reason if it is malformed."""
    match two_fields(line):
        case [b"=", _]:
            raise ValueError(
                "expected a token of at least one byte; no text becomes an empty one, so that texts have the "
                "same ids without this line"
            )
        case [encoded, digits]:
            token = base64.b64decode(encoded, validate=True)
        case fields:
            raise ValueError(f"expected a token and a rank, got {number_of(fields)} fields")
    if not digits.isdigit():
        raise ValueError(f"expected a rank in decimal digits, got {digits!r}")
    rank = int(digits)
    if rank >= ID_LIMIT:
        raise ValueError(f"expected a rank below {ID_LIMIT}, got {rank}")
    if token in ranks:
        raise ValueError(f"the token is in line {line_of_rank[ranks[token]]} already")
    if rank in line_of_rank:
        raise ValueError(f"the rank is in line {line_of_rank[rank]} already")
    return token, rank


def format_ranks(mergeable_ranks: dict[bytes, int]) -> bytes:
    """Returns the contents of the `.tiktoken` file of a vocabulary."""
    in_order = sorted(mergeable_ranks.items(), key=itemgetter(1))
    return b"".join(b"%b %d\n" % (base64.b64encode(token), rank) for token, rank in in_order)


# Encodings of the library tiktoken, as objects in memory.


def definition_of(encoding: tiktoken.Encoding) -> Definition:
    """Returns the definition of an encoding of tiktoken; `TypeError` if it is not one."""
    try:
        return Definition(
            encoding.name,
            encoding._pat_str,  # noqa: SLF001 - there is no public name
            dict(encoding._mergeable_ranks),  # noqa: SLF001 - as above
            dict(encoding._special_tokens),  # noqa: SLF001 - as above
        )
    except AttributeError as error:
        raise TypeError(f"expected an encoding of tiktoken, got {type(encoding).__name__}") from error


def to_tiktoken(definition: Definition, encode: Encode) -> tiktoken.Encoding:
    """Builds the same encoding in tiktoken, checked with sample texts.

    Args:
        definition: The definition.
        encode: Encodes by it.

    Raises:
        ImportError: `tiktoken` is not installed.
        VocabularyError: tiktoken would give different token IDs.
    """
    library = import_optional("tiktoken", "encodings of tiktoken")
    definition.merging_bytes("encodings of tiktoken")
    check_prefixes(definition)
    encoding: tiktoken.Encoding = library.Encoding(
        definition.name,
        pat_str=definition.splitting,
        mergeable_ranks=dict(definition.ranks),
        special_tokens=dict(definition.special_tokens),
    )
    check_ids(definition, encode, lambda text: encoding.encode(text, allowed_special="all"), "tiktoken")
    return encoding
