"""Methods in which encodings by ranks, SentencePiece models and `tokenizer.json` files differ in Python.

All of them encode and decode in the core, in the same way. An encoding asks its source for the rest.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from bytemill._arguments import check_type
from bytemill.errors import VocabularyError
from bytemill.results import PieceExplanation
from bytemill.streaming import (
    CoreStreamDecoder,
    SentencePieceStreamDecoder,
    StreamDecoder,
    TextStreamDecoder,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from bytemill._backend import CoreBPE
    from bytemill.definition import Definition
    from bytemill.special import Tokens

__all__ = ["RANKS", "Source", "source_of", "tokens_bytes"]

# Bytes that continue a UTF-8 character, as opposed to those that start one.
CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


class Source:
    """Merges of bytes by rank, and what other sources have in common with them."""

    # The fields of the definition that alone determine the token IDs.
    fields: dict[str, bytes]

    def __init__(self, **fields: bytes) -> None:
        """Takes the fields of the definition that alone determine the token IDs."""
        self.fields = fields

    @property
    def has_ranks(self) -> bool:
        """Whether bytes merge by rank."""
        return not self.fields

    def encode_with_unstable(
        self, core: CoreBPE, text: str, special: tuple[Tokens, Tokens], special_ids: Collection[int]
    ) -> tuple[list[int], list[list[int]]]:
        """Returns `Encoding.encode_with_unstable` of a text."""
        del special_ids
        return core.encode_with_unstable(text, *special)

    def decode_with_offsets(self, core: CoreBPE, tokens: list[int]) -> tuple[str, list[int]]:
        """Returns `Encoding.decode_with_offsets` of token IDs."""
        decoded = core.decode_with_offsets(tokens)
        return joined(tokens_bytes(core, tokens)) if decoded is None else decoded

    def stream_decoder(self, core: CoreBPE, errors: str) -> StreamDecoder:
        """Returns `Encoding.stream_decoder`; here, joining the bytes of tokens is all it needs."""
        return CoreStreamDecoder(core, errors)

    def explain(self, core: CoreBPE, text: str, ranks: dict[bytes, int]) -> list[PieceExplanation]:
        """Returns `Encoding.explain` of a text."""
        # Only here: it imports the regular expressions.
        from bytemill.reference import merge_steps

        explanations = []
        for piece in map(str.encode, core.split(text)):
            steps = list(merge_steps(piece, ranks))
            if piece in ranks and steps[-1] != [piece]:
                steps = [steps[0], [piece]]
            explanations.append(PieceExplanation(piece, steps, core.encode_single_piece(piece)))
        return explanations

    def with_vocab_size(self, definition: Definition, vocab_size: int, name: str) -> Definition:
        """Returns the definition of the first merges of one of this source."""
        return definition.with_vocab_size(vocab_size, name)

    def state(self, definition: Definition) -> dict[str, Any]:
        """Returns what an encoding pickles as, sorted: equals pickle equally."""
        by_id = itemgetter(1)
        state: dict[str, Any] = {
            "name": definition.name,
            "special_tokens": dict(sorted(definition.special_tokens.items(), key=by_id)),
            **self.fields,
        }
        if self.has_ranks:
            ranks = dict(sorted(definition.ranks.items(), key=by_id))
            # Without a template, the state is that of tiktoken, in its order.
            state = {
                "name": definition.name,
                "pat_str": definition.splitting,
                "mergeable_ranks": ranks,
                "special_tokens": state["special_tokens"],
            }
        return state if definition.template is None else {**state, "template": definition.template}


class ModelSource(Source):
    """A SentencePiece model."""

    def encode_with_unstable(
        self, core: CoreBPE, text: str, special: tuple[Tokens, Tokens], special_ids: Collection[int]
    ) -> tuple[list[int], list[list[int]]]:
        from bytemill.continuation import encode_with_unstable
        from bytemill.splitting import repair_surrogates

        text = repair_surrogates(text)
        ids, _, ends = core.encode_with_offsets(text, *special, True)  # noqa: FBT003
        places = [i for i, token in enumerate(ids.tolist()) if token in special_ids]
        kept = places[-1] + 1 if places else 0
        rest = text[ends[kept - 1] :] if places else text
        stable, completions = encode_with_unstable(self.fields["model"], rest)
        return ids[:kept].tolist() + stable, completions

    def decode_with_offsets(self, core: CoreBPE, tokens: list[int]) -> tuple[str, list[int]]:
        text, offsets = super().decode_with_offsets(core, tokens)
        if "\N{REPLACEMENT CHARACTER}" in text:
            # Raises an error if it stands for bytes that are not UTF-8.
            core.decode_bytes(tokens).decode("utf-8")
        return text, offsets

    def stream_decoder(self, core: CoreBPE, errors: str) -> StreamDecoder:
        stream = core.text_stream()
        if stream is None:
            return SentencePieceStreamDecoder(core, errors)
        return TextStreamDecoder(stream, errors)

    def explain(self, core: CoreBPE, text: str, ranks: dict[bytes, int]) -> list[PieceExplanation]:
        del ranks
        check_type("text", text, str)
        from bytemill.explanation import explain_model, explain_words

        words = explain_words(core, text)
        return explain_model(self.fields["model"], text) if words is None else words

    def with_vocab_size(self, definition: Definition, vocab_size: int, name: str) -> Definition:
        from bytemill.formats.sentencepiece_model import first_merges

        return first_merges(definition, vocab_size, name)


class FileSource(Source):
    """A `tokenizer.json` whose token IDs ranks do not give."""

    def explain(self, core: CoreBPE, text: str, ranks: dict[bytes, int]) -> list[PieceExplanation]:
        del ranks
        check_type("text", text, str)
        from bytemill.explanation import explain_words

        words = explain_words(core, text)
        if words is None:
            raise VocabularyError(
                "explanations need merges by rank, a SentencePiece model, "
                "or a tokenizer.json of type WordPiece, WordLevel or Unigram"
            )
        return words

    def stream_decoder(self, core: CoreBPE, errors: str) -> StreamDecoder:
        if errors != "replace" and core.may_decode_to_bytes():
            # What is no text is decoded as `errors` says, by which `decode` goes too.
            return SentencePieceStreamDecoder(core, errors)
        stream = core.text_stream()
        if stream is None:
            return super().stream_decoder(core, errors)
        return TextStreamDecoder(stream, errors)


RANKS = Source()


def source_of(definition: Definition) -> Source:
    """Returns the source of an encoding with this definition."""
    if definition.model is not None:
        return ModelSource(model=definition.model)
    if definition.tokenizer is not None:
        return FileSource(tokenizer=definition.tokenizer)
    return RANKS


def tokens_bytes(core: CoreBPE, tokens: Iterable[int]) -> list[bytes]:
    """Returns the bytes of each token."""
    return [core.decode_single_token_bytes(token) for token in tokens]


def joined(parts: Sequence[bytes]) -> tuple[str, list[int]]:
    """Returns the text of the bytes of tokens, and the index of the first character of each."""
    offsets = []
    characters = 0
    for part in parts:
        starts_inside = part[:1] in CONTINUATION_BYTES and bool(part)
        offsets.append(max(0, characters - starts_inside))
        characters += len(part.translate(None, CONTINUATION_BYTES))
    return b"".join(parts).decode("utf-8"), offsets
