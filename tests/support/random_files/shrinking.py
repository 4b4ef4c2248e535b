"""Makes a file and texts small, as long as a comparison of them differs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from support.open_models.vocabularies import OPTIONS
from support.random_files.answers import Case
from support.random_files.files import File

__all__ = ["shrink"]

COMPONENTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding")
TEMPLATES = ("single", "pair")
STEPS = ("normalizers", "pretokenizers", "processors", "decoders", *TEMPLATES)
# What options of a model are when they do nothing.
NOTHING = {name: value for name, value in OPTIONS.items() if name not in {"type", "dropout"}} | {
    "unk_id": None
}
# What a map of characters, which is large, may stand for.
SIMPLE: list[dict[str, Any]] = [
    {"type": "Replace", "pattern": {"String": "a"}, "content": "b"},
    {"type": "NFC"},
    {"type": "NFKD"},
]


class Found(NamedTuple):
    """A file and what it is tried with."""

    file: File
    case: Case


def shrink(file: File, case: Case, differs: Callable[[File, Case], bool]) -> tuple[File, Case]:
    """Returns the smallest file and case that were found to differ.

    Args:
        file: A file.
        case: What it was tried with.
        differs: Tells whether a file and a case differ; false if the file is none.
    """
    smallest = Found(file, case)
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for smaller in (texts, components, steps, options, model_options, added_tokens, vocabularies):
            # From the result of each success on, until this way finds none.
            while (one := next((each for each in smaller(smallest) if differs(*each)), None)) is not None:
                smallest, is_smaller = one, True
    return smallest.file, smallest.case


def without_parts(length: int) -> Iterator[tuple[int, int]]:
    """Yields bounds of parts to leave out: halves first, then ever smaller ones."""
    size = length
    while size:
        for start in range(0, length, size):
            yield start, min(start + size, length)
        size //= 2


def texts(found: Found) -> Iterator[Found]:
    """Yields shorter texts, and the first seeds."""
    file, case = found
    for name in ("other", "text"):
        text = getattr(case, name)
        for start, end in without_parts(len(text)):
            yield Found(file, case._replace(**{name: text[:start] + text[end:]}))
    for seed in range(min(case.seed, 30)):
        yield Found(file, case._replace(seed=seed))


def components(found: Found) -> Iterator[Found]:
    """Yields files without a component."""
    for name in COMPONENTS:
        if found.file[name] is not None:
            yield Found(found.file | {name: None}, found.case)


def changed(found: Found, place: list[Any], value: Any) -> Found:
    """Returns a file in which there is another value at a place, which is a path of keys."""
    file = copy.deepcopy(found.file)
    at: Any = file
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return Found(file, found.case)


def places(value: Any, place: list[Any]) -> Iterator[tuple[list[Any], Any]]:
    """Yields the paths of all objects in a value."""
    if isinstance(value, dict):
        yield place, value
        for key, each in value.items():
            yield from places(each, [*place, key])
    elif isinstance(value, list):
        for key, each in enumerate(value):
            yield from places(each, [*place, key])


def steps(found: Found) -> Iterator[Found]:
    """Yields files with one step instead of a sequence, and with sequences that lack one."""
    for name in COMPONENTS:
        for place, step in places(found.file[name], [name]):
            for key in STEPS:
                parts = step.get(key, [])
                for number, part in enumerate(parts):
                    if key not in TEMPLATES:
                        yield changed(found, place, part)
                    yield changed(found, [*place, key], parts[:number] + parts[number + 1 :])


def options(found: Found) -> Iterator[Found]:
    """Yields files in which options are as if they were not there, numbers are 0, and maps are simple."""
    for name in COMPONENTS:
        for place, step in places(found.file[name], [name]):
            for key, value in step.items():
                if value is True or (type(value) is int and value > 0):
                    yield changed(found, [*place, key], type(value)(0))
                if type(value) is int and value > 1:
                    yield changed(found, [*place, key], value - 1)
            for simple in SIMPLE if "precompiled_charsmap" in step else []:
                yield changed(found, place, simple)


def model_options(found: Found) -> Iterator[Found]:
    """Yields files whose models have fewer options."""
    model = found.file["model"]
    for name, value in model.items():
        if value is None or value is False:
            fewer = {key: each for key, each in model.items() if key != name}
            yield changed(found, ["model"], fewer)
    for key, value in NOTHING.items():
        if model.get(key, value) != value:
            yield changed(found, ["model", key], value)


def added_tokens(found: Found) -> Iterator[Found]:
    """Yields files without some added tokens, or with fewer of their flags."""
    entries = found.file["added_tokens"]
    for start, end in without_parts(len(entries)):
        yield changed(found, ["added_tokens"], entries[:start] + entries[end:])
    for place, entry in enumerate(entries):
        for flag, value in entry.items():
            if value is True:
                yield changed(found, ["added_tokens", place, flag], False)  # noqa: FBT003 - a value


def vocabularies(found: Found) -> Iterator[Found]:
    """Yields files with fewer merges and fewer tokens, whose ids are kept."""
    model = found.file["model"]
    merges = model.get("merges", [])
    for start, end in without_parts(len(merges)):
        yield changed(found, ["model", "merges"], merges[:start] + merges[end:])
    vocab = model["vocab"]
    entries = list(vocab.items()) if isinstance(vocab, dict) else vocab
    for start, end in without_parts(len(entries)):
        fewer = entries[:start] + entries[end:]
        smaller = changed(found, ["model", "vocab"], dict(fewer) if isinstance(vocab, dict) else fewer)
        unknown = model.get("unk_id")
        if unknown is not None and unknown >= end:
            smaller.file["model"]["unk_id"] = unknown - (end - start)
        yield smaller
