"""Writes definitions to files of all formats.

Every writer reads its files back and encodes sample texts before the files get their names: readers see the
old files or the complete new ones. A definition that a format cannot store exactly raises an error with the
reason.

In all functions, `encode` encodes a text by the definition, with all special tokens allowed. With `dry_run`,
nothing is written, but the errors of writing this definition are raised.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytemill._backend import __version__
from bytemill.errors import VocabularyError
from bytemill.formats import (
    data_gym,
    huggingface,
    minbpe_model,
    native,
    sentencepiece_model,
    tiktoken_ranks,
    tokenizer_json,
)
from bytemill.formats.json_file import parse_json
from bytemill.formats.verification import check_definition, check_with_tokenizers
from bytemill.io.atomic import write_all

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from bytemill._backend import CoreBPE
    from bytemill.definition import Definition
    from bytemill.formats.verification import Encode

__all__ = [
    "write_gpt2",
    "write_huggingface",
    "write_minbpe",
    "write_native",
    "write_sentencepiece",
    "write_tiktoken",
]

# What says how to write the formats that suffixes are those of.
OTHER_WRITERS = {
    ".json": "save_huggingface(folder) writes tokenizer.json",
    ".tiktoken": "save_tiktoken(path) writes .tiktoken files",
    ".model": "save_sentencepiece(path) writes SentencePiece models, save_minbpe(prefix) those of minbpe",
    ".gguf": "bytemill reads GGUF, and does not write it",
}


def write_native(
    definition: Definition,
    core: CoreBPE,
    path: str | os.PathLike[str],
    provenance: Mapping[str, Any] | None = None,
    *,
    dry_run: bool = False,
) -> None:
    """Writes a native file.

    Args:
        definition: The definition.
        core: Its core.
        path: Same as for `Encoding.save`, with its errors.
        provenance: Same as for `Encoding.save`.
        dry_run: As above.
    """
    suffix = Path(path).suffix.lower()
    if suffix in OTHER_WRITERS:
        raise ValueError(
            f"save writes bytemill's own format, whose files are named .bytemill, got {str(path)!r}: "
            f"{OTHER_WRITERS[suffix]}"
        )
    contents = native.format_native(definition, core, {"bytemill": __version__, **(provenance or {})})

    def check(read: bytes) -> None:
        loaded = native.load(read, str(path))
        check_definition(
            definition, lambda text: core.encode(text, None), loaded.whole, loaded.core, has_template=True
        )

    store([(path, contents)], check, dry_run=dry_run)


def write_tiktoken(
    definition: Definition, encode: Encode, path: str | os.PathLike[str], *, dry_run: bool = False
) -> None:
    """Writes a `.tiktoken` file; same arguments and errors as `Encoding.save_tiktoken`."""
    definition.merging_bytes(".tiktoken files")

    def check(read: bytes) -> None:
        ranks = tiktoken_ranks.parse_ranks(read, str(path))
        check_definition(definition, encode, definition._replace(ranks=ranks))

    store([(path, tiktoken_ranks.format_ranks(definition.ranks))], check, dry_run=dry_run)


def write_huggingface(
    definition: Definition,
    encode: Encode,
    directory: str | os.PathLike[str],
    form: huggingface.Form | None = None,
    *,
    dry_run: bool = False,
) -> None:
    """Writes `tokenizer.json` and its configuration; see `Encoding.save_huggingface`."""
    is_model = definition.model is not None
    if is_model:
        tokenizer = huggingface.format_pieces(definition, form)
        config = huggingface.format_pieces_config(definition)
    elif form is not None:
        raise ValueError(f"form= is for SentencePiece models, and {definition.name!r} is none")
    else:
        tokenizer = definition.tokenizer or huggingface.format_tokenizer(definition)
        config = huggingface.format_tokenizer_config(definition)
    folder = Path(directory)
    path = folder / "tokenizer.json"

    def check(read: bytes, _: bytes) -> None:
        if not is_model:
            parsed = tokenizer_json.load(read, definition.name, str(path)).whole
            if definition.tokenizer is not None:
                check_special_tokens(definition, parsed)
            check_definition(definition, encode, parsed, has_template=True)
        if definition.tokenizer is None:
            before, after = huggingface.tokens_around(definition)
            around = [token_id for _, token_id in (*before, *after)]
            check_with_tokenizers(definition, encode, read, around)

    config_path = folder / "tokenizer_config.json"
    store([(path, tokenizer), (config_path, config)], check, folder=folder, dry_run=dry_run)


def write_gpt2(
    definition: Definition,
    encode: Encode,
    directory: str | os.PathLike[str],
    file_names: tuple[str, str],
    *,
    dry_run: bool = False,
) -> None:
    """Writes GPT-2's two files; same arguments and errors as `Encoding.save_gpt2`."""
    definition.merging_bytes("GPT-2's files")
    merges, encoder = data_gym.format_merges(definition), data_gym.format_encoder(definition)
    folder = Path(directory)
    merges_name, encoder_name = file_names

    def check(merges: bytes, encoder: bytes) -> None:
        file = parse_json(encoder, encoder_name)
        read = data_gym.parse_pair(merges, file, definition.name, vocab_bpe_file=merges_name)
        check_definition(definition, encode, read)

    merges_path, encoder_path = folder / merges_name, folder / encoder_name
    store([(merges_path, merges), (encoder_path, encoder)], check, folder=folder, dry_run=dry_run)


