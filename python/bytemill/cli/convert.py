"""`bytemill convert`: write an encoding in another format."""

from __future__ import annotations

from pathlib import Path

import click

from bytemill.cli import complain, encoding_of, is_known, is_path
from bytemill.cli.id_files import TokenId
from bytemill.cli.options import FileName, json_option, print_record
from bytemill.cli.train import FORMATS_HELP, NO_PATTERN, target_of
from bytemill.core import Encoding
from bytemill.patterns import WHOLE_TEXT_PATTERN


@click.command(epilog=FORMATS_HELP, short_help="Write an encoding in another format.")
@click.argument("source", type=FileName(), metavar="ENCODING")
@click.argument("output", type=FileName(), metavar="OUTPUT")
@click.option("--name", help="The name of the encoding [default: the name in its file].")
@click.option(
    "--pattern",
    metavar="PATTERN",
    help="The split pattern, if the file has none: gpt2, cl100k, o200k, llama3, qwen2, a regular expression, "
    "or none.",
)
@click.option(
    "--special-token",
    "special_tokens",
    type=(str, TokenId()),
    multiple=True,
    metavar="TEXT ID",
    help="A special token that is not in the file. Repeatable.",
)
@json_option
def convert_command(  # noqa: PLR0913 - its options
    *,
    source: str,
    output: str,
    name: str | None,
    pattern: str | None,
    special_tokens: tuple[tuple[str, int], ...],
    as_json: bool,
) -> None:
    """Write an encoding, given by name or as a file of any format, in another format.

    The output replaces existing files. It is read back and compared; a conversion that would change token
    IDs fails.
    """
    target = target_of(output)
    encoding = changed(source, name, pattern, dict(special_tokens))
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
    if target.kind == "tiktoken":
        complain(
            f"{target.path} holds neither the pattern nor the special tokens, which its readers must know; a "
            ".bytemill file holds both",
            kind="note",
        )


def changed(source: str, name: str | None, pattern: str | None, special_tokens: dict[str, int]) -> Encoding:
    """Returns the encoding that an argument denotes, with what the options change.

    Raises:
        UsageError: A pattern is given for an encoding that has one.
        Exception: As `encoding_of`, `Encoding.from_file` and `Encoding.with_special_tokens`.
    """
    if name is None and pattern is None and not special_tokens:
        return encoding_of(source)
    if not is_known(source) and is_path(source):
        return Encoding.from_file(
            Path(source),
            name=name,
            pattern=WHOLE_TEXT_PATTERN if pattern == NO_PATTERN else pattern,
            special_tokens=special_tokens or None,
        )
    encoding = encoding_of(source)
    if pattern is not None:
        raise click.UsageError(f"--pattern is for files without a pattern: the encoding {source} has one")
    return encoding.with_special_tokens(special_tokens, name=encoding.name if name is None else name)
