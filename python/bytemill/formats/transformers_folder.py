"""Files of `transformers` beside a vocabulary: the class of its tokenizer, and tokens.

A vocabulary of two files or of lines has no special tokens of its own. `tokenizer_config.json`,
`special_tokens_map.json` and `added_tokens.json` name them, and may name more, with flags that say where they
are found. A `tokenizer.json` has all of that; without one, anything else raises an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill.formats.json_file import brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bytemill.formats.json_file import Value

__all__ = ["BESIDE", "HINT", "check_class", "check_tokens"]

# The files, the configuration first.
BESIDE = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")

# Entries that are a token, and those that are a list or an object of tokens.
TOKENS = [f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")]
LISTS = ("additional_special_tokens", "extra_special_tokens")
BY_ID = "added_tokens_decoder"

FLAGS = ("single_word", "lstrip", "rstrip")

HINT = (
    "AutoTokenizer.from_pretrained(folder).save_pretrained(folder) of transformers writes a tokenizer.json, "
    "which is read then"
)


def check_class(config: Value, classes: Iterable[str], hint: str = "") -> None:
    """Raises `VocabularyError` if a configuration is that of a tokenizer that does something else.

    Args:
        config: The contents of `tokenizer_config.json`.
        classes: The classes that read the vocabulary in the same way, without `Tokenizer` and
            `TokenizerFast` at the end.
        hint: What to do about another class.
    """
    entry = config["tokenizer_class"]
    if entry.is_null:
        return
    name = entry.text().removesuffix("Fast").removesuffix("Tokenizer")
    if name not in classes:
        entry.refuse(f"expected a tokenizer of {', '.join(classes)}, got {entry.text()}{hint}")


def check_tokens(files: Iterable[Value], known: Mapping[str, int], *, has_normalizer: bool) -> None:
    """Raises `VocabularyError` if files name a token that is not known, or that has flags.

    Args:
        files: The contents of the files beside a vocabulary.
        known: The ID of each special token.
        has_normalizer: Whether texts are normalized, so that the flag `normalized` matters.
    """
    flags = (*FLAGS, "normalized") if has_normalizer else FLAGS
    for token, token_id in (named for file in files for named in tokens_of(file)):
        plain = token if not isinstance(token.contents, dict) else token["content"]
        text = plain.text()
        if text not in known or token_id not in {None, str(known[text])}:
            token.refuse(f"the vocabulary has no such special token: {brief(repr(text))}; {HINT}")
        if token is not plain and (flag := next((flag for flag in flags if token[flag].flag()), None)):
            token.refuse(f"{flag} is not supported without a tokenizer.json; {HINT}")


def tokens_of(file: Value) -> Iterator[tuple[Value, str | None]]:
    """Yields the tokens that a file names, each with its ID if the file says so."""
    entries = file.object()
    if entries and all(type(entry) is int for entry in entries.values()):
        # Only `added_tokens.json` is such a file.
        for text, token_id in entries.items():
            yield type(file)(text, file.source, file.path), str(token_id)
        return
    for name in TOKENS:
        if not file[name].is_null:
            yield file[name], None
    for name in LISTS:
        found = file[name]
        if isinstance(found.contents, dict):
            yield from ((found[key], None) for key in found.contents)
        elif not found.is_null:
            yield from ((token, None) for token in found)
    if not file[BY_ID].is_null:
        by_id = file[BY_ID]
        yield from ((by_id[token_id], token_id) for token_id in by_id.object())
