"""Counts the tokens of chat messages, and keeps those that fit a limit.

A chat model reads one text, in which special tokens mark where each message begins and ends. Each provider
chooses them. The numbers here are those that OpenAI published for its chat models with `cl100k_base` and
`o200k_base`: an estimate. For billing, use the figures that come with each answer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from bytemill._named import encoding_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bytemill.core import Encoding

__all__ = ["count_messages", "fit_messages"]

# Tokens around each message, for a name, and before the reply.
PER_MESSAGE, PER_NAME, BEFORE_REPLY = 3, 1, 3

# Roles of the messages that say how to answer; those at the start of a chat stay.
INSTRUCTING = ("system", "developer")

# Roles of the messages that answer a call of the message before.
ANSWERING = ("tool", "function")


def count_messages(
    messages: Iterable[Mapping[str, Any]],
    model: str | Encoding = "gpt-4o",
    *,
    tokens_per_image: int | None = None,
) -> int:
    """Returns an estimate of the tokens of a chat, including those that prime the reply.

    All strings in a message count, including its role and the names and arguments of its tool calls. Special
    tokens in them are ordinary text, so user input cannot end a message.

    Args:
        messages: The messages, as chat APIs take them: `content` is a string, `None`, or a list of parts.
        model: The name of a model, or an encoding.
        tokens_per_image: The number of tokens that a part other than text, such as an image, counts.

    Raises:
        UnknownEncodingError: The model is unknown.
        TypeError: A message is not a mapping, or has a value that is neither text, `None`, nor as above.
        ValueError: A part is not text, and `tokens_per_image` is not given.

    Complexity:
        That of `Encoding.count` for all strings.
    """
    encoding = encoding_of(model, "model")
    counts = (tokens_of(message, index, encoding, tokens_per_image) for index, message in enumerate(messages))
    return BEFORE_REPLY + sum(counts)


def fit_messages(
    messages: Sequence[Mapping[str, Any]],
    limit: int,
    model: str | Encoding = "gpt-4o",
    *,
    tokens_per_image: int | None = None,
    count: Callable[[list[Mapping[str, Any]]], int] | None = None,
) -> list[Mapping[str, Any]]:
    """Returns the instructions at the start of a chat, and as many of the latest messages as fit.

    A tool's result is kept only together with the message that called the tool.

    Args:
        messages: The messages, as for `count_messages`.
        limit: The maximum of `count_messages` for the result.
        model: The name of a model, or an encoding.
        tokens_per_image: As for `count_messages`.
        count: Returns the number of tokens of a chat, instead of `count_messages`, such as with the chat
            template of an open model. More messages must not have fewer tokens. The latest messages then
            begin with a message of the user, as templates expect.

    Raises:
        UnknownEncodingError, TypeError: Same as `count_messages`.
        ValueError: The instructions and the last message, with the call that it answers, exceed the limit; or
            same as `count_messages`.

    Complexity:
        One `Encoding.count` for each string of the messages that are kept and of one more message; or, for n
        messages, O(log n) calls of `count`.
    """
    first = [*takewhile(lambda message: role_of(message) in INSTRUCTING, messages)]
    if count is not None:
        return fitted(first, messages[len(first) :], limit, count)
    encoding = encoding_of(model, "model")
    total = count_messages(first, encoding, tokens_per_image=tokens_per_image)
    start = kept = len(messages)
    for index in range(len(messages) - 1, len(first) - 1, -1):
        total += tokens_of(messages[index], index, encoding, tokens_per_image)
        if total > limit:
            break
        start = index
        if role_of(messages[index]) not in ANSWERING:
            kept = start
    if total > limit and kept == len(messages):
        raise too_long(total, limit)
    return [*first, *messages[kept:]]


def fitted(
    first: Sequence[Mapping[str, Any]],
    rest: Sequence[Mapping[str, Any]],
    limit: int,
    count: Callable[[list[Mapping[str, Any]]], int],
) -> list[Mapping[str, Any]]:
    """Returns the first messages, and as many of the rest, from their end, as fit by `count`."""
    # The shortest ends come first. Without a message of the user's there is only the whole.
    starts = [at for at in reversed(range(len(rest))) if role_of(rest[at]) == "user"] or [0]

    def chat(start: int) -> list[Mapping[str, Any]]:
        return [*first, *rest[start:]]

    fitting = bisect_right(starts, limit, key=lambda start: count(chat(start)))
    if fitting == 0:
        raise too_long(count(chat(starts[0])), limit)
    return chat(starts[fitting - 1])


def too_long(total: int, limit: int) -> ValueError:
    """Returns the error for a chat of which not even the last message fits."""
    return ValueError(
        f"the instructions and the last message take {total} tokens or more, and the limit is {limit}: "
        "shorten them, for instance by Encoding.truncate"
    )


def role_of(message: Mapping[str, Any]) -> object:
    """Returns the role of a message; `None` where it has none."""
    return message.get("role") if isinstance(message, Mapping) else None


def tokens_of(
    message: Mapping[str, Any], index: int, encoding: Encoding, tokens_per_image: int | None
) -> int:
    """Returns the tokens of the message at an index; same errors as `count_messages`."""
    if not isinstance(message, Mapping):
        raise TypeError(
            f"expected messages as dictionaries with role and content, got {type(message).__name__} at index "
            f"{index}; for objects of a client library, pass message.model_dump()"
        )
    total = PER_MESSAGE + (PER_NAME if message.get("name") else 0)
    for key, value in message.items():
        for text in texts_of(value, f"{key} of message {index}"):
            if text is not None:
                total += encoding.count(text)
            elif tokens_per_image is not None:
                total += tokens_per_image
            else:
                raise ValueError(
                    f"{key} of message {index} has a part that is not text: pass tokens_per_image, the "
                    "number of tokens that each such part counts"
                )
    return total


def texts_of(value: object, name: str) -> Iterator[str | None]:
    """Yields the texts of a value of a message, and `None` for each part that is something else."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and "arguments" in value:
        # The call of a function, whose arguments are JSON.
        yield from texts_of(value.get("name"), name)
        yield from texts_of(value["arguments"], name)
    elif isinstance(value, list):
        for part in value:
            if isinstance(part, Mapping) and "function" in part:
                yield from texts_of(part["function"], name)
            elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
                yield part["text"]
            elif isinstance(part, Mapping):
                yield None
            else:
                yield from texts_of(part, name)
    elif value is not None:
        raise TypeError(f"expected {name} as a string, None or a list of parts, got {type(value).__name__}")
