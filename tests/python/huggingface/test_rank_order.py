"""Which merge lists are recognised as merges by rank: exactly those that the readable check accepts."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

import bytemill
from bytemill.errors import VocabularyError
from bytemill.formats.data_gym import token_text
from bytemill.formats.merge_list import BytePair, check_merges, indices_of
from support.toys import BYTE_RANKS

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
WHOLE = {"type": "Split", "pattern": {"Regex": "(?m:.+)"}, "behavior": "Isolated", "invert": False}


def tokenizer_file(ranks: dict[bytes, int], merges: list[BytePair], *, whole_pieces: bool) -> bytes:
    model: dict[str, Any] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": whole_pieces,
        "vocab": {token_text(token): token_id for token, token_id in ranks.items()},
        "merges": [[token_text(left), token_text(right)] for left, right in merges],
    }
    steps = {"type": "Sequence", "pretokenizers": [WHOLE, BYTE_LEVEL]}
    head: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
    }
    tail = {"pre_tokenizer": steps, "post_processor": None, "decoder": BYTE_LEVEL, "model": model}
    return json.dumps(head | tail).encode()


def drawn(draw: random.Random) -> tuple[dict[bytes, int], list[BytePair]]:
    """A list of merges as training gives it, and then often not quite."""
    tokens = [b"a", b"b", b"c"]
    made: dict[bytes, list[BytePair]] = {}
    for _ in range(draw.randrange(2, 12)):
        pair = (draw.choice(tokens), draw.choice(tokens))
        made.setdefault(pair[0] + pair[1], []).append(pair)
        tokens.append(pair[0] + pair[1])
    order = list(made)
    if draw.random() < 0.5:
        # As files that are made of ranks have it: all divisions of each token.
        known = set(tokens)
        splits = {token: [(token[:i], token[i:]) for i in range(1, len(token))] for token in order}
        made = {token: [pair for pair in pairs if set(pair) <= known] for token, pairs in splits.items()}
    merges = [pair for token in order for pair in dict.fromkeys(made[token])]
    if draw.random() < 0.3:
        i, j = draw.randrange(len(order)), draw.randrange(len(order))
        order[i], order[j] = order[j], order[i]
    if draw.random() < 0.3:
        merges.pop(draw.randrange(len(merges)))
    if draw.random() < 0.1 and merges:
        merges.append(draw.choice(merges))
    ids = list(range(256 + len(order)))
    if draw.random() < 0.3:
        # Bytes between the merged tokens, and holes.
        ids = sorted(draw.sample(range(400), len(ids)))
        bytes_at = sorted(draw.sample(range(len(ids)), 256))
        byte_ids = [ids[i] for i in bytes_at]
        others = [ids[i] for i in sorted(set(range(len(ids))) - set(bytes_at))]
        return dict(zip([*BYTE_RANKS, *order], [*byte_ids, *others], strict=True)), merges
    return BYTE_RANKS | dict(zip(order, ids[256:], strict=True)), merges


def test_lists_that_give_the_ids_of_ranks_are_recognised(tmp_path: Path) -> None:
    draw = random.Random(20)  # noqa: S311 - for tests
    path = tmp_path / "tokenizer.json"
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for _ in range(600):
        ranks, merges = drawn(draw)
        whole_pieces = draw.random() < 0.5
        path.write_bytes(tokenizer_file(ranks, merges, whole_pieces=whole_pieces))
        try:
            check_merges(ranks, indices_of(merges, "toy"), "toy", whole_pieces=whole_pieces)
            by_rank = True
        except VocabularyError:
            by_rank = False
        encoding = bytemill.Encoding.from_file(path)
        assert (encoding.definition.tokenizer is None) is by_rank, (ranks, merges)
        if by_rank:
            assert encoding._mergeable_ranks == ranks
        tokenizer = Tokenizer.from_file(str(path))
        texts = ["".join(draw.choices("abc ", (5, 5, 5, 1), k=draw.randrange(40))) for _ in range(10)]
        texts += [token.decode() for token in ranks if len(token) > 1]
        for text in texts:
            assert encoding.encode_ordinary(text) == tokenizer.encode(text).ids
        verdicts[whole_pieces, by_rank] += 1
    assert min(verdicts.values()) > 50, verdicts


def test_files_that_do_more_with_texts_have_the_same_ids(tmp_path: Path) -> None:
    """Their pieces are merged by rank too, or as they are listed."""
    draw = random.Random(21)  # noqa: S311 - for tests
    path = tmp_path / "tokenizer.json"
    for _ in range(300):
        ranks, merges = drawn(draw)
        whole_pieces = draw.random() < 0.5
        # Found in no text here, as it is special: but a whole piece may be its text.
        special = draw.choice([b"abcabc", b"cc", b"<a>", b"|bcab|"])
        unmade = special not in ranks
        if unmade:
            ranks[special] = max(ranks.values()) + draw.choice([1, 5])
        file = json.loads(tokenizer_file(ranks, merges, whole_pieces=whole_pieces))
        file["normalizer"] = {"type": "NFC"}
        file["pre_tokenizer"]["pretokenizers"].insert(0, {"type": "Digits", "individual_digits": True})
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        added = {"id": ranks[special], "content": special.decode(), "special": True}
        if unmade or draw.random() < 0.5:
            file["added_tokens"] = [added | flags]
        path.write_text(json.dumps(file), encoding="utf-8")
        encoding = bytemill.Encoding.from_file(path)
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.encode_special_tokens = True
        texts = ["".join(draw.choices("abc 1", (5, 5, 5, 1, 1), k=draw.randrange(40))) for _ in range(10)]
        texts += [token.decode() for token in ranks if len(token) > 1]
        texts += [f"1{token.decode()}2" for token in ranks if len(token) > 1]
        for text in texts:
            ids = tokenizer.encode(text).ids
            assert encoding.encode_ordinary(text) == ids, (ranks, merges, text)
            assert encoding.decode(ids) == tokenizer.decode(ids, skip_special_tokens=False)
        for token, token_id in ranks.items():
            assert encoding.decode_single_token_bytes(token_id) == token
