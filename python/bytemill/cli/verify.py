"""`bytemill verify`: compare results with those of another library."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from bytemill.cli import NO, encoding_of
from bytemill.cli.bench import parts_of
from bytemill.cli.comparing import Comparison
from bytemill.cli.engines import ENGINES, engine, own_library
from bytemill.cli.ledger import description, differences, digests, files_of, readable, row
from bytemill.cli.made_texts import made_texts
from bytemill.cli.options import STANDARD_INPUT, expanded, json_option, print_record, source_options
from bytemill.cli.output import prints_result
from bytemill.cli.reading import Meter, documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.cli.engines import Engine
    from bytemill.core import Encoding
    from bytemill.documents.sources import Reading


@click.command
@click.argument("spec", metavar="ENCODING")
@click.argument("files", nargs=-1, metavar="[FILES|-]...", callback=expanded)
@click.option(
    "--against",
    type=click.Choice(list(ENGINES)),
    help="The library to compare with [with --ledger, default: the one that the file belongs to].",
)
@click.option(
    "--ledger",
    "with_ledger",
    is_flag=True,
    help="Compare token IDs, offsets, decoded text, streams and sessions, and print the row of a ledger.",
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
    against: str | None,
    with_ledger: bool,
    reading: Reading,
    as_json: bool,
) -> None:
    """Compare the token IDs of files with those of another library.

    Nothing is downloaded. tiktoken gets the vocabulary, pattern and special tokens of ENCODING; hf, the
    package tokenizers, gets the file ENCODING if that is a tokenizer.json, else one that is written for it;
    sentencepiece gets the model. Special tokens in the files are tokens, but not for sentencepiece. The exit
    code is 1 if IDs differ; the first difference is shown.

    --ledger compares all files to the end, and also offsets, decoded text, streams and sessions. Documents of
    more than 64 KB are compared in parts, and each part counts as a document. Without files, texts are made
    of samples and of the tokens of ENCODING. The row says what was compared, with which library, and how many
    documents differ; for a difference, it shows the shortest text that was found.
    """
    if against is None and not with_ledger:
        raise click.UsageError(
            "name the library to compare token IDs with by --against, or compare all by --ledger"
        )
    encoding = encoding_of(spec)
    other = engine(against or own_library(encoding, spec), encoding, spec)
    if not with_ledger:
        report = compared_ids(encoding, other, files or (STANDARD_INPUT,), reading)
        print_record(report, as_json=as_json)
        context.exit(0 if report["equal"] else NO)
    comparison = Comparison(encoding, other)
    for text in documents(files, reading) if files else made_texts(encoding):
        for part in parts_of(text):
            comparison.add(part)
    about = description(encoding.name, encoding, digests(files_of(spec)), other)
    texts = "of the files" if files else "made of samples and tokens"
    found = row({**about, "texts": texts}, comparison)
    print_record(found if as_json else readable(found), as_json=as_json)
    context.exit(NO if differences(found) else 0)


def compared_ids(
    encoding: Encoding, other: Engine, files: Sequence[str], reading: Reading
) -> dict[str, object]:
    """Compares token IDs of files up to the first difference, and returns what is reported."""
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
                    return report | first_difference(encoding, text, ours, theirs)
    return report | {"documents": texts, "tokens": tokens}


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
