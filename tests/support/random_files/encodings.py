"""Comparisons of an `Encoding` with `tokenizers`, or with its own definition, for a file and two texts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from bytemill import VocabularyError
from support.random_files.answers import (
    EVERY,
    Answers,
    Case,
    NoAnswerError,
    Subject,
    expected,
    found,
    ids_for,
)

__all__ = ["ENCODINGS"]


def offsets(subject: Subject, case: Case) -> Answers:
    """Encodes a text with where its tokens are."""

    def row(ids: list[int], spans: list[tuple[int, int]]) -> Any:
        return subject.blurred({"ids": ids, "offsets": spans, "tokens": [""] * len(ids)})

    def theirs() -> Any:
        encoded = subject.bare.encode(case.text)
        return row(encoded.ids, encoded.offsets)

    def ours() -> Any:
        encoded = subject.encoding.encode_with_offsets(case.text, **EVERY)
        spans = zip(encoded.starts.tolist(), encoded.ends.tolist(), strict=True)
        return row(encoded.ids.tolist(), list(spans))

    return expected(theirs), found(ours)


def arrays(subject: Subject, case: Case) -> Answers:
    """Encodes texts to arrays, to lists and to numbers of tokens, by each way to them."""
    batch, encoding = [case.text, case.other, ""], subject.encoding

    def theirs() -> Any:
        rows = [encoded.ids for encoded in subject.bare.encode_batch(batch)]
        return [rows] * 3 + [[*map(len, rows)]] * 2

    def ours() -> Any:
        values, bounds = encoding.encode_batch_to_numpy(batch, **EVERY)
        return [
            [row.tolist() for row in np.split(values, bounds[1:-1])],
            encoding.encode_batch(batch, **EVERY),
            [row.tolist() for row in encoding.encode_iter(batch, batch_size=2, **EVERY)],
            encoding.count_batch(batch, **EVERY).tolist(),
            [encoding.count(text, **EVERY) for text in batch],
        ]

    return expected(theirs), found(ours)


def templates(subject: Subject, case: Case) -> Answers:
    """Encodes texts to arrays with the tokens of the post-processor."""
    whole = subject.without("truncation", "padding")

    def ours() -> Any:
        values, bounds = subject.encoding.encode_batch_to_numpy(
            [case.text, case.other], add_special_tokens=True, **EVERY
        )
        return [row.tolist() for row in np.split(values, bounds[1:-1])]

    return expected(lambda: [each.ids for each in whole.encode_batch([case.text, case.other])]), found(ours)


def ordinary_ids(subject: Subject, case: Case) -> Answers:
    """Encodes a text in which special tokens are text, by each way to its ids."""
    encoding = subject.encoding

    def theirs() -> Any:
        subject.bare.encode_special_tokens = True
        try:
            return [subject.bare.encode(case.text).ids] * 2
        finally:
            subject.bare.encode_special_tokens = False

    def ours() -> Any:
        return [
            encoding.encode_ordinary(case.text),
            encoding.encode_bytes(case.text.encode()),
        ]

    return expected(theirs), found(ours)


def explanations(subject: Subject, case: Case) -> Answers:
    """Explains a text piece by piece, for models that can be explained."""
    encoding = subject.encoding
    try:
        encoding.explain("")
    except VocabularyError:
        raise NoAnswerError from None
    return (
        found(lambda: encoding.encode_ordinary(case.text)),
        found(lambda: [token for piece in encoding.explain(case.text) for token in piece.ids]),
    )


def decoders(subject: Subject, case: Case) -> Answers:
    """Decodes ids at once, and by a stream that gets some at a time."""
    dice, encoding = case.dice(), subject.encoding
    known = {*subject.theirs.get_vocab().values()}
    ids = [token for token in ids_for(subject, case) if token in known]

    def ours() -> Any:
        stream, rest, parts = encoding.stream_decoder(), ids, []
        while rest:
            size = dice.choice([1, 1, 2, 5])
            parts.append(stream.push(rest[:size]))
            rest = rest[size:]
        return [encoding.decode(ids), "".join([*parts, stream.flush()])]

    return expected(lambda: [subject.bare.decode(ids, skip_special_tokens=False)] * 2), found(ours)


def first_drifts(subject: Subject, case: Case) -> Answers:
    """Finds the first of some ids that encoding their text would not give."""
    encoding = subject.encoding
    known = {*subject.theirs.get_vocab().values()}
    special = {encoding.encode_single_token(token) for token in encoding.special_tokens_set}
    ids = [token for token in ids_for(subject, case) if token in known - special]

    def definition() -> Any:
        again = encoding.encode_ordinary(encoding.decode_bytes(ids).decode())
        pairs = zip(ids, again, strict=False)
        same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        drift = None if same == len(ids) == len(again) else same
        return drift, drift is None, again

    def ours() -> Any:
        return encoding.first_drift(ids), encoding.is_canonical(ids), encoding.canonicalize(ids)

    try:
        encoding.decode_bytes(ids).decode()
    except UnicodeDecodeError:
        raise NoAnswerError from None
    return found(definition), found(ours)


ENCODINGS = [offsets, arrays, templates, ordinary_ids, explanations, decoders, first_drifts]
