"""`bytemill verify`: compare ids with those of another library."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from bytemill.cli import NO, encoding_of
from bytemill.cli.bench import ENGINES, engine
from bytemill.cli.options import files_argument, json_option, print_record, source_options
from bytemill.cli.output import prints_result
from bytemill.cli.reading import Meter, documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.core import Encoding
    from bytemill.documents.sources import Reading


@click.command
@click.argument("spec", metavar="ENCODING")
@files_argument
@click.option(
    "--against", type=click.Choice(list(ENGINES)), required=True, help="The library to compare with."
)
@source_options
@json_option
@click.pass_context
@prints_result
def verify_command(  # noqa: PLR0913 - its options
    context: click.Context,
    *,
    spec: str,
    files: Sequence[str],
    against: str,
    reading: Reading,
    as_json: bool,
) -> None:
    """Compare the token IDs of files with those of another library.

    Nothing is downloaded. tiktoken gets the vocabulary, pattern and special tokens of ENCODING; hf, the
    package tokenizers, gets the file ENCODING if that is a tokenizer.json, else one that is written for it;
    sentencepiece gets the model. Special tokens in the files are tokens, but not for sentencepiece. The exit
    code is 1 if IDs differ; the first difference is shown.
    """
    encoding = encoding_of(spec)
    other = engine(against, encoding, spec)
    report: dict[str, object] = {"encoding": encoding.name, "against": other.name, "equal": True}
    texts = tokens = 0
    with Meter(files) as meter:
        for name in files:
            each = documents([name], reading, meter=meter)
            for number, text in enumerate(each, start=1):
                texts += 1
                ours, theirs = other.both(encoding, text)
                tokens += len(ours)
                if ours != theirs:
                    report |= {"equal": False, "file": name, "document": number}
                    report |= first_difference(encoding, text, ours, theirs)
                    print_record(report, as_json=as_json)
                    context.exit(NO)
    print_record(report | {"documents": texts, "tokens": tokens}, as_json=as_json)


def first_difference(
    encoding: Encoding, text: str, ours: Sequence[int], theirs: Sequence[int]
) -> dict[str, Any]:
    """Describes the first difference: the character, its piece, and the ids of that piece by both."""
    from bytemill.splitting import repair_surrogates

    text = repair_surrogates(text)
    equal = next(i for i, (one, other) in enumerate(zip_longest(ours, theirs)) if one != other)
    offset = len(encoding.decode_bytes(ours[:equal]))
    piece, start = piece_at(encoding, text, offset)
    end = start + len(piece.encode())
    return {
        "character": len(text.encode()[:offset].decode(errors="ignore")),
        "piece": piece,
        "our_ids": ids_between(encoding, ours, start, end),
        "their_ids": ids_between(encoding, theirs, start, end),
    }


def piece_at(encoding: Encoding, text: str, offset: int) -> tuple[str, int]:
    """Returns the piece or special token that contains the byte at `offset`, and its start offset."""
    special_tokens = sorted(map(re.escape, encoding.special_tokens_set), key=len, reverse=True)
    cuts = re.split(f"({'|'.join(special_tokens)})", text) if special_tokens else [text]
    start = 0
    piece = ""
    for index, span in enumerate(cuts):
        # Odd indices are special tokens.
        for piece in [span] if index % 2 else encoding._core_bpe.split(span):  # noqa: SLF001 - of this package
            size = len(piece.encode())
            if start + size > offset:
                return piece, start
            start += size
    # The ids differ after the end of the text.
    return "", start


def ids_between(encoding: Encoding, ids: Sequence[int], start: int, end: int) -> list[int]:
    """Returns the ids of the tokens that overlap the bytes from `start` to `end`.

    For an empty range, which is the end of the text, it returns all ids from there on. Ids without a token
    have no bytes and count where they stand.
    """
    core = encoding._core_bpe  # noqa: SLF001 - of this package
    offset = 0
    found = []
    for token in ids:
        size = len(core.decode_single_token_bytes(token)) if core.is_token(token) else 0
        if offset >= end > start:
            break
        if offset + size > start or offset >= start:
            found.append(token)
        offset += size
    return found
