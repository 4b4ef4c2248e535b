"""Files of `transformers` beside a vocabulary: the class of its tokenizer, and tokens.

A vocabulary of two files or of lines has no special tokens of its own. `tokenizer_config.json`,
`special_tokens_map.json` and `added_tokens.json` name them, and may name more, with flags that say where they
are found. A `tokenizer.json` has all of that; without one, anything else raises an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bytemill.definition import ID_LIMIT
from bytemill.formats.json_file import brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bytemill.formats.json_file import Value

__all__ = ["FILES", "HINT", "Beside", "check_class", "text_of"]

# The files, as in `Beside`.
FILES = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")

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


def text_of(token: Value) -> str:
    """Returns the text of a token, which is a string or an object with flags."""
    return token["content"].text() if isinstance(token.contents, dict) else token.text()


class Beside(NamedTuple):
    """The contents of the files beside a vocabulary; `None` for those that are not there.

    Attributes:
        config: `tokenizer_config.json`.
        special_tokens: `special_tokens_map.json`.
        added_tokens: `added_tokens.json`.
    """

    config: Value | None
    special_tokens: Value | None = None
    added_tokens: Value | None = None

    def check_tokens(self, known: Mapping[str, int], *, has_normalizer: bool) -> None:
        """Raises `VocabularyError` if a file names a token that is not known, or that has flags.

        Args:
            known: The ID of each special token.
            has_normalizer: Whether texts are normalized, so that the flag `normalized` matters.
        """
        if self.added_tokens is not None:
            for text in self.added_tokens.object():
                check_known(text, self.added_tokens[text].integer(), known, self.added_tokens)
        flags = (*FLAGS, "normalized") if has_normalizer else FLAGS
        for file in filter(None, (self.config, self.special_tokens)):
            for token, token_id in tokens_of(file):
                check_known(text_of(token), token_id, known, token)
                for flag in flags if isinstance(token.contents, dict) else ():
                    if token[flag].flag():
                        token.refuse(f"{flag} is not supported without a tokenizer.json; {HINT}")


def check_known(text: str, token_id: int | None, known: Mapping[str, int], named: Value) -> None:
    """Raises `VocabularyError` if a token is not known, or has another ID; `named` is where it is named."""
    if text not in known or token_id not in {None, known[text]}:
        named.refuse(f"the vocabulary has no such special token: {brief(repr(text))}; {HINT}")


def tokens_of(file: Value) -> Iterator[tuple[Value, int | None]]:
    """Yields the tokens that a configuration names, each with its ID if it says so."""
    for name in TOKENS:
        if not file[name].is_null:
            yield file[name], None
    for name in LISTS:
        found = file[name]
        if isinstance(found.contents, dict):
            yield from ((found[key], None) for key in found.contents)
        elif not found.is_null:
            yield from ((token, None) for token in found)
    by_id = file[BY_ID]
    for token_id in {} if by_id.is_null else by_id.object():
        if not token_id.isdecimal() or len(token_id) > len(str(ID_LIMIT)):
            by_id.refuse(f"expected IDs as keys, got {brief(repr(token_id))}")
        yield by_id[token_id], int(token_id)
