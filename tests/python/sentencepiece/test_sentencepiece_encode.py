"""`Encoding` of SentencePiece models against the real package: ids, offsets and text, by all methods."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import os
import pickle
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import bytemill
from bytemill import inspection
from bytemill.inspection.token import Token
from bytemill.reference_sentencepiece import Kind
from support import sentencepiece as real
from support.texts import installation_files, multilingual, random_unicode
from support.timing import assert_in_proportion, seconds

FULL = os.environ.get("BYTEMILL_FULL") == "1"

# Every published model, and a trained one for each normalization.
NAMES = [*real.PUBLISHED, *(f"{rule} trained" for rule in real.RULES)]


class Pair(NamedTuple):
    """A model in both libraries."""

    ours: bytemill.Encoding
    theirs: Any
    parsed: Any


def pair(model: bytes, folder: Path) -> Pair:
    path = folder / "tokenizer.model"
    path.write_bytes(model)
    return Pair(bytemill.Encoding.from_file(path), real.processor(model), real.parse(model))


@pytest.fixture(scope="module", params=NAMES)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    rule, *trained = request.param.split()
    model = real.trained(rule, byte_fallback=rule == "nfkc") if trained else real.published(request.param)
    return pair(model, tmp_path_factory.mktemp("model"))


def assert_same(both: Pair, texts: list[str]) -> None:
    """Compares the ids of texts, by all methods that return them or their number."""
    ours, theirs, _ = both
    expected = theirs.encode(texts)
    for text, ids in zip(texts, expected, strict=True):
        assert ours.encode_ordinary(text) == ids, text
        assert ours.encode_bytes(text.encode()) == ids, text
        assert ours.encode_ordinary_to_numpy(text).tolist() == ids
        assert ours.count(text) == len(ids), text
        assert ours.count_till_limit(text, len(ids)) == len(ids)
        if ids:
            assert ours.count_till_limit(text, len(ids) - 1) is None, text
    assert ours.encode_ordinary_batch(texts, num_threads=2) == expected
    assert ours.count_batch(texts, num_threads=2).tolist() == [len(ids) for ids in expected]
    assert [ids.tolist() for ids in ours.encode_iter(texts, batch_size=7, allowed_special=set())] == expected
    batch = ours.encode_batch_to_numpy(texts, num_threads=2)
    assert batch.ids.tolist() == [token for ids in expected for token in ids]


def assert_same_document(both: Pair, text: str) -> None:
    expected = both.theirs.encode(text)
    found = both.ours.encode_ordinary(text)
    if found != expected:  # pytest would take minutes to show the difference
        differs = next((at for at, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b), -1)
        start = max(differs - 5, 0)
        pytest.fail(f"at {differs}: {found[start : differs + 5]}, expected {expected[start : differs + 5]}")
    assert both.ours.encode_ordinary_to_numpy(text, num_threads=2).tolist() == expected
    assert both.ours.count(text) == len(expected)


def assert_same_offsets(both: Pair, texts: list[str]) -> None:
    for text in texts:
        pieces = both.theirs.encode(text, out_type="proto").pieces
        for unit in ("byte", "char"):
            found = both.ours.encode_with_offsets(text, unit=unit, disallowed_special=())
            at = [len(text.encode()[:byte].decode(errors="ignore")) for byte in range(len(text.encode()) + 1)]
            at = list(range(len(at))) if unit == "byte" else at
            assert found.ids.tolist() == [piece.id for piece in pieces], text
            assert found.starts.tolist() == [at[piece.begin] for piece in pieces], text
            assert found.ends.tolist() == [at[piece.end] for piece in pieces], text


def id_lists(parsed: Any, seed: int, number: int) -> Iterator[list[int]]:
    """Yields lists of ids at random, in which those of control pieces and of bytes are frequent."""
    source = random.Random(seed)
    kinds = [
        [i for i, piece in enumerate(parsed.pieces) if piece.type == kind] or range(len(parsed.pieces))
        for kind in (Kind.NORMAL, Kind.CONTROL, Kind.BYTE, Kind.UNUSED, Kind.UNKNOWN, Kind.USER_DEFINED)
    ]
    kinds.append([i for i, piece in enumerate(parsed.pieces) if piece.piece.startswith("\u2581")] or [0])
    for _ in range(number):
        some = source.choices(kinds, k=source.randint(1, 3))
        yield [source.choice(source.choice(some)) for _ in range(source.randint(0, 12))]


def assert_same_text(both: Pair, lists: list[list[int]]) -> None:
    """Compares the text of ids, and decodes them one by one."""
    ours, theirs, _ = both
    expected = [theirs.decode(ids) for ids in lists]
    assert ours.decode_batch(lists, num_threads=2) == expected
    for ids, text in zip(lists, expected, strict=True):
        assert ours.decode(ids) == text, ids
        stream = ours.stream_decoder()
        assert "".join([*map(stream.push, ids), stream.flush()]) == text, ids
        pushed = stream.push(ids[:2]) + stream.push(ids[2:])
        assert pushed + stream.flush() == text, ids
        session = ours.session(disallowed_special=())
        ordinary = [token for token in ids if not ours.is_special_token(token)]
        for token in ordinary:
            session.append_ids([token])
        assert session.text == ours.decode(ordinary), ids
        if "\ufffd" not in text:
            decoded, offsets = ours.decode_with_offsets(ids)
            assert decoded == text, ids
            assert offsets == sorted(offsets), ids
            assert offsets[:1] == [0] * bool(ids), ids
            assert ours.decode_bytes(ids) == text.encode(), ids
            assert ours.decode(ids, errors="strict") == text


def test_texts(both: Pair) -> None:
    texts = list(real.texts(11, 2_000 if FULL else 300, both.parsed))
    assert_same(both, texts)
    assert_same_offsets(both, texts[:100])
    assert_same_document(both, "".join(texts))


def test_empty_text_and_spaces(both: Pair) -> None:
    spaces = [
        "",
        " ",
        "  ",
        "\u2581",
        "\u2581\u2581 ",
        " a",
        "a ",
        " a  b ",
        "\n",
        " \n ",
        "\0",
        "\u200b",
        "\ufeff",
    ]
    assert_same(both, spaces)
    assert_same_offsets(both, spaces)


def test_real_texts(both: Pair) -> None:
    for _, text in installation_files(3_000_000 if FULL else 300_000):
        assert_same_document(both, text)
    assert_same(both, [line for _, text in installation_files(60_000) for line in text.splitlines()])


def test_every_script(both: Pair) -> None:
    for text in (multilingual(12, 4_000), random_unicode(13, 10_000)):
        assert_same_document(both, text)
        assert_same(both, [text[at : at + 40] for at in range(0, min(len(text), 12_000), 40)])


def test_every_character(both: Pair) -> None:
    characters = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    for start in range(0, len(characters), 100_000):
        some = characters[start : start + 100_000]
        assert_same_document(both, "a" + "b".join(some) + "c")
        assert_same_document(both, "".join(some))
    # Most of the others have no piece.
    alone = characters if FULL else characters[:0x3400] + characters[0x3400::97]
    assert both.ours.encode_ordinary_batch(alone, num_threads=2) == both.theirs.encode(alone)


def test_bytes_that_are_no_text(both: Pair) -> None:
    for data in real.random_bytes(14, 5_000 if FULL else 600):
        assert both.ours.encode_bytes(data) == both.theirs.encode(data), data
    long = random.Random(15).randbytes(20_000)
    assert both.ours.encode_bytes(long) == both.theirs.encode(long)


def test_control_pieces_in_texts_are_text(both: Pair) -> None:
    text = "<s>a</s> <unk>b<0x41>\u2581<s> [INST]"
    expected = both.theirs.encode(text)
    assert both.ours.encode_ordinary(text) == expected
    assert both.ours.encode(text, disallowed_special=()) == expected
    assert both.ours.encode_batch([text], disallowed_special=()) == [expected]
    assert both.ours.encode_to_numpy(text, disallowed_special=()).tolist() == expected


def test_texts_of_ids(both: Pair) -> None:
    size = len(both.parsed.pieces)
    assert_same_text(both, [[token] for token in (range(size) if FULL else range(0, size, 7))])
    assert_same_text(both, list(id_lists(both.parsed, 16, 10_000 if FULL else 1_000)))
    encoded = both.theirs.encode(list(real.texts(17, 200, both.parsed)))
    assert_same_text(both, encoded)


def test_limits_of_tokens(both: Pair) -> None:
    limit = 30
    for text in real.texts(18, 60, both.parsed, 200):
        for side in ("right", "left"):
            kept = both.ours.truncate(text, limit, side=side)
            assert text.startswith(kept.text) if side == "right" else text.endswith(kept.text)
            assert kept.token_count == len(both.theirs.encode(kept.text)) <= limit
            assert kept.truncated == (kept.text != text)
            assert kept.truncated or len(both.theirs.encode(text)) <= limit
        parts = both.ours.split(text, limit)
        assert "".join(parts) == text
        assert all(len(part) > 0 and len(both.theirs.encode(part)) <= limit for part in parts)


def test_long_texts_are_divided(both: Pair) -> None:
    """Threads, truncation and parts cut a text where its ids stay; no cut is in the runs between."""
    ours, theirs, parsed = both
    words = "".join(real.texts(23, 400, parsed)) + multilingual(5, 400)
    text = "".join(
        part + run for run in ("x" * 70_000, " " * 70_000, "\u6f22" * 30_000, "") for part in (words, " ")
    )
    assert_same_document(both, text)
    assert ours.count_batch([text, "a", text], num_threads=2).tolist() == [
        len(ids) for ids in theirs.encode([text, "a", text])
    ]
    start = text[:20_000]
    for limit in (1, 7, 100, 2_000):
        for side in ("right", "left"):
            kept = ours.truncate(start, limit, side=side)
            assert start.startswith(kept.text) if side == "right" else start.endswith(kept.text)
            assert kept.token_count == len(theirs.encode(kept.text)) <= limit
    parts = ours.split(start, 50)
    assert "".join(parts) == start
    assert max(len(ids) for ids in theirs.encode(parts)) <= 50


def test_pickling(both: Pair) -> None:
    again = pickle.loads(pickle.dumps(both.ours))  # noqa: S301 - our own
    texts = list(real.texts(19, 40, both.parsed))
    assert_same(both._replace(ours=again), texts)
    assert_same_text(both._replace(ours=again), list(id_lists(both.parsed, 20, 40)))


@pytest.mark.parametrize("unit", real.runs(0))
@pytest.mark.parametrize("rule", ["mistral-v1", "nmt_nfkc trained"])
def test_long_runs(rule: str, unit: str, tmp_path: Path) -> None:
    name, *trained = rule.split()
    ours = pair(real.trained(name) if trained else real.published(name), tmp_path)
    text = real.runs(1_000_000)[unit]
    assert_same_document(ours, text)
    assert seconds(lambda: ours.ours.encode_ordinary_to_numpy(text), 3) < 2


def test_work_grows_with_the_text(tmp_path: Path) -> None:
    ours = pair(real.published("mistral-v1"), tmp_path).ours
    for unit in (" ", "a", "ab", "\u0378"):
        small = unit * (100_000 // len(unit))
        assert_in_proportion(ours.encode_ordinary_to_numpy, small, 4 * small, what=repr(unit))


def with_map(model: bytes, seed: int) -> bytes:
    """Returns a model with rules for decoded text, of a few characters and spaces each."""
    source, parsed = random.Random(seed), real.parse(model)
    letters = [piece.piece for piece in parsed.pieces if len(piece.piece) == 1 and piece.type == Kind.NORMAL]
    letters = [*source.sample(letters, min(len(letters), 3)), " ", "a", "b"]
    rules = {
        "".join(source.choices(letters, k=source.randint(1, 3))): "".join(
            source.choices(["X", "", "é ", *letters], k=source.randint(0, 2))
        )
        for _ in range(source.randint(1, 5))
    }
    changes = [(key, value) for key, value in rules.items() if key != value] or [("a", "X")]
    made = real.library().SentencePieceNormalizer(norm_map=changes)
    parsed.denormalizer_spec.MergeFromString(made.serialized_normalizer_spec())
    for flag in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
        setattr(parsed.denormalizer_spec, flag, source.random() < 0.1)
    changed: bytes = parsed.SerializeToString()
    return changed


def test_decoded_text_that_a_map_changes(tmp_path: Path) -> None:
    for seed in range(400 if FULL else 40):
        model = pair(with_map(real.synthetic(seed), seed), tmp_path)
        try:
            assert_same_text(model, list(id_lists(model.parsed, seed, 30)))
        except Exception as error:
            raise AssertionError(f"the model of seed {seed}") from error
    # The token that begins inside of "X" has its offset.
    parsed = real.parse()
    parsed.trainer_spec.model_type = parsed.trainer_spec.BPE
    parsed.pieces.add(piece="<unk>", score=0, type=Kind.UNKNOWN)
    for piece in ("\u2581ab", "\u2581c", "d"):
        parsed.pieces.add(piece=piece, score=-1)
    rules = real.library().SentencePieceNormalizer(norm_map=[("b c", "X")])
    parsed.denormalizer_spec.MergeFromString(rules.serialized_normalizer_spec())
    for flag in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
        setattr(parsed.denormalizer_spec, flag, False)
    ours, _, _ = pair(parsed.SerializeToString(), tmp_path)
    assert ours.decode_with_offsets([1, 2, 3]) == ("aXd", [0, 1, 2])
    assert ours.decode_with_offsets([1, 3, 2]) == ("abd c", [0, 2, 3])


@pytest.mark.parametrize("kind", ["bpe", "unigram", "char"])
def test_symbols_that_begin_with_many_others(kind: str, tmp_path: Path) -> None:
    text = "".join(random.Random(2).choices("abc", k=80))
    symbols = [text[:length] for length in range(1, 70)]
    parsed = real.parse(real.trained(size=1000, user_defined_symbols=",".join(symbols)))
    parsed.trainer_spec.model_type = parsed.trainer_spec.ModelType.Value(kind.upper())
    model = pair(parsed.SerializeToString(), tmp_path)
    for length in (63, 64, 65, 66, 69, 80):
        for end in ("", "ab", " the", text):
            ids = model.theirs.encode(text[:length] + end)
            assert model.ours.encode_ordinary(text[:length] + end) == ids
            if kind == "bpe":
                assert real.reference(parsed.SerializeToString()).encode(text[:length] + end) == ids


def test_special_tokens_that_were_added_are_decoded_with_offsets(tmp_path: Path) -> None:
    ours = pair(real.trained(), tmp_path).ours
    more = ours.with_special_tokens({"<more>": ours.n_vocab})
    ids = more.encode("the<more> cat", allowed_special="all")
    assert more.decode(ids) == "the<more> cat"
    assert more.decode_with_offsets(ids)[0] == "the<more> cat"
    assert more.decode_with_offsets([ours.n_vocab]) == ("<more>", [0])


@pytest.mark.parametrize("part", range(10))
def test_synthetic_models(part: int, tmp_path: Path) -> None:
    for seed in range(10_000 + part, 10_000 + (2_000 if FULL else 200), 10):
        model = pair(real.synthetic(seed), tmp_path)
        try:
            texts = list(real.texts(seed, 40, model.parsed))
            assert_same(model, texts)
            assert_same_offsets(model, texts[:10])
            for text in real.runs(300).values():
                assert_same_document(model, text)
            for data in real.random_bytes(seed, 20):
                assert model.ours.encode_bytes(data) == model.theirs.encode(data), data
            assert_same_text(model, list(id_lists(model.parsed, seed, 30)))
        except Exception as error:
            raise AssertionError(f"the model of seed {seed}") from error


def test_an_unknown_token_without_text() -> None:
    parsed = real.parse(real.trained())
    parsed.trainer_spec.unk_surface = ""
    encoding = bytemill.Encoding.from_bytes(parsed.SerializeToString(), name="without text")
    unknown = parsed.trainer_spec.unk_id
    ids = encoding.encode("\uffff")
    assert unknown in ids
    assert encoding.decode_tokens_bytes([unknown]) == [b""]
    assert encoding.vocab()[unknown] == b""
    assert encoding.encode_batch_to_numpy([""], prepend=unknown).ids.tolist() == [unknown]
    view = inspection.show(encoding, "\uffff")
    assert [token.id for token in view.tokens] == ids
    alone = replace(view, tokens=(Token(unknown, b"", special=False),))
    assert str(unknown) in alone.terminal(colour=False).splitlines()
    assert f"id {unknown}:" in alone._repr_html_()
