"""The compiled module, and how its classes are built: other modules import it from here.

It does not take every pattern. `splitting`, which uses the `regex` package, splits by the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bytemill._core import (
    TIER,
    UNICODE_VERSION,
    CoreBPE,
    CorePrefixCache,
    CoreSession,
    CoreStreamEncoder,
    EncodedColumn,
    LearnedMerges,
    Normalizer,
    NormalizerChain,
    PieceCounts,
    SentenceCounts,
    SentencePieceModel,
    __version__,
    charsmap_rules,
    charsmap_with_name,
    compile_charsmap,
    compile_charsmap_tsv,
    encode_message,
    encode_pieces,
    find_invalid_utf8,
    from_oniguruma,
    json_fields,
    last_cut,
    learn_merges,
    line_breaks,
    line_offsets,
    matches_everything,
    published_encodings,
    read_normalizer_spec,
    read_tokenizer_json,
    sentencepiece_options,
    set_process_cache_limit,
    write_normalizer_spec,
    write_sentencepiece_text,
)
from bytemill._core import Splitter as CoreSplitter
from bytemill.errors import UnsupportedPatternError

if TYPE_CHECKING:
    from bytemill.splitting import Splitter

__all__ = [
    "TIER",
    "UNICODE_VERSION",
    "CoreBPE",
    "CorePrefixCache",
    "CoreSession",
    "CoreSplitter",
    "CoreStreamEncoder",
    "EncodedColumn",
    "LearnedMerges",
    "Normalizer",
    "NormalizerChain",
    "PieceCounts",
    "SentenceCounts",
    "SentencePieceModel",
    "Stored",
    "__version__",
    "build_core",
    "build_splitter",
    "charsmap_rules",
    "charsmap_with_name",
    "compile_charsmap",
    "compile_charsmap_tsv",
    "encode_message",
    "encode_pieces",
    "find_invalid_utf8",
    "from_oniguruma",
    "json_fields",
    "last_cut",
    "learn_merges",
    "line_breaks",
    "line_offsets",
    "matches_everything",
    "published_encodings",
    "read_normalizer_spec",
    "read_tokenizer_json",
    "sentencepiece_options",
    "set_process_cache_limit",
    "unicode_version",
    "write_normalizer_spec",
    "write_sentencepiece_text",
]


class Stored(NamedTuple):
    """A result of `CoreBPE.stored`, as a part of some bytes."""

    contents: bytes
    start: int
    end: int


def build_core(
    vocabulary: dict[bytes, int] | LearnedMerges | Stored, special_tokens: dict[str, int], pattern: str
) -> CoreBPE:
    """Builds the core, with a splitter in Python if the core does not take the pattern."""

    def build(splitter: Splitter | None = None) -> CoreBPE:
        if isinstance(vocabulary, LearnedMerges):
            return CoreBPE.trained(vocabulary, special_tokens, pattern, splitter)
        if isinstance(vocabulary, Stored):
            return CoreBPE.from_stored(*vocabulary, special_tokens, pattern, splitter)
        return CoreBPE(vocabulary, special_tokens, pattern, splitter)

    try:
        return build()
    except UnsupportedPatternError as refusal:
        return build(python_splitter(pattern, refusal))


def build_splitter(pattern: str) -> CoreSplitter:
    """Builds the core's splitter, around one in Python if the core does not take the pattern."""
    try:
        return CoreSplitter(pattern)
    except UnsupportedPatternError as refusal:
        return CoreSplitter(pattern, python_splitter(pattern, refusal))


def unicode_version(pattern: str) -> str | None:
    """Returns the version of Unicode by which the core splits with this pattern.

    `None` if the core does not take the pattern, so that the `regex` package splits.
    """
    try:
        CoreSplitter(pattern)
    except UnsupportedPatternError:
        return None
    return ".".join(map(str, UNICODE_VERSION))


def python_splitter(pattern: str, refusal: UnsupportedPatternError) -> Splitter:
    """Builds a splitter in Python; if that does not take the pattern either, raises the core's `refusal`."""
    # Only here: the regular expressions take longer to import than all of this package.
    from bytemill.splitting import Splitter

    try:
        return Splitter(pattern)
    except UnsupportedPatternError:
        raise refusal from None
