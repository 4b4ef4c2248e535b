"""What is built of the compiled core, which does not take every pattern: then `splitting` is its splitter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill._core import UNICODE_VERSION, CoreBPE, LearnedMerges
from bytemill._core import Splitter as CoreSplitter
from bytemill.errors import UnsupportedPatternError

if TYPE_CHECKING:
    from bytemill.splitting import Splitter

__all__ = ["build_core", "build_splitter", "unicode_version"]


def build_core(
    vocabulary: dict[bytes, int] | LearnedMerges, special_tokens: dict[str, int], pattern: str
) -> CoreBPE:
    """Builds the core, with a splitter in Python if the core does not take the pattern."""

    def build(splitter: Splitter | None = None) -> CoreBPE:
        if isinstance(vocabulary, LearnedMerges):
            return CoreBPE.trained(vocabulary, special_tokens, pattern, splitter)
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
    """Gives the version of Unicode that says what a letter is where the core splits by this pattern.

    `None` if the core does not take the pattern, so that the `regex` package splits in its place.
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
