"""Look for faults of tokenizer files that loading them does not show."""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill._backend import SentencePieceModel
from bytemill.core import Encoding
from bytemill.errors import VocabularyError
from bytemill.inspection.reachability import Pieces, may_occur, reachability_of
from bytemill.inspection.token import visible
from bytemill.inspection.vocabulary_report import holes_between
from bytemill.patterns import LLAMA3_PATTERN

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

__all__ = ["Finding", "lint"]

# Tokens that a message names.
SHOWN = 5

# The most IDs without a token that a finding has: a small file may leave out billions.
MOST_HOLES = 1 << 16

# What special tokens look like: <|end|>, <s>, </s>, <unk>, [CLS], <start_of_turn>, <extra_id_0>.
SPECIAL = re.compile(r"<\|[^|<>]+\|>|</?[a-z]+(?:_[a-z0-9]+)*>|\[[A-Z]+(?:_[A-Z0-9]+)*\]")

# A token that the tokenizers of Mistral have, some of whose files have the pattern of Llama 3.
OF_MISTRAL = "[INST]"


class Finding(NamedTuple):
    """A possible fault of a tokenizer file.

    Attributes:
        kind: What it is: "pattern", "duplicates", "flags", "numbers", "holes", "bytes" or "unreachable".
        message: What was found, and what follows from it.
        tokens: The IDs of the tokens that it is about, sorted; of holes the first 65,536.
    """

    kind: str
    message: str
    tokens: tuple[int, ...] = ()


