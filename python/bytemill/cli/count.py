"""`bytemill count`: the number of tokens of texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import click

from bytemill._messages import printable
from bytemill.cli import EXPECTED, FAILURE, NO, complain, error_message
from bytemill.cli.follow import follow
from bytemill.cli.options import (
    encoding_option,
    files_argument,
    json_option,
    source_options,
    special_option,
    special_rule,
    threads_option,
    token_count,
)
from bytemill.cli.output import prints_result
from bytemill.cli.reading import Meter, TextBatch, documents, input_name, named_special, text_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bytemill.core import Encoding
    from bytemill.documents.sources import Reading


# Texts of fewer characters are counted sooner than threads start and NumPy is imported.
SMALL = 1 << 20


class Counted(NamedTuple):
    """The size of a file, or of all files.

    Attributes:
        tokens: Number of tokens.
        documents: Number of documents.
        size: Bytes of UTF-8.
    """

    tokens: int = 0
    documents: int = 0
    size: int = 0

    def plus(self, other: Counted) -> Counted:
        """Returns the sum of both."""
        return Counted(*map(sum, zip(self, other, strict=True)))

    def record(self) -> dict[str, int]:
        """Returns the fields of the JSON output."""
        return {"tokens": self.tokens, "documents": self.documents, "bytes": self.size}


@click.command
@files_argument
@encoding_option
@special_option
@source_options
@click.option(
    "--max", "limit", callback=token_count(), metavar="N", help="Exit with 1 if there are more than N tokens."
)
@click.option(
    "--by-token",
    "is_by_token",
    is_flag=True,
    help="Print a line for each token that occurs, the most frequent first: count, ID and bytes.",
)
@click.option(
    "--follow",
    "is_followed",
    is_flag=True,
    help="Count one file as it grows, or standard input as it comes, and print each new count.",
)
@threads_option
@json_option
@click.pass_context
@prints_result
def count_command(  # noqa: C901, PLR0913 - its options
    context: click.Context,
    *,
    files: Sequence[str],
    encoding: Encoding,
    special: str,
    reading: Reading,
    limit: int | None,
    is_by_token: bool,
    is_followed: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Count the tokens of files or of standard input.

    Prints a number for one input, a table for several. Files that cannot be read are skipped with a message,
    and the exit code is 2. --by-token counts all files together, and fails if one cannot be read.
    """
    if is_by_token:
        if is_followed or limit is not None:
            raise click.UsageError("--by-token excludes --follow and --max")
        click.echo(by_token(files, encoding, special, reading, threads, as_json=as_json))
        return
    if is_followed:
        if len(files) != 1 or reading.field or reading.lines:
            raise click.UsageError("--follow counts one text: give one file, without --field and --lines")
        errors = reading.errors
        tokens = follow(files[0], encoding, special=special, errors=errors, limit=limit, as_json=as_json)
        check_limit(context, tokens, limit)
        return
    count = counter(encoding, special, threads)
    counts: list[tuple[str, Counted]] = []
    with Meter(files) as meter:
        for name in files:
            batches = text_batches(
                [name],
                reading,
                encoding=encoding,
                special=special,
                meter=meter,
            )
            try:
                with named_special(input_name(name)):
                    counts.append((name, counted(batches, count)))
            except EXPECTED as error:
                complain(error_message(error))
    total = Counted()
    for _, each in counts:
        total = total.plus(each)
    if as_json:
        rows = [{"file": name, **each.record()} for name, each in counts]
        click.echo(json.dumps({"encoding": encoding.name, **total.record(), "files": rows}))
    elif len(files) == 1:
        for _, each in counts:
            click.echo(each.tokens)
    else:
        click.echo(table([*counts, ("total", total)]))
    if len(counts) < len(files):
        context.exit(FAILURE)
    check_limit(context, total.tokens, limit)


def by_token(  # noqa: PLR0913 - of the command
    files: Sequence[str],
    encoding: Encoding,
    special: str,
    reading: Reading,
    threads: int | None,
    *,
    as_json: bool,
) -> str:
    """Counts each token, and returns a table of count, ID and bytes, or JSON with the counts by ID."""
    with Meter(files) as meter:
        texts = documents(files, reading, meter=meter)
        counts = encoding.count_by_token(texts, **special_rule(special), num_threads=threads)
    # By count, the most frequent first; those with the same count by ID.
    found = sorted(counts.nonzero()[0].tolist(), key=lambda token: (-counts[token], token))
    if as_json:
        rows = {str(token): int(counts[token]) for token in found}
        return json.dumps({"encoding": encoding.name, "tokens": int(counts.sum()), "counts": rows})
    cells = [
        (f"{counts[token]:,}", str(token), repr(encoding.decode_single_token_bytes(token))) for token in found
    ]
    return aligned(cells)


def check_limit(context: click.Context, tokens: int, limit: int | None) -> None:
    """Says so, and exits, if there are more tokens than allowed."""
    if limit is not None and tokens > limit:
        click.echo(f"bytemill: {tokens:,} tokens exceed the limit of {limit:,}", err=True)
        context.exit(NO)


def counter(encoding: Encoding, special: str, threads: int | None) -> Callable[[Sequence[str]], int]:
    """Returns a function that counts the tokens of texts."""
    if special != "text":
        rule = special_rule(special)
        return lambda texts: len(encoding.encode_batch_to_numpy(texts, **rule, num_threads=threads).ids)
    return lambda texts: (
        sum(map(encoding.count, texts))
        if sum(map(len, texts)) < SMALL
        else int(encoding.count_batch(texts, num_threads=threads).sum())
    )


def counted(batches: Iterable[TextBatch], count: Callable[[Sequence[str]], int]) -> Counted:
    """Counts batches."""
    total = Counted()
    for batch in batches:
        total = total.plus(Counted(count(batch.texts), sum(batch.ends), batch.size))
    return total


def table(rows: Sequence[tuple[str, Counted]]) -> str:
    """Returns a table with a line for each file: tokens, bytes, name."""
    cells = [(f"{each.tokens:,}", f"{each.size:,}", printable(name)) for name, each in rows]
    cells.insert(0, ("tokens", "bytes", "file"))
    return aligned(cells)


def aligned(rows: Sequence[tuple[str, str, str]]) -> str:
    """Returns lines of three columns, of which the first two are figures."""
    first, second = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    return "\n".join(f"{row[0]:>{first}}  {row[1]:>{second}}  {row[2]}" for row in rows)
