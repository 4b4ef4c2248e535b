"""GPT-2's two files: `vocab.bpe` lists the merges in order, `encoder.json` the id of each token.

Both show bytes as text: each of the 256 bytes has a visible character, so that a space separates and nothing
needs an escape. The pattern is GPT-2's, and not in the files. Entries of `encoder.json` that are no bytes and
that no merge makes are special tokens, if they are in brackets. Readers of this format do not look for them
in text.

tiktoken's loader, `parse_data_gym` here, takes less than `parse_pair` and other libraries do: ids are implied
there, the byte tokens come first, those whose byte is a printable Latin-1 character before the others, and
then one id for each merge; and it knows two special tokens only.
"""

from __future__ import annotations

import json
import re
from operator import itemgetter
from typing import TYPE_CHECKING

from bytemill.errors import VocabularyError
from bytemill.formats.json_file import parse_json
from bytemill.formats.merge_list import check_merges, merges_of
from bytemill.formats.parts import Parts, checked_ids, checked_ranks
from bytemill.patterns import GPT2_PATTERN, MINBPE_GPT2_PATTERN, R50K_PATTERN

if TYPE_CHECKING:
    from bytemill.core import Encoding

__all__ = ["FILE_NAMES", "format_encoder", "format_merges", "parse_data_gym", "parse_pair"]

# What the two files are called: by GPT-2's authors, and by the library transformers.
FILE_NAMES = (("vocab.bpe", "encoder.json"), ("merges.txt", "vocab.json"))

PRINTABLE = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
UNPRINTABLE = [byte for byte in range(256) if byte not in PRINTABLE]

# The byte tokens in order of their ids.
BYTE_TOKENS = [bytes([byte]) for byte in PRINTABLE + UNPRINTABLE]

CHARACTER_OF_BYTE = {byte: chr(byte) for byte in PRINTABLE} | {
    byte: chr(256 + position) for position, byte in enumerate(UNPRINTABLE)
}
BYTE_OF_CHARACTER = {character: byte for byte, character in CHARACTER_OF_BYTE.items()}

# The same for `str.translate`, bytes being characters of Latin-1; what stands for no byte is put outside.
TEXT_OF_BYTES = str.maketrans({chr(byte): character for byte, character in CHARACTER_OF_BYTE.items()})
BYTES_OF_TEXT = str.maketrans(
    {chr(byte): "\uffff" for byte in UNPRINTABLE}
    | {character: chr(byte) for character, byte in BYTE_OF_CHARACTER.items()}
)

SPECIAL_TOKENS = {"<|endoftext|>", "<|startoftext|>"}

# What entries look like that are taken for special tokens: else a file cut short would turn tokens into them.
SPECIAL_TOKEN = re.compile(r"<.+>|\[.+\]", re.DOTALL)

# Those that give the same pieces as GPT-2's.
SAME_PATTERNS = {GPT2_PATTERN, MINBPE_GPT2_PATTERN, R50K_PATTERN}

HEADER = "#version: 0.2"


def token_text(token: bytes) -> str:
    """Shows a token as text."""
    return token.decode("latin-1").translate(TEXT_OF_BYTES)


def token_bytes(text: str) -> bytes:
    """Reads a token shown as text; `ValueError` if a character stands for no byte."""
    try:
        return text.translate(BYTES_OF_TEXT).encode("latin-1")
    except UnicodeEncodeError as error:
        message = f"the character {text[error.start]!r} stands for no byte"
        raise ValueError(message) from error


