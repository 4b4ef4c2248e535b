"""Texts that a tokenizer is tried with before it takes the place of another."""

# ruff: noqa: RUF001 - letters that look like others

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bytemill.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytemill.hf.engine import Engine

__all__ = ["check", "set_lengths"]

# Scripts, spaces, line ends, numbers, contractions, code, marks in and out of order, what is no text.
SAMPLES = [
    "",
    " ",
    "   ",
    "a",
    " a",
    "Hello, world!",
    "  leading and trailing  ",
    "It's 1234567 o'clock; we'LL see, they'd've said \u2018don\u2019t\u2019.",
    "line\nline\r\nline\n\n\n  indented\t\ttabs\u00a0\u3000\u2003wide\u200b\ufeff",
    "def f(x):\n    return [i**2 for i in range(x)]  # \u2581 not a space\n",
    'CamelCase snake_case HTTPServer 3.14e-10 x=1;y=2 //path/to/file.txt {"a": [null, 1]}',
    "\u00c5ngstr\u00f6m A\u030angstro\u0308m \u1e69 s\u0323\u0307 s\u0307\u0323 \ufb03 \u2126 \u01c4 \u0130",
    "Привет, как дела? И\u0306 и й. Ελληνικά ῌ ᾳ\u0301",
    "你好，世界。私は学生ですか\u3099。ｶﾞ ａｂｃ １２３ ①",
    "한국어 \u1112\u1161\u11ab\u1100\u116e\u11a8 \uac00\u11a8",
    "हिन्दी \u0915\u093c\u0958 বাংলা \u09c7\u09be தமிழ் ภาษาไทย",
    "العربية \u064f\u0651\u0651\u064f עִבְרִית ۱۲۳",
    "😀 👩\u200d👩\u200d👧 🇺🇸 \u2764\ufe0f 𝕏 𠮷",
    "\x00\x01\x1b[0m\x7f\x85\ufffd\ufffe\ue000\U0010ffff",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa !!!!!!!!!!!!???????? ================",
    "<s></s><unk> <pad> <|endoftext|><|im_start|>user\n<|im_end|> [CLS][SEP] <0x41> </w> \u0120",
]


def check(original: Any, engine: Engine) -> None:
    """Compares IDs and texts on samples.

    Args:
        original: The `tokenizers.Tokenizer`.
        engine: What is to take its place.

    Raises:
        VocabularyError: They differ.
        RuntimeError: Another thread uses the tokenizer, which refuses to change its settings then.
    """
    added = [token.content for token in engine.added.by_id.values()]
    around = "".join(f"a {content} b{content}" for content in added)
    samples = [*SAMPLES, around, *added, *(f"x {content}  y" for content in added)]
    frame = engine.frames[True]
    before = [extra.token_id for extra in frame.before]
    after = [extra.token_id for extra in frame.after]
    with plain(original), failures_named():
        framed = original.encode(samples[5]).ids
        # A tokenizer remembers what added tokens were: which are special, what normalizing made of them.
        rows = [*ids_of(original, samples), *([token_id] for token_id in engine.added.by_id)]
        decoded = {skips: original.decode_batch(rows, skip_special_tokens=skips) for skips in (False, True)}
        theirs = {True: rows[: len(samples)]}
        original.encode_special_tokens = True
        theirs[False] = ids_of(original, samples)
    for finds_special, their_rows in theirs.items():
        our_rows = engine.rows(samples, finds_special=finds_special)
        for sample, our, their in zip(samples, our_rows, their_rows, strict=True):
            if our != their:
                raise VocabularyError(f"the token IDs of {sample!r} would be {our}, and are {their}")
    ours = engine.rows([samples[5]], finds_special=True)[0]
    if framed != before + ours + after:
        raise VocabularyError(
            f"the token IDs of {samples[5]!r} would be {before + ours + after}, and are {framed}"
        )
    for skips, their_texts in decoded.items():
        our_texts = engine.decode_batch(rows, skip_special=skips)
        for ids, our_text, their_text in zip(rows, our_texts, their_texts, strict=True):
            if our_text != their_text:
                raise VocabularyError(f"the text of {ids} would be {our_text!r}, and is {their_text!r}")


@contextmanager
def failures_named() -> Iterator[None]:
    """Converts what `tokenizers` raises for a text that a model cannot encode, without an unknown token."""
    try:
        yield
    except Exception as error:
        if type(error) is not Exception:
            raise
        raise VocabularyError(f"tokenizers cannot encode some texts with this tokenizer: {error}") from error


def ids_of(original: Any, texts: list[str]) -> list[list[int]]:
    """Returns the IDs of texts, without what is put around them."""
    return [encoded.ids for encoded in original.encode_batch(texts, add_special_tokens=False)]


@contextmanager
def plain(original: Any) -> Iterator[None]:
    """Takes settings out of a tokenizer for a moment: truncation, padding and `encode_special_tokens`."""
    truncation, padding, splits = original.truncation, original.padding, original.encode_special_tokens
    try:
        original.no_truncation()
        original.no_padding()
        original.encode_special_tokens = False
        yield
    except BaseException as error:
        # It is no `Exception`, and has no public name.
        if type(error).__name__ == "PanicException":
            raise VocabularyError(f"tokenizers panics on samples of text: {error}") from None
        raise
    finally:
        set_lengths(original, truncation, padding)
        original.encode_special_tokens = splits


def set_lengths(original: Any, truncation: dict[str, Any] | None, padding: dict[str, Any] | None) -> None:
    """Sets the truncation and padding of a tokenizer, which are `None` for none."""
    if truncation is None:
        original.no_truncation()
    elif truncation != original.truncation:
        original.enable_truncation(**truncation)
    if padding is None:
        original.no_padding()
    elif padding != original.padding:
        original.enable_padding(**padding)
