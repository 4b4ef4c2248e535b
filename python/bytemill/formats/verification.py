"""Checks that a definition that was read back, or another library, gives the same IDs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from bytemill._backend import SentencePieceModel
from bytemill.definition import core_of
from bytemill.errors import VocabularyError

if TYPE_CHECKING:
    from bytemill._backend import CoreBPE
    from bytemill.definition import Definition

__all__ = [
    "Encode",
    "check_definition",
    "check_ids",
    "check_prefixes",
    "check_with_tokenizers",
    "sample_texts",
]

# Encodes a text, in which all special tokens are allowed.
Encode: TypeAlias = Callable[[str], Sequence[int]]

# Text of every kind that patterns split differently: case, contractions, numbers, whitespace, line ends,
# scripts, marks.
TEXTS = [
    "",
    "Hello World, HELLO wOrLd! It's they'LL I'm we've 'tis O'Neill's",
    "x = [1, 12, 123, 1234, 12345678]; // 3.14e-10 \u0661\u0662\u0663\u0664 \xb2\xb3 \u2167",
    "  a \n\n  b\r\n\tc   \n d  \t",
    "trailing blanks   ",
    "\xa0\u3000no-break and wide\u2003blanks\u2028\x85\x1c",
    "!?...---===/**/\n/\n//;;\n$%^&*()_+{}|:\"<>'",
    "Zu\u0308rich Stra\xdfe \u0130stanbul \u01c5 \u02b0 na\xefve \u017f'\u017f",
    "\u041f\u0440\u0438\u0432\u0435\u0442 \u03b3\u03b5\u03b9\u03ac",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u3053\u3093\u306b\u3061\u306f",
    "\ud55c\uad6d\uc5b4 \u30c6\u30b9\u30c8",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001d400\U00020000 e\u0301\u0338",
    "a" * 300 + "ab" * 100 + " " * 100,
    "".join(map(chr, range(256))),
]

# The most tokens, and the most special tokens, that become sample texts.
TOKENS = 1000


def sample_texts(definition: Definition) -> list[str]:
    """Returns texts of all kinds, among them tokens from everywhere in the vocabulary."""
    special = list(definition.special_tokens)
    tokens: list[bytes] | list[str] = list(definition.ranks)
    if definition.model is not None:
        tokens = SentencePieceModel(definition.model).pieces
    spread = tokens[:: max(1, len(tokens) // TOKENS)]
    texts = [token if isinstance(token, str) else token.decode(errors="replace") for token in spread]
    return [*TEXTS, *texts, " ".join(texts), *[f"a{text} b" for text in special[:TOKENS]]]


def check_definition(
    definition: Definition,
    encode: Encode,
    read: Definition,
    core: CoreBPE | None = None,
    *,
    has_template: bool = False,
) -> None:
    """Raises `VocabularyError` if a definition that was read back is not the one that was written.

    Args:
        definition: The one that was written.
        encode: Encodes by it.
        read: The one that was read back. Its pattern may be another one that gives the same pieces.
        core: The core that was read back; if not given, it is built of `read`.
        has_template: Whether files of this format say which tokens are added to each text.
    """
    expected = definition._replace(name="", splitting=read.splitting)
    if not has_template:
        expected = expected._replace(template=read.template)
    if read._replace(name="") != expected:
        raise VocabularyError(
            f"the encoding {definition.name!r} cannot be written: the file has other tokens when it is "
            "read back"
        )
    reader = core_of(read) if core is None else core
    check_ids(definition, encode, lambda text: reader.encode(text, None), "this library")


def check_ids(definition: Definition, encode: Encode, other: Encode, reader: str) -> None:
    """Raises `VocabularyError` if another function gives different token IDs for sample texts.

    Args:
        definition: The definition that the texts are chosen for.
        encode: Encodes by it.
        other: The function that is checked.
        reader: Whose function that is, for messages.
    """
    for text in sample_texts(definition):
        expected, got = ids_of(text, encode), ids_of(text, other)
        if expected != got:
            raise VocabularyError(
                f"the encoding {definition.name!r} cannot be converted exactly: "
                f"{reader} gives different token IDs for {text[:100]!r}: "
                f"expected {expected and expected[:20]}, got {got and got[:20]}"
            )


def ids_of(text: str, encode: Encode) -> list[int] | None:
    """Returns the token IDs of a text; `None` if it has none, without a token for what is unknown."""
    try:
        return list(encode(text))
    except ValueError:
        return None


def check_prefixes(definition: Definition) -> None:
    """Raises `VocabularyError` if a special token begins with another: tiktoken may find either in text."""
    for token, successor in pairwise(sorted(definition.special_tokens)):
        if successor.startswith(token):
            raise VocabularyError(
                f"the encoding {definition.name!r} cannot be converted exactly: where the special token "
                f"{successor!r} is in a text, tiktoken may find {token!r}"
            )


def check_with_tokenizers(
    definition: Definition, encode: Encode, tokenizer_json: bytes, around: Sequence[int]
) -> None:
    """Checks a `tokenizer.json` with the library tokenizers itself, if it is installed.

    Args:
        definition: The definition that it was written from.
        encode: Encodes by it.
        tokenizer_json: The file.
        around: The IDs that are added to each text.
    """
    if find_spec("tokenizers") is None:
        return
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(tokenizer_json.decode())
    check_ids(
        definition,
        encode,
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        "tokenizers",
    )
    added = tokenizer.encode("").ids
    if added != list(around):
        raise VocabularyError(
            f"the encoding {definition.name!r} cannot be converted exactly: tokenizers adds {added} to each "
            f"text, expected {list(around)}"
        )
    if definition.model is not None:
        return  # SentencePiece decodes control pieces to nothing
    special = dict(list(definition.special_tokens.items())[:TOKENS])
    if tokenizer.decode([*special.values()], skip_special_tokens=False) != "".join(special):
        raise VocabularyError(
            f"the encoding {definition.name!r} cannot be converted exactly: tokenizers decodes special "
            "tokens to other text"
        )
