"""The SHA-256 of a vocabulary: what it depends on, and that its layout stays as documented."""

from __future__ import annotations

import hashlib

import pytest

from bytemill.fingerprint import vocabulary_sha256

RANKS = {b"a": 0, b"b": 1, b"ab": 256}
SPECIAL = {"<|end|>": 300, "<|also end|>": 300}


def number(value: int) -> bytes:
    return value.to_bytes(8, "little")


def test_the_layout_is_the_documented_one() -> None:
    contents = b"".join(
        [
            b"bytemill vocabulary 1\n",
            *(number(3), "é+".encode()),
            number(2),
            *(number(0), number(1), b"a"),
            *(number(7), number(2), b"ab"),
            number(1),
            *(number(9), number(2), "é".encode()),
        ]
    )
    assert vocabulary_sha256("é+", {b"ab": 7, b"a": 0}, {"é": 9}) == hashlib.sha256(contents).hexdigest()


def test_order_does_not_matter_where_it_decides_nothing() -> None:
    assert vocabulary_sha256(".", dict(reversed(RANKS.items())), {}) == vocabulary_sha256(".", RANKS, {})
    special = {"x": 5, "y": 6}
    swapped = dict(reversed(special.items()))
    assert vocabulary_sha256(".", RANKS, special) == vocabulary_sha256(".", RANKS, swapped)


OTHERS = {
    "pattern": ("..", RANKS, SPECIAL),
    "token": (".", {b"a": 0, b"c": 1, b"ab": 256}, SPECIAL),
    "id": (".", {b"a": 0, b"b": 2, b"ab": 256}, SPECIAL),
    "where tokens part": (".", {b"a": 0, b"ba": 1, b"b": 256}, SPECIAL),
    "special token": (".", RANKS, {"<|end|>": 300}),
    "what an id decodes to": (".", RANKS, dict(reversed(SPECIAL.items()))),
    "kind of token": (".", {b"a": 0, b"b": 1}, {"ab": 256, **SPECIAL}),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_everything_that_decides_ids_counts(other: tuple[str, dict[bytes, int], dict[str, int]]) -> None:
    assert vocabulary_sha256(*other) != vocabulary_sha256(".", RANKS, SPECIAL)
