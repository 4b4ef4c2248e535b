"""Fuzz training of SentencePiece models: the files of the real package, for random corpora and options."""

from __future__ import annotations

import io
import os
import random
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import note
from hypothesis import strategies as st

import bytemill
import bytemill.sentencepiece as spm
from support.apart import Apart, EndedError
from support.fuzzing import run, within
from support.piece_training import (
    COMPUTED,
    odd_options,
    random_options,
    random_sentences,
    trained_by_sentencepiece,
    with_counts,
)
from support.strategies import any_text, few_letters, texts

FOLDER = Path(tempfile.mkdtemp(prefix="fuzz"))
THEIRS = Apart()

# What was compared, and what the real package gave no answer to.
COMPARED = Counter({"models": 0, "refusals": 0})
WITHOUT_ANSWER = "aborts"

TEXTS = st.one_of(texts, any_text, few_letters())

# Hypothesis makes examples simpler by those that it draws, but nearly all options are set then.
RANDOMS = st.one_of(st.randoms(use_true_random=False), *[st.integers(0, 1 << 32).map(random.Random)] * 4)

RULES = ["identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"]


def corpus(data: st.DataObject, choice: random.Random) -> list[str]:
    """Returns sentences without line breaks."""
    if data.draw(st.integers(0, 3), label="random"):
        sentences = random_sentences(choice)
    else:
        sentences = data.draw(st.lists(TEXTS, min_size=1, max_size=8), label="texts")
        sentences *= data.draw(st.sampled_from([1, 1, 5]))
    return [re.sub(r"[\r\n]", "", sentence) for sentence in sentences]


def options_of(data: st.DataObject, choice: random.Random) -> dict[str, Any]:
    options = random_options(choice)
    options.setdefault("normalization_rule_name", data.draw(st.sampled_from(RULES)))
    if data.draw(st.integers(0, 2), label="odd") == 0:
        options |= odd_options(choice)
    return options


