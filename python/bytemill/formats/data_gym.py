"""GPT-2's two files: `vocab.bpe` lists the merges in order, `encoder.json` the ID of each token.

Both write bytes as text: each of the 256 bytes has a visible character, so a space can separate tokens and
nothing needs an escape. The pattern is GPT-2's and is not in the files. Entries of `encoder.json` that are no
single bytes, that no merge makes, and that are in brackets are special tokens. Readers of this format do not
look for them in text.

tiktoken's loader, `parse_data_gym` here, accepts less than `parse_pair` and other libraries: IDs are implied
(first the byte tokens, those of printable Latin-1 characters before the others, then one ID for each merge),
and it knows two special tokens only.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING

from bytemill.definition import Definition, Template, tokens_by_id
from bytemill.errors import VocabularyError
from bytemill.formats.json_file import brief
from bytemill.formats.lines import number_of, text_lines, two_fields
from bytemill.formats.merge_list import check_merges, indices_of, merges_of
from bytemill.formats.transformers_folder import HINT, check_class, text_of
from bytemill.patterns import GPT2_PATTERN, MINBPE_GPT2_PATTERN, R50K_PATTERN, described_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytemill.formats.json_file import Value
    from bytemill.formats.merge_list import BytePair

__all__ = ["check_config", "format_encoder", "format_merges", "parse_data_gym", "parse_pair", "template_of"]

PRINTABLE = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
UNPRINTABLE = [byte for byte in range(256) if byte not in PRINTABLE]

# The byte tokens in the order of their ids.
BYTE_TOKENS = [bytes([byte]) for byte in PRINTABLE + UNPRINTABLE]

CHARACTER_OF_BYTE = {byte: chr(byte) for byte in PRINTABLE} | {
    byte: chr(256 + i) for i, byte in enumerate(UNPRINTABLE)
}
BYTE_OF_CHARACTER = {character: byte for byte, character in CHARACTER_OF_BYTE.items()}

# The same for `str.translate`, with bytes as characters of Latin-1; characters that stand for no byte leave
# it.
TEXT_OF_BYTES = str.maketrans({chr(byte): character for byte, character in CHARACTER_OF_BYTE.items()})
BYTES_OF_TEXT = str.maketrans(
    {chr(byte): "\uffff" for byte in UNPRINTABLE}
    | {character: chr(byte) for character, byte in BYTE_OF_CHARACTER.items()}
)

END_OF_TEXT = "<|endoftext|>"
SPECIAL_TOKENS = {END_OF_TEXT, "<|startoftext|>"}

# Entries in brackets are special tokens. Without this rule, a file cut short would turn tokens into them.
SPECIAL_TOKEN = re.compile(r"<.+>|\[.+\]", re.DOTALL)

# The patterns that give the same pieces as GPT-2's.
SAME_PATTERNS = {GPT2_PATTERN, MINBPE_GPT2_PATTERN, R50K_PATTERN}

HEADER = "#version: 0.2"

# The classes of `transformers` that split by GPT-2's pattern, without `Tokenizer` or `TokenizerFast`.
CLASSES = ("GPT2", "CodeGen")


def token_text(token: bytes) -> str:
    """Returns the text that stands for the bytes of a token."""
    return token.decode("latin-1").translate(TEXT_OF_BYTES)


def token_bytes(text: str) -> bytes:
    """Returns the bytes that a text stands for; `ValueError` if a character stands for no byte."""
    try:
        return text.translate(BYTES_OF_TEXT).encode("latin-1")
    except UnicodeEncodeError as error:
        raise ValueError(f"the character {text[error.start]!r} does not stand for a byte") from error


def parse_data_gym(
    vocab_bpe: bytes,
    encoder_json: bytes,
    *,
    vocab_bpe_file: str = "vocab.bpe",
    encoder_json_file: str = "encoder.json",
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """Parses the contents of both files as tiktoken does, and checks that they agree.

    Args:
        vocab_bpe: The merges. The first line is a header.
        encoder_json: The IDs.
        vocab_bpe_file: The name of the first file for messages.
        encoder_json_file: The name of the second.
        clobber_one_byte_tokens: Whether the byte tokens have the IDs that the second file gives them, rather
            than those of GPT-2.

    Returns:
        The rank of each mergeable token.

    Raises:
        VocabularyError: A file is malformed or they disagree; the message has file, line and reason.
    """
    ranks = {token: rank for rank, token in enumerate(BYTE_TOKENS)}
    ranks.update(parse_ranks(vocab_bpe, vocab_bpe_file))
    ids = parse_encoder(encoder_json, encoder_json_file)
    if clobber_one_byte_tokens:
        ranks.update({token: ids[token] for token in BYTE_TOKENS if token in ids})
    if ranks != ids:
        differing = min(ranks.items() ^ ids.items(), key=lambda item: (item[1], item[0]))[0]
        raise VocabularyError(
            f"{encoder_json_file} does not match {vocab_bpe_file}: for the token {brief(repr(differing))} "
            f"the first has the ID {ids.get(differing)}, the second {ranks.get(differing)}"
        )
    return ranks


def parse_pair(
    vocab_bpe: bytes, encoder: Value, name: str, *, vocab_bpe_file: str, pattern: str = GPT2_PATTERN
) -> Definition:
    """Parses the contents of both files, with any IDs.

    Args:
        vocab_bpe: The merges. The first line is a header.
        encoder: The IDs.
        name: The name of the encoding, which the files do not have.
        vocab_bpe_file: The name of the first file for messages.
        pattern: How text is split, which the files do not say.

    Raises:
        VocabularyError: A file is malformed, or merging by this list of pairs would give different token IDs
            than merging by rank; the message has file, line and reason.
    """
    merges = indices_of(parse_merges(vocab_bpe, vocab_bpe_file), vocab_bpe_file)
    made = {left + right for left, right in merges}
    ranks: dict[bytes, int] = {}
    special_tokens: dict[str, int] = {}
    for text, token_id in encoder.ids().items():
        try:
            token = token_bytes(text)
        except ValueError:
            token = b""
        if len(token) == 1 or token in made:
            ranks[token] = token_id
        elif SPECIAL_TOKEN.fullmatch(text):
            special_tokens[text] = token_id
        else:
            raise VocabularyError(
                f"{encoder.source}: no merge in {vocab_bpe_file} makes the token {brief(repr(text))}, "
                "and it is not in brackets as special tokens are: is a file cut short?"
            )
    definition = Definition(name, pattern, ranks, special_tokens).check(encoder.source)
    tokens_by_id([*ranks.items(), *special_tokens.items()], encoder.source)
    check_merges(ranks, merges, vocab_bpe_file, whole_pieces=False)
    return definition


def check_config(config: Value) -> None:
    """Raises `VocabularyError` if a `tokenizer_config.json` is that of a tokenizer with another pattern."""
    check_class(config, CLASSES, ", which may split texts in another way; pattern= says how")
    if config["add_prefix_space"].flag():
        config["add_prefix_space"].refuse(f"expected false; {HINT}")


def template_of(config: Value) -> Template | None:
    """Returns the tokens around texts that a `tokenizer_config.json` says; `None` for none."""

    def added(name: str) -> tuple[str, ...]:
        token = f"{name}_token"
        if not config[f"add_{token}"].flag():
            return ()
        if token not in config.object():
            return (END_OF_TEXT,)
        return () if config[token].is_null else (text_of(config[token]),)

    template = Template(added("bos"), added("eos"))
    return template if any(template) else None


def parse_ranks(contents: bytes, source: str) -> dict[bytes, int]:
    """Parses `vocab.bpe`: the implied ranks of all tokens of more than one byte."""
    ranks: dict[bytes, int] = {}
    for number, (left, right) in enumerate(parse_merges(contents, source), start=2):
        if left + right in ranks:
            line = ranks[left + right] - len(BYTE_TOKENS) + 2
            text = brief(repr(f"{token_text(left)} {token_text(right)}"))
            raise VocabularyError(
                f"Error parsing line {text} in {source}: line {number}: line {line} makes the same token"
            )
        ranks[left + right] = len(BYTE_TOKENS) + len(ranks)
    return ranks


def parse_merges(contents: bytes, source: str) -> Iterator[BytePair]:
    """Parses `vocab.bpe`: yields the pairs."""
    lines = text_lines(contents.decode("utf-8", errors="replace"))
    for number, line in enumerate(islice(lines, 1, None), start=2):
        try:
            merge = parse_merge(line)
        except ValueError as error:
            raise VocabularyError(
                f"Error parsing line {brief(repr(line))} in {source}: line {number}: {error}"
            ) from error
        yield merge


def parse_merge(line: str) -> tuple[bytes, bytes]:
    """Parses one line; `ValueError` with the reason if it is malformed."""
    match two_fields(line):
        case [left, right]:
            return token_bytes(left), token_bytes(right)
        case parts:
            raise ValueError(f"expected two parts, got {number_of(parts)}")


def parse_encoder(contents: bytes, source: str) -> dict[bytes, int]:
    """Parses `encoder.json`: the IDs of all mergeable tokens."""
    try:
        return mergeable_ids(json.loads(contents))
    except (ValueError, RecursionError) as error:
        raise VocabularyError(f"Error parsing {source}: {brief(str(error))}") from error


def mergeable_ids(entries: object) -> dict[bytes, int]:
    """Returns the IDs in `encoder.json` without special tokens; `ValueError` if an entry is malformed."""
    if not isinstance(entries, dict):
        # Not a `TypeError`: the file is wrong, not an argument.
        raise ValueError(f"expected an object, got {type(entries).__name__}")  # noqa: TRY004
    ids: dict[bytes, int] = {}
    for text, token_id in entries.items():
        if type(token_id) is not int:
            raise ValueError(f"expected an id for the token {brief(repr(text))}, got {brief(repr(token_id))}")
        if text not in SPECIAL_TOKENS:
            ids[token_bytes(text)] = token_id
    return ids


def format_merges(definition: Definition) -> bytes:
    """Returns the contents of `vocab.bpe`.

    Raises:
        VocabularyError: Merging by a list of pairs would give different token IDs, or the pattern gives other
            pieces.
    """
    pairs, whole = merges_of(definition.ranks)
    refusal = f"the encoding {definition.name!r} cannot be written as vocab.bpe"
    if definition.splitting not in SAME_PATTERNS:
        raise VocabularyError(
            f"{refusal}: its readers cut text by GPT-2's pattern, which gives other pieces than "
            f"{described_pattern(definition.splitting)}: tokenizer.json and .bytemill files hold it"
        )
    if whole:
        rank = definition.ranks[whole[0]]
        raise VocabularyError(f"{refusal}: no merges make the token {whole[0]!r} with the id {rank}")
    lines = [f"{token_text(left)} {token_text(right)}\n" for left, right in pairs.values()]
    return "".join([HEADER, "\n", *lines]).encode()


def format_encoder(definition: Definition) -> bytes:
    """Returns the contents of `encoder.json`.

    Raises:
        VocabularyError: A special token is spelled like a mergeable one, or has the ID of one.
    """
    special_tokens = definition.special_tokens
    refusal = f"the encoding {definition.name!r} cannot be written as encoder.json"
    ids = {token_text(token): rank for token, rank in definition.ranks.items()}
    if clash := sorted(ids.keys() & special_tokens.keys()):
        raise VocabularyError(f"{refusal}, where {clash} would be mergeable tokens")
    if other := [text for text in special_tokens if not SPECIAL_TOKEN.fullmatch(text)]:
        raise VocabularyError(
            f"{refusal}, where special tokens are in <> or []: {other} would be taken for damage"
        )
    tokens_by_id([*ids.items(), *special_tokens.items()], refusal)
    return json.dumps(dict(sorted((ids | special_tokens).items(), key=itemgetter(1)))).encode()
