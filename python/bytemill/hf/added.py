"""Added tokens of a `tokenizer.json`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from bytemill._backend import NormalizerChain
from bytemill.hf.arguments import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bytemill.formats.json_file import Value

__all__ = ["AddedToken", "AddedTokens", "normalizer_of", "parse_added"]


@dataclass(frozen=True)
class AddedToken:
    """A token that is found before anything else.

    Attributes:
        content: Its text.
        single_word: Whether it is found only as a whole word, not as a part of one.
        lstrip: Whether it takes the white space before it.
        rstrip: Whether it takes the white space after it.
        normalized: Whether it is searched for in the normalized text.
        special: Whether decoding may leave it out.
    """

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = True
    special: bool = False

    def __str__(self) -> str:
        return self.content

    @classmethod
    def of(cls, token: object, *, special: bool) -> AddedToken:
        """Returns the added token of a text, or of an object with the same attributes.

        Raises:
            TypeError: It is neither.
        """
        if isinstance(token, str):
            return cls(text("each token", token), normalized=not special, special=special)
        try:
            flags = {
                name: bool(getattr(token, name)) for name in cls.__dataclass_fields__ if name != "content"
            }
            content = token.content  # type: ignore[attr-defined]
        except AttributeError:
            raise TypeError(f"expected a string or an AddedToken, not {type(token).__name__}") from None
        return cls(text("content", content), **flags | ({"special": True} if special else {}))

    def entry(self, token_id: int) -> dict[str, Any]:
        """Returns the entry of a file."""
        return {"id": token_id, **asdict(self)}


def parse_added(tokens: Value) -> list[AddedToken]:
    """Returns the added tokens of a file, in its order."""
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return [
        AddedToken(token["content"].text(), **{flag: token[flag].flag() for flag in flags})
        for token in ([] if tokens.is_null else tokens)
    ]


@dataclass(frozen=True)
class AddedTokens:
    """The added tokens of a tokenizer. Same as in `tokenizers`, earlier properties of a token are kept.

    Attributes:
        by_id: The tokens by ID.
        ids: The IDs by text, including tokens whose ID another token has taken over.
        special_texts: The texts of tokens that are or were special: decoding may leave them out.
        normalized: The normalized texts that differ from the original, by ID: tokens are decoded to these.
    """

    by_id: Mapping[int, AddedToken] = field(default_factory=dict)
    ids: Mapping[str, int] = field(default_factory=dict)
    special_texts: frozenset[str] = frozenset()
    normalized: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def listed(cls, entries: Value, normalize: Callable[[str], str]) -> AddedTokens:
        """Returns the tokens in a list of a file with the IDs that it says, as a live tokenizer writes it."""
        tokens = parse_added(entries)
        by_id = {entry["id"].integer(): token for entry, token in zip(entries, tokens, strict=True)}
        return cls(
            by_id,
            {token.content: token_id for token_id, token in by_id.items()},
            frozenset(token.content for token in tokens if token.special),
            {
                token_id: changed
                for token_id, token in by_id.items()
                if token.normalized and (changed := normalize(token.content)) != token.content
            },
        )

    def extended(
        self,
        tokens: Iterable[AddedToken],
        vocabulary: Mapping[str, int],
        size: int,
        normalize: Callable[[str], str],
    ) -> tuple[AddedTokens, int]:
        """Returns these tokens and more, and how many are new or differ from existing ones.

        A new token has the ID of its text in the vocabulary of the model. Others are numbered after the
        highest ID of an added token, but at least from the number of the model's tokens on, whatever IDs
        these have: an ID may also be that of a token of the model.

        Args:
            tokens: Those to be added, all in one call: a file is read in one.
            vocabulary: The IDs of the tokens of the model.
            size: The number of these. In a list of tokens, one that is there twice counts twice.
            normalize: Normalizes a text.
        """
        by_id, ids, normalized = dict(self.by_id), dict(self.ids), dict(self.normalized)
        special_texts = set(self.special_texts)
        following = max([size, *(token_id + 1 for token_id in by_id)])
        count = 0
        for token in tokens:
            token_id = ids.get(token.content, vocabulary.get(token.content))
            if not token.content or (token.content in ids and by_id[ids[token.content]] == token):
                continue
            count += 1
            if token_id is None:
                token_id = following
                following += 1
            if token.normalized and (changed := normalize(token.content)) != token.content:
                normalized[token_id] = changed
            if token.special:
                special_texts.add(token.content)
            ids[token.content] = token_id
            by_id[token_id] = token
        return AddedTokens(by_id, ids, frozenset(special_texts), normalized), count

    def entries(self) -> list[dict[str, Any]]:
        """Returns the list for a file."""
        return [token.entry(token_id) for token_id, token in sorted(self.by_id.items())]

    def text(self, token_id: int) -> str:
        """Returns the text that a token is decoded to."""
        return self.normalized.get(token_id, self.by_id[token_id].content)


def normalizer_of(entry: Value) -> NormalizerChain:
    """Returns the normalizer of a file."""
    return NormalizerChain(json.dumps(entry.contents).encode())
