"""Comparisons of `bytemill.hf` with `tokenizers`, for a file and two texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenizers.decoders import DecodeStream

from bytemill import hf
from support.random_files.answers import Answers, Case, NoAnswerError, Subject, expected, found, ids_for

__all__ = ["FACES"]


def both(subject: Subject, call: Callable[[Any], Any]) -> Answers:
    """Returns what a call with the tokenizer of either library returns."""
    return expected(lambda: call(subject.theirs)), found(lambda: call(subject.face))


def texts(subject: Subject, case: Case) -> Answers:
    """Encodes a text, with special tokens and without."""
    return both(
        subject,
        lambda library: [
            subject.row(library.encode(case.text, add_special_tokens=adds)) for adds in (True, False)
        ],
    )


def pairs(subject: Subject, case: Case) -> Answers:
    """Encodes two texts as a pair, with special tokens and without."""
    return both(
        subject,
        lambda library: [
            subject.row(library.encode(case.text, case.other, add_special_tokens=adds))
            for adds in (True, False)
        ],
    )


def words(subject: Subject, case: Case) -> Answers:
    """Encodes a text of words, and such a pair."""
    first, second = case.text.split(" "), case.other.split(" ")
    return both(
        subject,
        lambda library: [
            subject.row(library.encode(*given, is_pretokenized=True)) for given in [(first,), (first, second)]
        ],
    )


def batches(subject: Subject, case: Case) -> Answers:
    """Encodes texts and pairs together, which padding makes equally long."""
    batch = [case.text, case.other, "", (case.text, case.other)]
    return both(subject, lambda library: [subject.row(each) for each in library.encode_batch(batch)])


def ordinary(subject: Subject, case: Case) -> Answers:
    """Encodes a text in which special tokens are text."""

    def rows(library: Any) -> Any:
        library.encode_special_tokens = True
        try:
            return subject.row(library.encode(case.text))
        finally:
            library.encode_special_tokens = False

    return both(subject, rows)


def decoding(subject: Subject, case: Case) -> Answers:
    """Decodes ids, with special tokens and without."""
    ids = ids_for(subject, case)
    return both(
        subject,
        lambda library: [library.decode(ids, skip_special_tokens=skips) for skips in (True, False)],
    )


def decode_streams(subject: Subject, case: Case) -> Answers:
    """Decodes ids one by one, with special tokens or without."""
    ids, skips = ids_for(subject, case), case.seed % 2 == 0
    theirs, ours = DecodeStream(skip_special_tokens=skips), hf.DecodeStream(skip_special_tokens=skips)
    return (
        expected(lambda: [theirs.step(subject.theirs, token) for token in ids]),
        found(lambda: [ours.step(subject.face, token) for token in ids]),
    )


def vocabularies(subject: Subject, _: Case) -> Answers:
    """Lists all tokens and the settings."""
    ids = range(subject.theirs.get_vocab_size() + 3)
    return both(
        subject,
        lambda library: [
            library.get_vocab(with_added_tokens=True),
            library.get_vocab(with_added_tokens=False),
            [library.id_to_token(number) for number in ids],
            [library.num_special_tokens_to_add(pair) for pair in (True, False)],
            library.truncation,
            library.padding,
        ],
    )


def padded_arrays(subject: Subject, case: Case) -> Answers:
    """Encodes texts to arrays of one length."""
    batch = [case.text, case.other, ""]
    names = {
        "input_ids": "ids",
        "token_type_ids": "type_ids",
        "attention_mask": "attention_mask",
        "special_tokens_mask": "special_tokens_mask",
    }

    def rows() -> dict[str, list[list[int]]]:
        encoded = subject.theirs.encode_batch(batch)
        return {name: [getattr(each, attribute) for each in encoded] for name, attribute in names.items()}

    def arrays() -> dict[str, list[list[int]]]:
        made = subject.face.encode_batch_padded(batch, return_special_tokens_mask=True)
        return {name: made[name].tolist() for name in names}

    if subject.theirs.padding is None:
        raise NoAnswerError
    return expected(rows), found(arrays)


FACES = [texts, pairs, words, batches, ordinary, decoding, decode_streams, vocabularies, padded_arrays]
