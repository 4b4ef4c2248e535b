"""GPT-2's two files: `vocab.bpe` lists the merges in order, `encoder.json` the id of each token.

Both show bytes as text: each of the 256 bytes has a visible character, so that a space separates and nothing
needs an escape. Ids are implied: the byte tokens come first, those whose byte is a printable Latin-1
character before the others, and then one id for each merge. A vocabulary with gaps cannot be written in this
format, and of the special tokens it knows only two.
"""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING

from bytemill.errors import VocabularyError
from bytemill.formats.atomic import write_atomically

if TYPE_CHECKING:
    import os

    from bytemill.core import Encoding

__all__ = ["format_encoder", "format_merges", "parse_data_gym", "save_data_gym"]

PRINTABLE = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
UNPRINTABLE = [byte for byte in range(256) if byte not in PRINTABLE]

# The byte tokens in order of their ids.
BYTE_TOKENS = [bytes([byte]) for byte in PRINTABLE + UNPRINTABLE]

CHARACTER_OF_BYTE = {byte: chr(byte) for byte in PRINTABLE} | {
    byte: chr(256 + position) for position, byte in enumerate(UNPRINTABLE)
}
BYTE_OF_CHARACTER = {character: byte for byte, character in CHARACTER_OF_BYTE.items()}

SPECIAL_TOKENS = {"<|endoftext|>", "<|startoftext|>"}

HEADER = "#version: 0.2"


def token_text(token: bytes) -> str:
    """Shows a token as text."""
    return "".join(map(CHARACTER_OF_BYTE.__getitem__, token))


def token_bytes(text: str) -> bytes:
    """Reads a token shown as text; `ValueError` if a character stands for no byte."""
    try:
        return bytes(map(BYTE_OF_CHARACTER.__getitem__, text))
    except KeyError as error:
        message = f"the character {error.args[0]!r} stands for no byte"
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
    ranks.update(parse_merges(vocab_bpe, vocab_bpe_file))
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


def parse_merges(contents: bytes, source: str) -> dict[bytes, int]:
    """Reads `vocab.bpe`: the ranks of all tokens of more than one byte."""
    ranks: dict[bytes, int] = {}
    lines = contents.decode("utf-8", errors="replace").removesuffix("\n").split("\n")
    for number, line in enumerate(lines[1:], start=2):
        try:
            token = parse_merge(line, ranks)
        except ValueError as error:
            message = f"Error parsing line {line!r} in {source}: line {number}: {error}"
            raise VocabularyError(message) from error
        ranks[token] = len(BYTE_TOKENS) + len(ranks)
    return ranks


def parse_merge(line: str, ranks: dict[bytes, int]) -> bytes:
    """Reads one line, given those before; `ValueError` with the reason if it is malformed."""
    match line.split():
        case [left, right]:
            token = token_bytes(left) + token_bytes(right)
        case parts:
            message = f"expected two parts, got {len(parts)}"
            raise ValueError(message)
    if token in ranks:
        message = f"line {ranks[token] - len(BYTE_TOKENS) + 2} makes the same token"
        raise ValueError(message)
    return token


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
        VocabularyError: The ids are not those that the format implies, or a token is not made of exactly two
            others.
    """
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name
    tokens = sorted(ranks, key=ranks.__getitem__)
    if [ranks[token] for token in tokens] != list(range(len(tokens))) or tokens[:256] != BYTE_TOKENS:
        message = (
            f"{encoding!r} cannot be written as vocab.bpe: expected the byte tokens in the order of GPT-2 "
            "and then the others, with ids from 0 without a gap"
        )
        raise VocabularyError(message)
    texts = [token_text(token) for token in tokens]
    merges = encoding._core_bpe.merges()  # noqa: SLF001 - tiktoken's name
    lines = [f"{texts[left]} {texts[right]}\n" for left, right in merges]
    return "".join([HEADER, "\n", *lines]).encode()


def format_encoder(encoding: Encoding) -> bytes:
    """Gives the contents of `encoder.json`.

    Raises:
        VocabularyError: The encoding has special tokens that readers of the format would not know as such.
    """
    unknown = sorted(encoding.special_tokens_set - SPECIAL_TOKENS)
    if unknown:
        message = f"{encoding!r} cannot be written as encoder.json, which has no place for {unknown}"
        raise VocabularyError(message)
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name
    special_tokens = encoding._special_tokens  # noqa: SLF001 - tiktoken's name
    ids = {token_text(token): rank for token, rank in ranks.items()} | special_tokens
    return json.dumps(dict(sorted(ids.items(), key=itemgetter(1)))).encode()


def save_data_gym(
    encoding: Encoding, vocab_bpe_path: str | os.PathLike[str], encoder_json_path: str | os.PathLike[str]
) -> None:
    """Writes the vocabulary of an encoding as `vocab.bpe` and `encoder.json`.

    For gpt2 those are the published files, byte for byte.

    Raises:
        VocabularyError: The format cannot hold this encoding, see the module.
        OSError: A file cannot be written.
    """
    merges, encoder = format_merges(encoding), format_encoder(encoding)
    write_atomically(vocab_bpe_path, merges)
    write_atomically(encoder_json_path, encoder)
