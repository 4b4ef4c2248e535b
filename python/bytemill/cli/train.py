"""`bytemill train`: learn a vocabulary from files."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from bytemill._arguments import Reading
from bytemill._messages import import_optional
from bytemill.cli import encoding_of, given_options
from bytemill.cli.options import (
    FileName,
    byte_size,
    files_argument,
    json_option,
    print_record,
    source_options,
    threads_option,
    token_count,
)
from bytemill.cli.reading import STANDARD_INPUT, Meter, source_of
from bytemill.cli.units import Units, units_options
from bytemill.io import writing
from bytemill.io.atomic import check_folder, check_writable
from bytemill.io.reading import usual_name
from bytemill.io.uris import is_uri

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.core import Encoding
    from bytemill.documents.blocks import Batch
    from bytemill.training.counts import PieceCounts

__all__ = ["FORMATS_HELP", "Target", "target_of", "train_model"]

# Saving encodings: the format that a name means, and writing it.

# The formats of suffixes, and the formats that are folders.
SUFFIXES = {".bytemill": "bytemill", ".tiktoken": "tiktoken", ".model": "minbpe"}
FOLDERS = ("huggingface", "gpt2")

# Files that are alone in a folder, or one of two: the format of the folder.
FILES = {
    "tokenizer.json": "huggingface",
    "vocab.bpe": "gpt2",
    "encoder.json": "gpt2",
    "merges.txt": "merges",
    "vocab.json": "merges",
}

# The files of each format that is a folder.
NAMES = {
    "huggingface": ("tokenizer.json", "tokenizer_config.json"),
    "gpt2": ("vocab.bpe", "encoder.json"),
    "merges": ("merges.txt", "vocab.json"),
}

FORMATS_HELP = (
    "Formats of the output: NAME.bytemill (everything in one file), NAME.tiktoken, NAME.model (minbpe), "
    "huggingface:FOLDER or FOLDER/tokenizer.json, gpt2:FOLDER or FOLDER/vocab.bpe, and FOLDER/merges.txt "
    "(the same with the file names of transformers)."
)


class Target(NamedTuple):
    """Where to write an encoding.

    Attributes:
        kind: The format.
        path: The file, or folder.
    """

    kind: str
    path: Path

    @property
    def files(self) -> list[Path]:
        """The files that are written."""
        if self.kind in NAMES:
            return [self.path / name for name in NAMES[self.kind]]
        if self.kind == "minbpe":
            return [self.path.with_suffix(".model"), self.path.with_suffix(".vocab")]
        return [self.path]

    @property
    def name(self) -> str:
        """The name that an encoding gets by these files, if it has none."""
        return usual_name(self.files[0])

    def check(self) -> None:
        """Raises now what writing would raise after long work.

        Raises:
            OSError: The files or their folder cannot be written.
        """
        if self.kind in NAMES:
            check_folder(self.path)
        for file in self.files:
            if self.kind not in NAMES or file.is_dir():
                check_writable(file)

    def save(self, encoding: Encoding, *, dry_run: bool = False) -> None:
        """Writes an encoding.

        Args:
            encoding: The encoding.
            dry_run: Whether to write nothing, but to raise what writing would raise for this encoding.

        Raises:
            Exception: As the method of `Encoding` for the format.
        """
        definition, encode = encoding.definition, encoding._encode_all  # noqa: SLF001 - of this library
        if self.kind == "bytemill":
            core = encoding._core_bpe  # noqa: SLF001 - of this library
            writing.write_native(definition, core, self.path, dry_run=dry_run)
        elif self.kind == "tiktoken":
            writing.write_tiktoken(definition, encode, self.path, dry_run=dry_run)
        elif self.kind == "minbpe":
            writing.write_minbpe(definition, encode, self.path.with_suffix(""), dry_run=dry_run)
        elif self.kind == "huggingface":
            writing.write_huggingface(definition, encode, self.path, dry_run=dry_run)
        else:
            writing.write_gpt2(definition, encode, self.path, NAMES[self.kind], dry_run=dry_run)


def target_of(spec: str) -> Target:
    """Parses an output option.

    Raises:
        UsageError: It means no format.
        OSError: It cannot be written, which is an error now rather than after long work.
    """
    target = parsed(spec)
    target.check()
    return target


def parsed(spec: str) -> Target:
    """Parses an output option; `UsageError` if it means no format."""
    kind, colon, folder = spec.partition(":")
    if colon and kind in FOLDERS:
        return Target(kind, Path(folder))
    path = Path(spec)
    if path.name in FILES:
        return Target(FILES[path.name], path.parent)
    if path.suffix.lower() not in SUFFIXES:
        if spec.endswith(("/", os.sep)) or path.is_dir():
            ways = " or ".join(f"{name}:{path}" for name in FOLDERS)
            raise click.UsageError(f"cannot tell the format of a folder: expected {ways}, got {spec!r}")
        raise click.UsageError(
            f"cannot tell the format of {spec!r}: expected a name that ends in {', '.join(SUFFIXES)}, "
            f"a folder as {' or '.join(f'{name}:FOLDER' for name in FOLDERS)}, or one of {', '.join(FILES)}"
        )
    return Target(SUFFIXES[path.suffix.lower()], path)


# `bytemill train --kind sentencepiece`: learn a SentencePiece model from files.


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
    from bytemill.training.piece_options import DEFAULTS, parse

    name, equals, text = setting.partition("=")
    if name == "normalization_rule_name":
        return name, text
    if not equals or name not in DEFAULTS:
        raise click.UsageError(
            f"expected --piece-option NAME=VALUE with an option of SentencePiece's training, got {setting!r}"
        )
    try:
        return name, parse(name, text, DEFAULTS[name])
    except ValueError as error:
        expected = "true or false" if str(error) == "bool" else "a number"
        raise click.UsageError(f"expected {name} to be {expected}, got {text!r}") from None


DEFAULT_PATTERN = "o200k"
NO_PATTERN = "none"
# Arguments of the command that only --kind bytes has a use for.
FOR_BYTES = {
    "pattern",
    "special_tokens",
    "min_frequency",
    "max_token_length",
    "tie_break",
    "pad_vocab_to",
    "initial",
    "resume",
    "memory",
    "work",
}
TIE_BREAKS = ("smallest_pair", "huggingface", "greatest_bytes", "first_seen")


@click.command(epilog=FORMATS_HELP)
@files_argument
@click.option(
    "--vocab-size",
    callback=token_count(least=1),
    required=True,
    metavar="N",
    help="The size of the vocabulary, such as 300 or 32k (32,000).",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    type=FileName(),
    multiple=True,
    required=True,
    metavar="FILE",
    help="The output, see below; replaces existing files. Repeatable.",
)
@click.option(
    "--kind",
    type=click.Choice(("bytes", "sentencepiece")),
    default="bytes",
    show_default=True,
    help="Byte-level BPE, or a SentencePiece BPE model written to NAME.model; another -o NAME.vocab writes "
    "its pieces and scores as text.",
)
@click.option(
    "--piece-option",
    "piece_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of SentencePiece's trainer, such as byte_fallback=true. Repeatable.",
)
@click.option(
    "--pattern",
    metavar="PATTERN",
    help="The split pattern: gpt2, cl100k, o200k, llama3, qwen2, a regular expression, or none "
    f"[default: that of --initial, else {DEFAULT_PATTERN}].",
)
@click.option(
    "--special-token",
    "special_tokens",
    multiple=True,
    metavar="TEXT",
    help="A special token. Repeatable; their IDs follow the others, in this order.",
)
@click.option(
    "--min-frequency", type=int, default=0, metavar="N", help="Stop when no pair occurs at least N times."
)
@click.option("--max-token-length", type=int, metavar="N", help="Maximum bytes of a token.")
@click.option(
    "--tie-break",
    type=click.Choice(TIE_BREAKS),
    default=TIE_BREAKS[0],
    show_default=True,
    help="Which of several equally frequent pairs to merge.",
)
@click.option(
    "--pad-vocab-to",
    type=int,
    metavar="N",
    help="Pad the vocabulary with reserved tokens to a multiple of N.",
)
@click.option(
    "--initial",
    metavar="ENCODING",
    help="Continue from this encoding, a name or a file. Special tokens are not inherited; pass them again.",
)
@click.option("--name", help="Name of the encoding [default: stem of the first output].")
@click.option(
    "--resume",
    is_flag=True,
    help="Keep the counts of finished files in OUTPUT.counts until training has ended, and resume from them.",
)
@click.option(
    "--memory",
    callback=byte_size(),
    metavar="SIZE",
    help="With --engine ray, memory of a node to reserve for learning, such as 64G.",
)
@units_options
@source_options
@threads_option
@json_option
def train_command(  # noqa: PLR0913 - its options
    *,
    files: Sequence[str],
    vocab_size: int,
    outputs: Sequence[str],
    kind: str,
    piece_options: Sequence[str],
    pattern: str | None,
    special_tokens: Sequence[str],
    initial: str | None,
    name: str | None,
    resume: bool,
    memory: int | None,
    units: Units | None,
    reading: Reading,
    threads: int | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those that `TrainingOptions.checked` knows by the same names
) -> None:
    """Learn a vocabulary from files or standard input.

    Reads text (one document per file, or per line with --lines), JSON Lines and Parquet, also compressed as
    .gz or .zst; or the counts that `bytemill job reduce` and PieceCounts.save write.
    """
    if kind == "sentencepiece":
        check_unused(click.get_current_context())
        train_model(
            files,
            vocab_size,
            outputs,
            piece_options,
            name=name,
            reading=reading,
            threads=threads,
            as_json=as_json,
        )
        return
    if piece_options:
        raise click.UsageError("--piece-option is for --kind sentencepiece")
    from bytemill.training.learning import train, unlearned
    from bytemill.training.options import TrainingOptions

    targets = [target_of(output) for output in outputs]
    check_together(files, units, resume=resume, memory=memory, tie_break=options["tie_break"])
    # All arguments are checked before hours of counting.
    start = None if initial is None else encoding_of(initial)
    checked = TrainingOptions.checked(vocab_size, special_tokens=special_tokens, initial=start, **options)
    counts, is_counted = counts_of(files, pattern, special_tokens, start)
    check_counted(is_counted, reading=reading != Reading(), resume=resume, work=units is not None)
    name = name or targets[0].name
    smallest = unlearned(counts, checked, name=name)
    for target in targets:
        target.save(smallest, dry_run=True)
    if resume:
        import_optional("pyarrow", "the counts that --resume saves")
        units = Units.beside(targets[0].files[0])

    began = perf_counter()
    plan = None
    if units is not None:
        # Before there is anything in the work folder, too.
        executor = units.executor(threads)
        plan = units.plan_counts(files, reading, counts.pattern, special_tokens)
        counts = units.counts(plan, counts.pattern, special_tokens, executor=executor)
    elif not is_counted:
        add_files(counts, files, reading, threads)
    counted = perf_counter()
    options |= {"special_tokens": special_tokens, "initial": start, "name": name}
    if units is not None and plan is not None and units.engine == "ray":
        encoding = units.train(plan, vocab_size, threads=threads, memory=memory, **options)
    else:
        encoding = train(counts, vocab_size, num_threads=threads, **options)
    merged = perf_counter()
    for target in targets:
        target.save(encoding)
    if units is not None:
        units.remove()
    report = {
        "name": encoding.name,
        "vocab_size": encoding.n_vocab,
        "special_tokens": len(encoding.special_tokens_set),
        "pieces": counts.total(),
        "distinct_pieces": len(counts),
        "seconds_counting": round(counted - began, 3),
        "seconds_merging": round(merged - counted, 3),
        "sha256": encoding.sha256,
        "files": [str(file) for target in targets for file in target.files],
    }
    print_record(report, as_json=as_json)


def counts_of(
    files: Sequence[str], pattern: str | None, special_tokens: Sequence[str], initial: Encoding | None
) -> tuple[PieceCounts, bool]:
    """Returns the counts to learn from and true, or no counts yet and false if the files are documents."""
    from bytemill.io.piece_table import is_counts
    from bytemill.training.counts import PieceCounts

    if not is_counts(files[0]):
        return PieceCounts(pattern=chosen_pattern(pattern, initial), special_tokens=special_tokens), False
    first = PieceCounts.load(files[0])
    if pattern is None and initial is None:
        pattern = first.pattern or NO_PATTERN
    counts = PieceCounts(
        pattern=chosen_pattern(pattern, initial), special_tokens=special_tokens or first.special_tokens
    )
    counts.merge(first)
    for file in files[1:]:
        counts.merge(PieceCounts.load(file))
    return counts, True


def add_files(counts: PieceCounts, files: Sequence[str], reading: Reading, threads: int | None) -> None:
    """Counts the pieces of files, and shows progress."""
    from bytemill._arguments import thread_count
    from bytemill.training.counting import add_source

    with Meter(files) as meter, source_of(files) as source:

        def show(batch: Batch) -> None:
            meter.add("counting", batch.read, batch.size)

        add_source(counts, source, reading, num_threads=thread_count(threads), report=show)


def check_together(
    files: Sequence[str], units: Units | None, *, resume: bool, memory: int | None, tie_break: str
) -> None:
    """Raises `UsageError` for files and options that exclude each other."""
    if resume and STANDARD_INPUT in files:
        raise click.UsageError("--resume needs files: standard input cannot be read again")
    if resume and any(map(is_uri, files)):
        raise click.UsageError("--resume is for files of this machine: with others, --work resumes by itself")
    if resume and units is not None:
        raise click.UsageError("--work resumes by itself: omit --resume")
    if memory is not None and (units is None or units.engine != "ray"):
        raise click.UsageError("--memory is for --engine ray")
    if (resume or units is not None) and tie_break == "first_seen":
        raise click.UsageError(
            "--tie-break first_seen needs the order of the text, which is lost when "
            f"{'--resume' if resume else '--work'} adds up counts"
        )


def check_counted(is_counted: bool, **options: object) -> None:  # noqa: FBT001 - internal
    """Raises `UsageError` for options of reading documents, if the files are counts."""
    if not is_counted:
        return
    names = {"reading": "--field, --lines and --errors", "resume": "--resume", "work": "--work"}
    for name, is_given in options.items():
        if is_given:
            raise click.UsageError(f"the files are counts of pieces: {names[name]} is for files of documents")


def check_unused(context: click.Context) -> None:
    """Raises `UsageError` for options that a SentencePiece model has no use for, whatever their value."""
    for name, option in given_options(context).items():
        if name in FOR_BYTES:
            raise click.UsageError(
                f"{option} is for --kind bytes; the options of --kind sentencepiece are "
                "--piece-option NAME=VALUE"
            )


def chosen_pattern(pattern: str | None, initial: Encoding | None) -> str | None:
    """Returns the pattern that `PieceCounts` takes for the option."""
    if pattern is None:
        return DEFAULT_PATTERN if initial is None else initial._pat_str  # noqa: SLF001 - tiktoken's name
    return None if pattern == NO_PATTERN else pattern