def write_minbpe(
    definition: Definition, encode: Encode, prefix: str | os.PathLike[str], *, dry_run: bool = False
) -> None:
    """Writes minbpe's two files; same arguments and errors as `Encoding.save_minbpe`."""
    definition.merging_bytes("minbpe's files")
    model = minbpe_model.model_of(definition)
    path = Path(f"{Path(prefix)}.model")

    def check(read: bytes, _: bytes) -> None:
        parsed = minbpe_model.parse_model(read, str(path))
        check_definition(definition, encode, minbpe_model.definition_of(parsed, definition.name, str(path)))

    vocabulary = minbpe_model.format_vocab(definition.vocab(), model.merges)
    vocabulary_path = Path(f"{Path(prefix)}.vocab")
    files = [(path, minbpe_model.format_model(model)), (vocabulary_path, vocabulary)]
    store(files, check, dry_run=dry_run)


def write_sentencepiece(
    definition: Definition, encode: Encode, path: str | os.PathLike[str], vocab: str | os.PathLike[str] | None
) -> None:
    """Writes a SentencePiece model; same arguments and errors as `Encoding.save_sentencepiece`."""
    if definition.model is None:
        raise VocabularyError(
            f"SentencePiece models merge characters, and the encoding {definition.name!r} merges bytes: "
            "expected `save`, `save_huggingface` or `save_tiktoken`"
        )

    def check(read: bytes, *_: bytes) -> None:
        parsed = sentencepiece_model.definition_of(read, definition.name, str(path))
        check_special_tokens(definition, parsed)
        check_definition(definition, encode, parsed)

    files = [(path, definition.model)]
    if vocab is not None:
        files.append((vocab, sentencepiece_model.format_vocab(definition.model)))
    store(files, check)


def check_special_tokens(definition: Definition, read: Definition) -> None:
    """Raises `VocabularyError` if special tokens were added or removed since a file was read."""
    differing = definition.special_tokens.items() ^ read.special_tokens.items()
    if differing:
        text = min(differing)[0]
        raise VocabularyError(
            f"the encoding {definition.name!r} is written as it was read, and the special token {text!r} was "
            "added or removed since: `save` writes it, to a .bytemill file"
        )


def store(
    files: Sequence[tuple[str | os.PathLike[str], bytes]],
    check: Callable[..., None],
    *,
    folder: Path | None = None,
    dry_run: bool = False,
) -> None:
    """Writes files as `write_all` does, or only checks their contents.

    Args:
        files: The name and the contents of each file.
        check: Same as for `write_all`.
        folder: Where they are, made if it does not exist; `None` if it must exist.
        dry_run: As above.
    """
    if dry_run:
        check(*[contents for _, contents in files])
        return
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    write_all(files, check)
