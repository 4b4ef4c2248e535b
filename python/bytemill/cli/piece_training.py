"""`bytemill train --kind sentencepiece`: learn a SentencePiece model from files."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from bytemill.cli.options import print_record
from bytemill.cli.reading import Reading, source_of
from bytemill.io.atomic import check_writable
from bytemill.io.reading import usual_name

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["train_model"]

TRUE = frozenset({"1", "t", "true", "y", "yes", ""})
FALSE = frozenset({"0", "f", "false", "n", "no"})


def train_model(  # noqa: PLR0913 - its options
    files: Sequence[str],
    vocab_size: int,
    outputs: Sequence[str],
    settings: Sequence[str],
    *,
    name: str | None,
    reading: Reading,
    threads: int | None,
    as_json: bool,
) -> None:
    """Learns a SentencePiece model and writes it."""
    from bytemill.training.learning import train

    paths = [Path(output) for output in outputs]
    for path in paths:
        check_suffix(path, paths)
        check_writable(path)
    began = perf_counter()
    with source_of(files) as source:
        encoding = train(
            source,
            vocab_size,
            kind="sentencepiece",
            num_threads=threads,
            name=name or next(usual_name(path) for path in paths if path.suffix == ".model"),
            **reading._asdict(),
            **dict(map(option_of, settings)),
        )
    for path in paths:
        if path.suffix == ".model":
            vocab = path.with_suffix(".vocab")
            encoding.save_sentencepiece(path, vocab=vocab if vocab in paths else None)
    report = {
        "name": encoding.name,
        "vocab_size": encoding.n_vocab,
        "special_tokens": len(encoding.special_tokens_set),
        "seconds": round(perf_counter() - began, 3),
        "sha256": encoding.sha256,
        "files": list(map(str, paths)),
    }
    print_record(report, as_json=as_json)


def check_suffix(path: Path, paths: Sequence[Path]) -> None:
    """Raises `UsageError` for a file that is neither a model nor the list of its pieces."""
    if path.suffix == ".vocab":
        if path.with_suffix(".model") not in paths:
            raise click.UsageError(
                f"the pieces of NAME.model are written to NAME.vocab, got {str(path)!r} alone"
            )
    elif path.suffix != ".model":
        raise click.UsageError(
            "a SentencePiece model is written to NAME.model, and its pieces as text to NAME.vocab, got "
            f"{str(path)!r}"
        )


def option_of(setting: str) -> tuple[str, Any]:
    """Returns an option and its value from `NAME=VALUE`.

    Raises:
        UsageError: There is no such option, or the value is not of its type.
    """
    from bytemill.training.piece_options import PieceOptions

    name, equals, text = setting.partition("=")
    if name == "normalization_rule_name":
        return name, text
    if not equals or name not in PieceOptions._field_defaults:
        raise click.UsageError(
            f"expected --piece-option NAME=VALUE with an option of SentencePiece's training, got {setting!r}"
        )
    default = PieceOptions._field_defaults[name]
    if isinstance(default, bool):
        if text.lower() not in TRUE | FALSE:
            raise click.UsageError(f"expected {name} to be true or false, got {text!r}")
        return name, text.lower() in TRUE
    if isinstance(default, tuple):
        return name, tuple(filter(None, text.split(",")))
    try:
        return name, type(default)(text)
    except ValueError:
        raise click.UsageError(f"expected {name} to be a number, got {text!r}") from None
