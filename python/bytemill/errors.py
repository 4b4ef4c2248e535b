"""The errors of this library, each a subclass of the builtin that tiktoken raises in the same case.

Code that catches `ValueError` or `KeyError` keeps working, and messages begin like those of tiktoken. Catch
the class to read its attributes. All errors can be pickled, so they work in process pools.
"""

from __future__ import annotations

__all__ = [
    "DisallowedSpecialTokenError",
    "InternalError",
    "JobError",
    "PatternError",
    "UnknownEncodingError",
    "UnknownTokenError",
    "UnsupportedPatternError",
    "VocabularyError",
]


class PatternError(ValueError):
    """A split pattern that does not compile, can match the empty string or fails while it matches."""


class UnsupportedPatternError(PatternError):
    """A split pattern that the compiled engine does not support: `Encoding` then tries `regex`."""


class VocabularyError(ValueError):
    """Tokens, ranks or special tokens that form no vocabulary, or a file that cannot be read exactly."""


class UnknownEncodingError(ValueError):
    """An unknown name of an encoding."""


class UnknownTokenError(KeyError):
    """A token ID, or the bytes or text of a token, that is not in the vocabulary."""


class InternalError(RuntimeError):
    """A broken invariant of this library: always a bug worth reporting."""


class JobError(RuntimeError):
    """A job whose processes die before they have done their work."""


class DisallowedSpecialTokenError(ValueError):
    """Text contains a special token that the caller did not allow.

    Attributes:
        token: The special token that was found.
        start: The offset at which it starts in the text, in characters; a surrogate pair is one.
    """

    def __init__(self, token: str, start: int) -> None:
        """Initialises the error for `token`, found at `start`."""
        self.token = token
        self.start = start
        super().__init__(
            f"Encountered text corresponding to disallowed special token {token!r}.\n"
            f"If you want this text to be encoded as a special token, "
            f"pass it to `allowed_special`, e.g. `allowed_special={{{token!r}, ...}}`.\n"
            f"If you want this text to be encoded as normal text, disable the check for this token "
            f"by passing `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
            f"To disable this check for all special tokens, pass `disallowed_special=()`.\n"
        )

    def __reduce__(self) -> tuple[type[DisallowedSpecialTokenError], tuple[str, int]]:
        # The default would call the class with `args`, the message.
        return (type(self), (self.token, self.start))
