"""Added tokens of a `tokenizer.json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bytemill._backend import NormalizerChain, from_oniguruma

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bytemill.formats.json_file import Value

__all__ = ["AddedToken", "normalized_texts", "numbered", "parse_added"]


@dataclass(frozen=True)
class AddedToken:
    """A token that is found before anything else.

    Attributes:
        content: Its text.
        single_word: Whether it is only found where no word goes on beside it.
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
            return cls(token, normalized=not special, special=special)
        try:
            flags = {
                name: bool(getattr(token, name)) for name in cls.__dataclass_fields__ if name != "content"
            }
            content = token.content  # type: ignore[attr-defined]
        except AttributeError:
            raise TypeError(f"expected a string or an AddedToken, not {type(token).__name__}") from None
        return cls(content, **flags | ({"special": True} if special else {}))

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


def numbered(
    known: Mapping[int, AddedToken], tokens: Iterable[AddedToken], vocabulary: Mapping[str, int]
) -> dict[int, AddedToken]:
    """Returns the added tokens by id, as `tokenizers` numbers them: as in the vocabulary, or on from there.

    Args:
        known: Those that have numbers.
        tokens: Those to be numbered; one that is known takes over its id.
        vocabulary: The ids of the tokens of the model.
    """
    result = dict(known)
    ids = {token.content: token_id for token_id, token in known.items()}
    following = max([len(vocabulary), *(token_id + 1 for token_id in known)])
    for token in tokens:
        if not token.content:
            continue
        token_id = ids.get(token.content, vocabulary.get(token.content))
        if token_id is None:
            token_id = following
            following += 1
        ids[token.content] = token_id
        result[token_id] = token
    return result


def normalized_texts(normalizer: Value, added: Mapping[int, AddedToken]) -> dict[int, str]:
    """Returns the texts of added tokens that normalizing changes, by id: the library knows them by these.

    Args:
        normalizer: The entry of a file.
        added: The added tokens by id.
    """
    if not any(token.normalized for token in added.values()):
        return {}
    chain = NormalizerChain([*steps_of(normalizer)])
    texts = {i: chain.normalize(token.content) for i, token in added.items() if token.normalized}
    return {token_id: text for token_id, text in texts.items() if text != added[token_id].content}


def steps_of(
    normalizer: Value,
) -> Iterator[str | tuple[str, str] | tuple[str, bool, bool] | tuple[str, str, str]]:
    """Yields the steps of a normalizer."""
    if normalizer.is_null:
        return
    kind = normalizer["type"].text()
    if kind == "Sequence":
        for step in normalizer["normalizers"]:
            yield from steps_of(step)
    elif kind == "Strip":
        yield kind, normalizer["strip_left"].flag(), normalizer["strip_right"].flag()
    elif kind == "Prepend":
        yield kind, normalizer["prepend"].text()
    elif kind == "Replace":
        pattern, content = normalizer["pattern"], normalizer["content"].text()
        if pattern["Regex"].is_null:
            yield kind, pattern["String"].text(), content
        else:
            yield "Regex", from_oniguruma(pattern["Regex"].text()), content
    else:
        yield kind