def parse_data_gym(
    vocab_bpe: bytes,
    encoder_json: bytes,
    *,
    vocab_bpe_file: str = "vocab.bpe",
    encoder_json_file: str = "encoder.json",
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """Reads the contents of both files and checks that they agree.

    Args:
        vocab_bpe: The merges. The first line is a header.
        encoder_json: The ids.
        vocab_bpe_file: The name of the first file for messages.
        encoder_json_file: The name of the second.
        clobber_one_byte_tokens: Whether the byte tokens have the ids that the second file gives them, rather
            than those of GPT-2.

    Returns:
        Each mergeable token's rank.

    Raises:
        VocabularyError: A file is malformed or they disagree; it names file, place and reason.
    """
    ranks = {token: rank for rank, token in enumerate(BYTE_TOKENS)}
    ranks.update(parse_ranks(vocab_bpe, vocab_bpe_file))
    ids = parse_encoder(encoder_json, encoder_json_file)
    if clobber_one_byte_tokens:
        ranks.update({token: ids[token] for token in BYTE_TOKENS if token in ids})
    if ranks != ids:
        differing = min(ranks.items() ^ ids.items(), key=lambda item: (item[1], item[0]))[0]
        message = (
            f"{encoder_json_file} does not match {vocab_bpe_file}: for the token {differing!r} "
            f"the first has the id {ids.get(differing)}, the second {ranks.get(differing)}"
        )
        raise VocabularyError(message)
    return ranks


def parse_pair(
    vocab_bpe: bytes, encoder_json: bytes, *, vocab_bpe_file: str, encoder_json_file: str
) -> Parts:
    """Reads the contents of both files, whatever the ids.

    Args:
        vocab_bpe: The merges. The first line is a header.
        encoder_json: The ids.
        vocab_bpe_file: The name of the first file for messages.
        encoder_json_file: The name of the second.

    Raises:
        VocabularyError: A file is malformed, or merging by this list of pairs would give other ids than
            merging by rank; it names file, place and reason.
    """
    merges = parse_merges(vocab_bpe, vocab_bpe_file)
    made = {left + right for left, right in merges}
    ranks: dict[bytes, int] = {}
    special_tokens: dict[str, int] = {}
    for text, token_id in parse_json(encoder_json, encoder_json_file).ids().items():
        try:
            token = token_bytes(text)
        except ValueError:
            token = b""
        if len(token) == 1 or token in made:
            ranks[token] = token_id
        elif SPECIAL_TOKEN.fullmatch(text):
            special_tokens[text] = token_id
        else:
            message = (
                f"{encoder_json_file}: no merge in {vocab_bpe_file} makes the token {text!r}, and it is not "
                "in brackets as special tokens are: is a file cut short?"
            )
            raise VocabularyError(message)
    checked_ranks(ranks, encoder_json_file)
    checked_ids([*ranks.items(), *special_tokens.items()], encoder_json_file)
    check_merges(ranks, merges, vocab_bpe_file, whole_pieces=False)
    return Parts(None, ranks, special_tokens, usual_pattern=GPT2_PATTERN)


def parse_ranks(contents: bytes, source: str) -> dict[bytes, int]:
    """Reads `vocab.bpe`: the ranks of all tokens of more than one byte, as implied."""
    ranks: dict[bytes, int] = {}
    for number, (left, right) in enumerate(parse_merges(contents, source), start=2):
        if left + right in ranks:
            line = ranks[left + right] - len(BYTE_TOKENS) + 2
            text = f"{token_text(left)} {token_text(right)}"
            message = (
                f"Error parsing line {text!r} in {source}: line {number}: line {line} makes the same token"
            )
            raise VocabularyError(message)
        ranks[left + right] = len(BYTE_TOKENS) + len(ranks)
    return ranks


def parse_merges(contents: bytes, source: str) -> list[tuple[bytes, bytes]]:
    """Reads `vocab.bpe`: the pairs."""
    merges = []
    lines = contents.decode("utf-8", errors="replace").removesuffix("\n").split("\n")
    for number, line in enumerate(lines[1:], start=2):
        try:
            merge = parse_merge(line)
        except ValueError as error:
            message = f"Error parsing line {line!r} in {source}: line {number}: {error}"
            raise VocabularyError(message) from error
        merges.append(merge)
    return merges


def parse_merge(line: str) -> tuple[bytes, bytes]:
    """Reads one line; `ValueError` with the reason if it is malformed."""
    match line.split():
        case [left, right]:
            return token_bytes(left), token_bytes(right)
        case parts:
            message = f"expected two parts, got {len(parts)}"
            raise ValueError(message)


def parse_encoder(contents: bytes, source: str) -> dict[bytes, int]:
    """Reads `encoder.json`: the ids of all mergeable tokens."""
    try:
        return mergeable_ids(json.loads(contents))
    except (ValueError, RecursionError) as error:
        message = f"Error parsing {source}: {error}"
        raise VocabularyError(message) from error


def mergeable_ids(entries: object) -> dict[bytes, int]:
    """Reads the entries of `encoder.json`, special tokens left out; `ValueError` if one is malformed."""
    if not isinstance(entries, dict):
        message = f"expected an object, got {type(entries).__name__}"
        raise ValueError(message)  # noqa: TRY004 - it is the file that is wrong, not an argument
    ids: dict[bytes, int] = {}
    for text, token_id in entries.items():
        if type(token_id) is not int:
            message = f"expected an id for the token {text!r}, got {token_id!r}"
            raise ValueError(message)
        if text not in SPECIAL_TOKENS:
            ids[token_bytes(text)] = token_id
    return ids


def format_merges(encoding: Encoding) -> bytes:
    """Gives the contents of `vocab.bpe`.

    Raises:
        VocabularyError: Merging by a list of pairs would give other ids, or the pattern gives other pieces.
    """
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name
    pairs, whole = merges_of(ranks)
    if encoding._pat_str not in SAME_PATTERNS:  # noqa: SLF001 - tiktoken's name
        message = (
            f"{encoding!r} cannot be written as vocab.bpe: its readers cut text by GPT-2's pattern, "
            f"which gives other pieces than {encoding._pat_str!r}"  # noqa: SLF001 - tiktoken's name
        )
        raise VocabularyError(message)
    if whole:
        message = (
            f"{encoding!r} cannot be written as vocab.bpe: no merges make the token {whole[0]!r} with the id "
            f"{ranks[whole[0]]}"
        )
        raise VocabularyError(message)
    lines = [f"{token_text(left)} {token_text(right)}\n" for left, right in pairs.values()]
    return "".join([HEADER, "\n", *lines]).encode()


def format_encoder(encoding: Encoding) -> bytes:
    """Gives the contents of `encoder.json`.

    Raises:
        VocabularyError: A special token is spelled like a mergeable one, or has the id of one.
    """
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name
    special_tokens = encoding._special_tokens  # noqa: SLF001 - tiktoken's name
    refusal = f"{encoding!r} cannot be written as encoder.json"
    ids = {token_text(token): rank for token, rank in ranks.items()}
    if clash := sorted(ids.keys() & special_tokens.keys()):
        message = f"{refusal}, where {clash} would be mergeable tokens"
        raise VocabularyError(message)
    if other := [text for text in special_tokens if not SPECIAL_TOKEN.fullmatch(text)]:
        message = f"{refusal}, where special tokens are in <> or []: {other} would be taken for damage"
        raise VocabularyError(message)
    checked_ids([*ids.items(), *special_tokens.items()], refusal)
    return json.dumps(dict(sorted((ids | special_tokens).items(), key=itemgetter(1)))).encode()
