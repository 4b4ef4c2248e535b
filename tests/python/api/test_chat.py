"""Counts of chat messages: those of the published recipe, and the shapes that agents send."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

import bytemill
from bytemill.chat import count_messages, fit_messages

WORDS = ["a token", "Hello!", "<|endoftext|>", "世界", "", " ", "fn(x)\n", "😀" * 3]


def recipe(messages: list[dict[str, str]], encoding: Any) -> int:
    """Counts as OpenAI's published recipe does, for messages of text."""
    total = 3
    for message in messages:
        total += 3
        for key, value in message.items():
            total += len(encoding.encode(value, disallowed_special=()))
            if key == "name":
                total += 1
    return total


def random_chat(dice: random.Random) -> list[dict[str, str]]:
    """Returns messages of text."""
    chat = []
    for _ in range(dice.randint(0, 8)):
        message = {"role": dice.choice(["system", "user", "assistant"])}
        message["content"] = "".join(dice.choices(WORDS, k=dice.randint(0, 5)))
        if dice.random() < 0.3:
            message["name"] = dice.choice(["ann", "bob_2"])
        chat.append(message)
    return chat


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4", "gpt-3.5-turbo"])
def test_counts_are_those_of_the_recipe(model: str) -> None:
    encoding = bytemill.encoding_for_model(model)
    for seed in range(300):
        chat = random_chat(random.Random(seed))  # noqa: S311 - for tests
        assert count_messages(chat, model) == recipe(chat, encoding)
        assert count_messages(iter(chat), encoding) == recipe(chat, encoding)


CALL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"q": "fox"}'}}


def test_messages_of_agents() -> None:
    count = bytemill.encoding_for_model("gpt-4o").count
    asking = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert count_messages([asking]) == 6 + count("assistant") + count("look_up") + count('{"q": "fox"}')
    old = {"role": "assistant", "content": None, "function_call": CALL["function"]}
    assert count_messages([old]) == count_messages([asking])
    result = {"role": "tool", "tool_call_id": "call_1", "content": "red"}
    assert count_messages([result]) == 6 + count("tool") + count("call_1") + count("red")
    parts = [{"type": "text", "text": "What is"}, {"type": "text", "text": "a token?"}]
    assert count_messages([{"role": "user", "content": parts}]) == 6 + sum(
        map(count, ("user", "What is", "a token?"))
    )
    unset: dict[str, Any] = {
        "role": "assistant",
        "content": "",
        "refusal": None,
        "annotations": [],
        "tool_calls": [],
    }
    assert count_messages([unset]) == 6 + count("assistant")


def test_parts_that_are_not_text() -> None:
    chat = [
        {
            "role": "user",
            "content": [{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {}}],
        }
    ]
    with pytest.raises(
        ValueError, match=r"content of message 0 has a part that is not text.*tokens_per_image"
    ):
        count_messages(chat)
    assert count_messages(chat, tokens_per_image=85) == 85 + count_messages(
        [{"role": "user", "content": "What?"}]
    )


@pytest.mark.parametrize(
    ("chat", "reason"),
    [
        (["hello"], "expected messages as dictionaries.*got str at index 0"),
        ([{"role": "user", "content": ""}, SimpleNamespace(role="user")], r"at index 1.*model_dump\(\)"),
        ([{"role": "user", "content": 5}], "expected content of message 0 as a string.*got int"),
        ([{"role": "user", "content": [5]}], "expected content of message 0.*got int"),
    ],
)
def test_wrong_messages_are_explained(chat: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        count_messages(chat)
    with pytest.raises(TypeError, match=reason):
        fit_messages(chat, 1_000)


def test_unknown_models_are_explained() -> None:
    with pytest.raises(bytemill.UnknownEncodingError, match="Did you mean"):
        count_messages([], "gpt-4oo")


# --- Fitting ---


def test_the_latest_messages_are_kept() -> None:
    for seed in range(300):
        dice = random.Random(seed)  # noqa: S311 - for tests
        chat = [{"role": "system", "content": "Answer."}, *random_chat(dice)]
        limit = dice.randint(15, 120)
        first = 1 + [*(message["role"] == "system" for message in chat[1:]), False].index(False)
        ends = [
            [*chat[:first], *chat[start:]]
            for start in range(first, len(chat) + 1)
            if count_messages([*chat[:first], *chat[start:]]) <= limit
        ]
        if ends and (len(ends[0]) > first or first == len(chat)):
            assert fit_messages(chat, limit) == ends[0], seed
        else:
            with pytest.raises(ValueError, match=f"the limit is {limit}"):
                fit_messages(chat, limit)


def test_a_result_keeps_its_call() -> None:
    chat: list[dict[str, Any]] = [
        {"role": "developer", "content": "Use tools."},
        {"role": "user", "content": "a long question " * 20},
        {"role": "assistant", "content": None, "tool_calls": [CALL, CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "red"},
        {"role": "tool", "tool_call_id": "call_2", "content": "brown"},
        {"role": "user", "content": "And now?"},
    ]
    whole = count_messages(chat)
    assert fit_messages(chat, whole) == chat
    without_question = count_messages([chat[0], *chat[2:]])
    assert fit_messages(chat, without_question) == [chat[0], *chat[2:]]
    # Without its call, no result.
    assert fit_messages(chat, without_question - 1) == [chat[0], chat[5]]
    with pytest.raises(ValueError, match=r"take .* tokens or more"):
        fit_messages(chat[:5], count_messages([chat[0], *chat[3:5]]))


def test_each_message_is_counted_once() -> None:
    counted = []

    class Counting(bytemill.Encoding):
        def count(self, text: str, **more: Any) -> int:
            counted.append(text)
            return super().count(text, **more)

    encoding = Counting.from_definition(bytemill.get_encoding("gpt2").definition)
    chat = [{"role": "user", "content": f"message {i}"} for i in range(500)]
    kept = fit_messages(chat, 400, encoding)
    assert kept == chat[-len(kept) :]
    assert len(counted) == 2 * (len(kept) + 1)


# --- Counts of one's own ---


def test_a_count_of_the_caller_decides() -> None:
    for seed in range(300):
        dice = random.Random(seed)  # noqa: S311 - for tests
        chat: list[dict[str, Any]] = [{"role": "system", "content": "Answer."}, *random_chat(dice)]
        first = 1 + [*(message["role"] == "system" for message in chat[1:]), False].index(False)
        limit = dice.randint(15, 120)
        starts = [at for at in range(first, len(chat)) if chat[at]["role"] == "user"] or [first]
        ends = [[*chat[:first], *chat[start:]] for start in starts]
        fitting = [end for end in ends if count_messages(end) <= limit]
        if fitting:
            assert fit_messages(chat, limit, count=count_messages) == fitting[0], seed
        else:
            with pytest.raises(
                ValueError, match=f"take {count_messages(ends[-1])} tokens or more.*is {limit}"
            ):
                fit_messages(chat, limit, count=count_messages)


def test_a_count_is_called_a_few_times() -> None:
    counted = []

    def count(chat: list[Any]) -> int:
        counted.append(chat)
        return len(chat)

    chat = [{"role": "user", "content": f"message {i}"} for i in range(1000)]
    assert fit_messages(chat, 300, count=count) == chat[-300:]
    assert len(counted) <= 11
    # The model is not asked for.
    assert fit_messages(chat, 1000, "no-such-model", count=len) == chat
    assert fit_messages([], 0, count=len) == []
