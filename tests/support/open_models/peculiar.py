"""Files with one peculiarity each, which those of some models have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.open_models.components import (
    BYTE_LEVEL,
    IGNORING,
    LLAMA_TOKENS,
    MARKS,
    METASPACE,
    NFC,
    PREPEND_MARKS,
    Row,
    added,
    byte_row,
    piece_row,
    tokens_first,
)
from support.open_models.vocabularies import (
    Model,
    explicit,
    unreached,
    with_every_split,
    with_raw,
    without_bytes,
)

LOWERCASE = {"type": "Sequence", "normalizers": [NFC, {"type": "Lowercase"}]}
FLAGS = [
    {
        "lstrip": bool(flags & 1),
        "rstrip": bool(flags & 2),
        "single_word": bool(flags & 4),
        "normalized": bool(flags & 8),
    }
    for flags in range(16)
]


def flagged(*, special: bool) -> list[dict[str, Any]]:
    """Returns added tokens with all combinations of flags; some begin another, one has a blank in it."""
    names = [f"tok{number:X}" for number in range(16)]
    tokens = [added(name, special=special, **flags)[0] for name, flags in zip(names, FLAGS, strict=True)]
    tokens += [
        added(f"<{name} x>", special=not special, **flags)[0]
        for name, flags in zip(names, FLAGS, strict=True)
    ]
    return [
        *tokens,
        *added("TOK\xc9", "tok", "e\u0301x", special=special, normalized=True),
        *added("tok0tok1", "\xe9y", special=special),
    ]


def some_bytes(model: Model) -> Model:
    """Returns the model without letters of Latin 1, with the bytes of only some of these."""
    gone = {"\xe9", "\xf1", "\xfc", "\xe8", "<0xB1>", "\u0434", "<0xD0>"}
    kept = [
        token
        for token in model["vocab"]
        if token in {"<0xB1>", "<0xD0>"} - gone or not gone & {token, *token}
    ]
    merges = [merge for merge in model["merges"] if all(part in kept for part in [*merge, "".join(merge)])]
    return model | {"vocab": {token: index for index, token in enumerate(kept)}, "merges": merges}


PECULIAR: dict[str, Row] = {
    "missing bytes": byte_row(
        "neighbours of a missing byte meet",
        "GPT2",
        shape=lambda model: without_bytes(model, [*range(32), *b"xqzXQ7'", 0xA9, 0xD0, 0xE4]),
    ),
    "missing bytes, explicit merges": byte_row(
        "the same",
        "LLAMA3",
        shape=lambda model: explicit(without_bytes(model, [*range(32), *b"eq7 ", 0xA9, 0xE4])),
    ),
    "unknown bytes": byte_row(
        "a token for missing bytes",
        "GPT2",
        options=(("unk_token", "<unk>"),),
        shape=tokens_first(["<unk>"], lambda model: without_bytes(model, [*b"xqzXQ7'", 0xA9, 0xD0, 0xE4])),
        tokens=added("<unk>"),
    ),
    "unknown bytes, fused": byte_row(
        "the same",
        "GPT2",
        options=(("unk_token", "<unk>"), ("fuse_unk", True)),
        shape=tokens_first(["<unk>"], lambda model: without_bytes(model, [*b"xqzXQ7'", 0xA9, 0xD0, 0xE4])),
    ),
    "some byte tokens": piece_row(
        "bytes for some characters", normalizer=MARKS, shape=some_bytes, tokens=added("<unk>")
    ),
    "some byte tokens, not fused": piece_row(
        "bytes for some characters", normalizer=MARKS, shape=some_bytes, fuse_unk=False
    ),
    "some byte tokens, no unknown": piece_row(
        "unknown characters vanish", normalizer=MARKS, shape=some_bytes, unk=None
    ),
    "no byte tokens": piece_row(
        "unknown characters are one token",
        chain=METASPACE,
        missing=tuple(range(256)),
        tokens=added(*LLAMA_TOKENS),
    ),
    "merges out of order": byte_row("ranks are no ids", "LLAMA3", shape=lambda model: explicit(model, 7)),
    "more merges than tokens": byte_row(
        "all ways to make a token",
        "QWEN2",
        shape=lambda model: with_every_split(model) | {"ignore_merges": False},
    ),
    "more merges than tokens, out of order": byte_row(
        "the same", "QWEN2", shape=lambda model: explicit(with_every_split(model), 3)
    ),
    "raw strings": byte_row(
        "strings that no bytes spell, beside those that they do",
        "QWEN2",
        options=IGNORING,
        shape=lambda model: unreached(
            with_raw(model, ["\u4eca\u5929", " the", "  ", "\n", "caf\xe9", "\u0434\u0430", "\U0001f600"]),
            [" thing", "caf\xe9"],
        ),
        tokens=added("  ", special=False),
    ),
    "holes in ids": byte_row(
        "ids that nothing has",
        "O200K",
        shape=lambda model: explicit(model, 9, holes=400),
        tokens=added("<a>", "<b>"),
    ),
    "flags": byte_row("all flags in both phases", "GPT2", normalizer=LOWERCASE, tokens=flagged(special=True)),
    "flags, not special": byte_row(
        "all flags in both phases", "LLAMA3", normalizer=NFC, tokens=flagged(special=False)
    ),
    "flags, prepended": piece_row(
        "all flags beside marks", normalizer=PREPEND_MARKS, tokens=flagged(special=True)
    ),
    "flags, metaspace": piece_row("all flags beside marks", chain=METASPACE, tokens=flagged(special=False)),
    "prefix space": byte_row("a space before each part", "GPT2", tokens=flagged(special=True)[:20]),
    "stripped": byte_row(
        "blanks at the ends vanish",
        "GPT2",
        normalizer={"type": "Strip", "strip_left": True, "strip_right": True},
        tokens=added("<a>", "<b>", normalized=True),
    ),
    "decomposed": byte_row(
        "NFD and NFKD",
        "QWEN2",
        normalizer={"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "NFKD"}]},
        tokens=added("<a>", "\xe9", normalized=True),
    ),
}
PREFIX_SPACE = BYTE_LEVEL | {"use_regex": True, "add_prefix_space": True}
PECULIAR["prefix space"] = replace(PECULIAR["prefix space"], chain=PREFIX_SPACE)