def lint(path: str | os.PathLike[str]) -> list[Finding]:
    """Looks for faults in a tokenizer file that loading it does not show.

    Such a file works, and gives the token IDs that its library gives; but a model may have been trained with
    others, or a token can never occur.

    Args:
        path: A file or folder that `Encoding.from_file` reads.

    Returns:
        The findings; an empty list if there are none:

        - "pattern": a `tokenizer.json` of Mistral with the split pattern of Llama 3.
        - "duplicates": two IDs for one token, or one ID for two tokens.
        - "flags": added tokens that look like special ones and are not: text can contain them, and decoding
          does not leave them out.
        - "numbers": added tokens to which the library gives other IDs than the file says.
        - "holes": IDs without a token below the highest ID.
        - "bytes": bytes without a token, in a tokenizer that falls back to bytes.
        - "unreachable": tokens that no text becomes.

    Raises:
        VocabularyError, OSError, ValueError: Same as `Encoding.from_file`.

    Complexity:
        That of `report`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoding = Encoding.from_file(path)
    contents = contents_of(Path(path))
    found = [] if contents is None else [*of_file(contents)]
    return [*found, *of_encoding(encoding, has_bytes=falls_back(encoding, contents))]


def contents_of(path: Path) -> dict[str, Any] | None:
    """Returns the contents of a `tokenizer.json`; `None` for any other file."""
    path = path / "tokenizer.json" if path.is_dir() else path
    if path.suffix != ".json" or not path.is_file():
        return None
    contents = json.loads(path.read_bytes())
    return contents if isinstance(contents, dict) and "model" in contents else None


def of_file(contents: dict[str, Any]) -> Iterator[Finding]:
    """Yields what the contents of a `tokenizer.json` say."""
    added = contents.get("added_tokens") or []
    vocabulary = contents["model"].get("vocab") or {}
    if isinstance(vocabulary, list):
        # Of a Unigram model: a list of texts and scores.
        texts = [text for text, _ in vocabulary]
        repeated = [text for text, count in Counter(texts).items() if count > 1]
        ids = {text: token for token, text in enumerate(texts)}
    else:
        ids = vocabulary
        numbers = Counter(ids.values())
        repeated = [text for text, token in ids.items() if numbers[token] > 1]
    twice = [token for token in added if ids.get(token["content"], token["id"]) != token["id"]]
    repeated += [token["content"] for token in twice]
    if repeated:
        yield Finding(
            "duplicates",
            f"{counted(len(repeated), 'token has', 'tokens have')} two IDs, or shares one with another: "
            + named(repeated),
            tuple(sorted({ids[text] for text in repeated})),
        )
    contents_added = {token["content"] for token in added}
    if OF_MISTRAL in contents_added and LLAMA3_PATTERN in patterns_of(contents.get("pre_tokenizer")):
        yield Finding(
            "pattern",
            "it splits as Llama 3 does, and models of Mistral were trained with another pattern: use the "
            "tekken.json of the model, or a newer tokenizer.json",
        )
    plain = [token for token in added if not token.get("special") and SPECIAL.fullmatch(token["content"])]
    if plain:
        yield Finding(
            "flags",
            f"{counted(len(plain), 'added token looks', 'added tokens look')} special and is not marked so: "
            "any text can contain it, and decoding without special tokens keeps it: "
            + named(token["content"] for token in plain),
            tuple(sorted(token["id"] for token in plain)),
        )
    next_id = len(vocabulary)
    others = []
    for token in added:
        if token["content"] not in ids:
            others += [token] if token["id"] != next_id else []
            next_id += 1
    if others:
        yield Finding(
            "numbers",
            f"{counted(len(others), 'added token gets', 'added tokens get')} another ID than the file says, "
            "as tokenizers numbers those that the model lacks from its size on: "
            + named(token["content"] for token in others),
            tuple(sorted(token["id"] for token in others)),
        )


def of_encoding(encoding: Encoding, *, has_bytes: bool) -> Iterator[Finding]:
    """Yields what the tokens of an encoding say."""
    vocabulary = encoding.vocab()
    holes = [range(first, last + 1) for first, last in holes_between(vocabulary, encoding.n_vocab)]
    if holes:
        yield Finding(
            "holes",
            f"{counted(sum(map(len, holes)), 'ID has', 'IDs have')} no token, below the highest ID "
            f"{encoding.n_vocab - 1}: a model that produces one cannot be decoded",
            tuple(islice(chain.from_iterable(holes), MOST_HOLES)),
        )
    known = set(vocabulary.values())
    # Bytes that are in no text need no token.
    needed = (byte for byte in range(256) if may_occur(bytes([byte])))
    missing = [byte for byte in needed if bytes([byte]) not in known]
    if missing and has_bytes:
        shown = ", ".join(f"0x{byte:02X}" for byte in missing[:SHOWN])
        yield Finding(
            "bytes",
            f"{counted(len(missing), 'byte has', 'bytes have')} no token, so that some texts cannot be "
            f"encoded, or not be decoded again: {shown}" + ", …" * (len(missing) > SHOWN),
        )
    model = encoding.definition.model
    try:
        reachable = reachability_of(encoding) if model is None else Pieces(encoding, model).reachability()
    except VocabularyError:
        # Another model than that of merges by rank.
        return
    # Each of the 256 bytes has a token in nearly all vocabularies, those that no text has, too.
    tokens = [token for token in reachable.unreachable if len(vocabulary[token]) > 1]
    if tokens:
        texts = (visible(vocabulary[token]) for token in tokens)
        yield Finding(
            "unreachable",
            f"{counted(len(tokens), 'token', 'tokens')} that no text becomes: {named(texts)}",
            tuple(tokens),
        )


def falls_back(encoding: Encoding, contents: dict[str, Any] | None) -> bool:
    """Returns whether each byte of a text is to have a token."""
    if contents is not None:
        steps = json.dumps([contents.get("pre_tokenizer"), contents.get("decoder")])
        return bool(contents["model"].get("byte_fallback")) or '"ByteLevel"' in steps
    model = encoding.definition.model
    return model is None or bool(SentencePieceModel(model).trainer_spec["byte_fallback"])


def patterns_of(component: dict[str, Any] | None) -> Iterator[str]:
    """Yields the regular expressions of a pre-tokenizer."""
    if component is None:
        return
    for step in component.get("pretokenizers", []):
        yield from patterns_of(step)
    pattern = component.get("pattern")
    if isinstance(pattern, dict) and "Regex" in pattern:
        yield pattern["Regex"]


def counted(count: int, one: str, many: str) -> str:
    """Returns a number of items with a word for it."""
    return f"{count:,} {one if count == 1 else many}"


def named(texts: Iterable[str]) -> str:
    """Returns the first texts, quoted."""
    shown = [*texts]
    return ", ".join(map(repr, shown[:SHOWN])) + ", …" * (len(shown) > SHOWN)
