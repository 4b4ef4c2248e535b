"""Chats as tokens: what stands around messages is special tokens, what they contain is ordinary text.

Each format writes a message as special tokens and texts in turn. `harmony` is that of o200k_harmony, whose
special tokens are published. The ids of `chatml` are not: they are those that other tools assume for the chat
models of cl100k_base.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.playground.wire import rule_of
from bytemill.registry import get_encoding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytemill.core import Encoding

__all__ = ["FORMATS", "Format", "Message", "chat_tokens"]


class Message(NamedTuple):
    """A message of a chat.

    Attributes:
        role: Who says it.
        content: What is said.
    """

    role: str
    content: str


class Format(NamedTuple):
    """How a chat is written.

    Attributes:
        encoding: The name of the encoding.
        start: The special token before the role.
        content: The special token between role and content.
        end: The special token behind the content.
        assumed: The ids of special tokens that the encoding does not have.
    """

    encoding: str
    start: str
    content: str
    end: str
    assumed: dict[str, int]

    def open(self) -> Encoding:
        """Returns the encoding with the special tokens of the format."""
        encoding = get_encoding(self.encoding)
        return encoding.with_special_tokens(self.assumed) if self.assumed else encoding


FORMATS = {
    "harmony": Format("o200k_harmony", "<|start|>", "<|message|>", "<|end|>", {}),
    "chatml": Format(
        "cl100k_base",
        "<|im_start|>",
        "<|im_sep|>",
        "<|im_end|>",
        {"<|im_start|>": 100264, "<|im_end|>": 100265, "<|im_sep|>": 100266},
    ),
}


def segments(form: Format, messages: Sequence[Message], answering: str | None) -> Iterator[tuple[str, bool]]:
    """Yields the texts of a chat, and whether each is a special token of the format.

    Args:
        form: The format.
        messages: The messages.
        answering: The role whose message is asked for, if any: its head is the end of the chat.
    """
    for message in messages:
        yield from ((form.start, True), (message.role, False), (form.content, True))
        yield from ((message.content, False), (form.end, True))
    if answering is not None:
        yield from ((form.start, True), (answering, False))


def chat_tokens(
    form: Format, messages: Sequence[Message], answering: str | None, *, parsed: bool
) -> dict[str, Any]:
    """Encodes a chat.

    Args:
        form: The format.
        messages: The messages.
        answering: The role whose message is asked for, if any.
        parsed: Whether special tokens that a message contains become tokens, as in a careless program.

    Returns:
        JSON-compatible values: the text, the ids, the bytes of each token, the indices of special tokens, and
        the number of tokens if the whole text were ordinary text.
    """
    encoding = form.open()
    ids: list[int] = []
    special: list[int] = []
    text = ""
    for part, marks in segments(form, messages, answering):
        text += part
        made = encoding.encode(part, **rule_of("allow" if marks or parsed else "text"))
        special += [len(ids) + i for i, each in enumerate(made) if encoding.is_special_token(each)]
        ids += made
    return {
        "encoding": form.encoding,
        "text": text,
        "ids": ids,
        "lengths": [len(value) for value in encoding.decode_tokens_bytes(ids)],
        "special": special,
        "as_text": encoding.count(text),
    }
