"""Training with a function that cuts sentences, against the real package."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bytemill.sentencepiece as spm
from support import sentencepiece as real
from support.piece_training import random_options, random_sentences


def trained(module: Any, options: dict[str, Any]) -> Any:
    """Returns the model that is trained, or the type and the message of the error."""
    written = io.BytesIO()
    try:
        module.SentencePieceTrainer.train(model_writer=written, **options)
    except Exception as error:  # noqa: BLE001 - whatever it is
        # Without places in sources.
        return type(error), re.sub(r"src/\S+ \[.*?\] ", "", str(error).split("\n")[0])
    return written.getvalue()


def by_twos(sentence: str) -> list[str]:
    return [sentence[start : start + 2] for start in range(0, len(sentence), 2)]


def behind_vowels(sentence: str) -> list[str]:
    return re.split(r"(?<=[aeiou])", sentence)


PRETOKENIZERS: list[tuple[Callable[[str], Any], bool]] = [
    (by_twos, False),
    (behind_vowels, False),
    (lambda sentence: [sentence], False),
    (lambda sentence: (sentence[:3].encode(), sentence[3:]), False),
    (lambda sentence: sentence, False),
    (lambda sentence: [sentence.upper(), "x"], True),
    (lambda sentence: [letter for letter in sentence if letter in "ab\u2581"], True),
]


def test_random_options_with_a_pretokenizer() -> None:
    learns = 0
    for seed in range(60):
        choice = random.Random(seed)
        sentences = random_sentences(choice)
        options = random_options(choice)
        options.pop("pretokenization_delimiter", None)
        if choice.random() < 0.5:
            options.setdefault("normalization_rule_name", "identity")
        cut, inconsistent = choice.choice(PRETOKENIZERS)
        options |= {"pretokenizer": cut, "allow_inconsistent_pretokenization": inconsistent}
        results = []
        for module in (real.library(), spm):
            given = {**options, "sentence_iterator": iter(sentences), "model_type": "bpe", "minloglevel": 3}
            results.append(trained(module, given))
        if isinstance(results[0], bytes):
            assert results[1] == results[0], (seed, options)
            learns += 1
        else:
            assert results[1][0] is results[0][0], (seed, options, results)
    assert learns > 20


def test_a_pretokenizer_is_given_normalized_sentences_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.txt").write_bytes(b"b <s> \xef\xbc\xa1\nlong long long\n\n\xe2\x96\x85\nx\r\ny")
    seen: dict[Any, list[str]] = {}
    for module in (real.library(), spm):

        def record(sentence: str, key: Any = module) -> list[str]:
            seen.setdefault(key, []).append(sentence)
            return [sentence]

        options = {"input": "c.txt", "vocab_size": 9, "model_type": "bpe", "max_sentence_length": 10}
        assert trained(module, {**options, "pretokenizer": record, "hard_vocab_limit": False}) != b""
    assert sorted(seen[spm]) == sorted(seen[real.library()])
    assert seen[spm] == ["\u2581b\u2581\x1f\u2581A", "\u2581x", "\u2581y"]


@pytest.mark.parametrize(
    ("cut", "options"),
    [
        (lambda sentence: [sentence, "x"], {}),
        (lambda sentence: [sentence.replace("\u2581", " ")], {"allow_inconsistent_pretokenization": True}),
        (lambda sentence: (letter for letter in sentence), {}),
        (lambda sentence: None, {}),  # noqa: ARG005
        (lambda sentence: 1 / 0, {}),  # noqa: ARG005
        (lambda sentence: [1], {}),  # noqa: ARG005
        ("no function", {}),
        (by_twos, {"pretokenization_delimiter": "b"}),
    ],
)
def test_pretokenizers_that_fail(cut: Any, options: dict[str, Any]) -> None:
    given = {"vocab_size": 12, "model_type": "bpe", "pretokenizer": cut, **options}
    theirs, ours = (
        trained(module, {**given, "sentence_iterator": iter(["a b c ab"])})
        for module in (real.library(), spm)
    )
    assert ours[0] is theirs[0]
    # Casts and conditions are worded as in C++ there.
    beginning = re.split(r"not an instance|Unable|\[", theirs[1])[0][:60]
    assert ours[1].startswith(beginning), (ours, theirs)