def theirs(sentences: object, options: dict[str, Any], function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns what the real package does, an error as a value; `None` if it aborts."""
    note(f"{sentences!r}, {options!r}")
    try:
        return THEIRS.call(function, *arguments)
    except EndedError:
        return None
    except UnicodeDecodeError as error:
        # Of its message, which quotes the text.
        return RuntimeError(str(error))
    except Exception as error:  # noqa: BLE001 - whatever it raises
        return error


def compare(expected: Any, call: Callable[[], Any], *refusals: type[Exception]) -> None:
    """Checks that a call returns what is expected, or is refused where the real package refuses."""
    result: Any
    with within(), warnings.catch_warnings():
        # Of symbols of which one begins with another.
        warnings.simplefilter("ignore")
        try:
            result = call()
        except refusals as error:
            result = error
    if expected is None:
        COMPARED[WITHOUT_ANSWER] += 1
    elif isinstance(expected, Exception):
        assert isinstance(result, Exception), expected
        assert type(result) is type(expected) or RuntimeError not in refusals, (result, expected)
        # Of several reasons either may come first.
        numbers = [COMPUTED.findall(str(refusal)) for refusal in (result, expected)]
        assert not all(numbers) or numbers[0] == numbers[1], (result, expected)
        COMPARED["refusals"] += 1
    else:
        assert result == expected
        COMPARED["models"] += 1


def models(data: st.DataObject) -> None:
    """Checks models that `train` makes of texts, some of several lines, with any threads."""
    choice = data.draw(RANDOMS)
    sentences, options = corpus(data, choice), options_of(data, choice)
    if data.draw(st.integers(0, 6), label="counted") == 0:
        sentences, options["input_format"] = with_counts(choice, sentences), "tsv"
    expected = theirs(sentences, options, trained_by_sentencepiece, sentences, options, {})
    lines = data.draw(st.sampled_from([1, 1, 3, 1000]), label="lines")
    documents = ["\n".join(sentences[at : at + lines]) for at in range(0, len(sentences), lines)]
    threads = data.draw(st.integers(1, 3), label="threads")
    size = options.pop("vocab_size")

    def train() -> bytes | None:
        encoding = bytemill.train(
            iter(documents),
            size,
            kind="sentencepiece",
            num_threads=threads,
            progress=False,
            **options,
        )
        return encoding.definition.model

    compare(expected, train, ValueError)


def by_twos(sentence: str) -> list[str]:
    return [sentence[start : start + 2] for start in range(0, len(sentence), 2)]


def before_marks(sentence: str) -> list[bytes]:
    return [part.encode() for part in re.split("(?=\u2581)", sentence)]


def shouted(sentence: str) -> Sequence[str]:
    return sentence.upper(), "x"


CUTS: list[Callable[[str], Any] | None] = [None, None, None, by_twos, before_marks, shouted]


def written(module: str, given: dict[str, Any], sentences: Sequence[str | bytes]) -> bytes:
    """Returns the model that the trainer of a module writes."""
    trainer: Any = spm if module == "ours" else __import__("sentencepiece")
    output = io.BytesIO()
    trainer.SentencePieceTrainer.train(
        model_writer=output, sentence_iterator=iter(sentences), model_type="bpe", minloglevel=3, **given
    )
    return output.getvalue()


def faces(data: st.DataObject) -> None:
    """Checks the trainer that has the names of the real one, with iterators and functions that cut."""
    choice = data.draw(RANDOMS)
    sentences: list[Any] = [*corpus(data, choice)]
    options = options_of(data, choice)
    cut = data.draw(st.sampled_from(CUTS), label="cut")
    if cut is not None:
        options.pop("pretokenization_delimiter", None)
        options.pop("input_format", None)
        options |= {
            "pretokenizer": cut,
            "allow_inconsistent_pretokenization": cut is shouted or data.draw(st.booleans()),
        }
    if data.draw(st.integers(0, 3), label="bytes") == 0:
        ends = data.draw(st.sampled_from([b"", b"\n", b"\r\n", b"\xff", b"\xe4\xb8"]))
        sentences = [sentence.encode() + ends for sentence in sentences]
    expected = theirs(sentences, options, written, "theirs", options, sentences)
    compare(expected, lambda: written("ours", options, sentences), RuntimeError, ValueError)


def saved(module: str, folder: Path, arguments: dict[str, Any]) -> bytes:
    """Returns the two files that the trainer of a module writes in a folder."""
    trainer: Any = spm if module == "ours" else __import__("sentencepiece")
    os.chdir(folder)
    trainer.SentencePieceTrainer.train(model_prefix="m", model_type="bpe", minloglevel=3, **arguments)
    return Path("m.model").read_bytes() + Path("m.vocab").read_bytes()


def files(data: st.DataObject) -> None:
    """Checks training on files of any bytes."""
    choice = data.draw(RANDOMS)
    options = options_of(data, choice)
    lines = [sentence.encode() for sentence in corpus(data, choice)]
    if options.get("input_format") == "tsv":
        lines = [line.replace(b"\t", b"") + choice.choice([b"\t1", b"\t7"]) for line in lines]
    part = st.one_of(
        st.sampled_from([*lines, b"", b"\r", b"a\r b", b"\xff", b"\xe2\x96\x81", b"\xe2\x96"]),
        st.binary(max_size=5),
    )
    lines += data.draw(st.lists(part, max_size=4), label="more")
    # To it an empty file before others is a line, which matters where lines have counts.
    cut = data.draw(st.integers(int(options.get("input_format") == "tsv"), len(lines)), label="cut")
    end = data.draw(st.sampled_from([b"", b"\n", b"\n\n"]), label="end")
    contents = [b"\n".join(lines[:cut]) + end, b"\n".join(lines[cut:])]
    for name, content in zip(("a.txt", "b.txt"), contents, strict=True):
        (FOLDER / name).write_bytes(content)
    arguments = {"input": ["a.txt", "b.txt"], "num_threads": data.draw(st.integers(1, 3)), **options}
    expected = theirs(contents, options, saved, "theirs", FOLDER, arguments)
    compare(expected, lambda: saved("ours", FOLDER, arguments), RuntimeError, ValueError)


if __name__ == "__main__":
    run("trainers", [models, faces, files], COMPARED)
