"""`bytemill convert`: write an encoding in another format."""

from __future__ import annotations

from pathlib import Path

import click

from bytemill.cli import encoding_of
from bytemill.cli.ids import TokenId
from bytemill.cli.options import FileName, json_option, print_record
from bytemill.cli.saving import FORMATS_HELP, target_of
from bytemill.cli.train import NO_PATTERN
from bytemill.core import Encoding
from bytemill.patterns import WHOLE_TEXT_PATTERN


@click.command(epilog=FORMATS_HELP, short_help="Write an encoding in another format.")
@click.argument("source", type=FileName(), metavar="ENCODING")
@click.argument("output", type=FileName(), metavar="OUTPUT")
@click.option("--name", help="What the encoding is called; as in its file if not given.")
@click.option(
    "--pattern",
    metavar="PATTERN",
    help="What cuts text into pieces, where the file does not say it: gpt2, cl100k, o200k, llama3, a "
    "regular expression, or none.",
)
@click.option(
    "--special-token",
    "special_tokens",
    type=(str, TokenId()),
    multiple=True,
    metavar="TEXT ID",
    help="A special token that the file does not hold; may be given several times.",
)
@json_option
def command(  # noqa: PLR0913 - its options
    *,
    source: str,
    output: str,
    name: str | None,
    pattern: str | None,
    special_tokens: tuple[tuple[str, int], ...],
    as_json: bool,
) -> None:
    """Write an encoding, its name or a file of any format, in another format.

    What was written is read back and compared, and a conversion that would change ids is refused.
    """
    target = target_of(output)
    if name is None and pattern is None and not special_tokens:
        encoding = encoding_of(source)
    else:
        encoding = Encoding.from_file(
            Path(source),
            name=name,
            pattern=WHOLE_TEXT_PATTERN if pattern == NO_PATTERN else pattern,
            special_tokens=dict(special_tokens) or None,
        )
    target.save(encoding)
    print_record(
        {
            "name": encoding.name,
            "vocab_size": encoding.n_vocab,
            "special_tokens": len(encoding.special_tokens_set),
            "sha256": encoding.sha256,
            "format": target.kind,
            "files": [str(file) for file in target.files],
        },
        as_json=as_json,
    )
