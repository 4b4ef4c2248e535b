"""`bytemill.sentencepiece` against the real package: the same calls, results and errors."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import copy
import inspect
import io
import os
import pickle
import random
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bytemill.sentencepiece as spm
from bytemill.reference_sentencepiece import MARK
from support import sentencepiece as real
from support.timing import assert_in_proportion

SEEDS = range(400 if os.environ.get("BYTEMILL_FULL") else 40)

ENCODED = (int, str, bytes, "numpy", "offset_mapping", "serialized_proto", "proto")
DECODED = (str, bytes, "offset_mapping", "serialized_proto", "proto")


def outcome(call: Callable[[], Any]) -> Any:
    """Returns what a call returns, or its error, in a form that can be compared."""
    try:
        found = call()
    except Exception as error:  # noqa: BLE001 - whatever it is
        # Without signatures and places in sources.
        return type(error), re.sub(r"src/\S+ \[.*?\] ", "", str(error).split("\n")[0])
    return plain(found)


def plain(found: Any) -> Any:
    if isinstance(found, list):
        return [plain(each) for each in found]
    if isinstance(found, np.ndarray):
        return found.dtype, found.tolist(), found.flags.writeable
    return found.SerializeToString() if hasattr(found, "SerializeToString") else found


def both(model: bytes) -> tuple[Any, Any]:
    return real.processor(model), spm.SentencePieceProcessor(model_proto=model)


def small() -> bytes:
    """Returns a model of few pieces, in which much is unknown."""
    parsed = real.parse()
    parsed.trainer_spec.model_type = parsed.trainer_spec.BPE
    for text, kind in [
        ("<unk>", 2),
        ("<s>", 3),
        ("</s>", 3),
        ("▁a", 1),
        ("▁", 1),
        ("a", 1),
        ("b", 1),
        ("ab", 1),
    ]:
        parsed.pieces.add(piece=text, score=-1.5, type=kind)
    parsed.pieces.add(piece="<u>", score=-1.5, type=4)
    serialized: bytes = parsed.SerializeToString()
    return serialized


def assert_encodes_alike(model: bytes, texts: list[str | bytes]) -> None:
    theirs, ours = both(model)
    source = random.Random(4)
    for text in texts:
        for kind in ENCODED:
            options = {}
            if kind in ENCODED[:4] and source.random() < 0.5:
                names = ("add_bos", "add_eos", "reverse", "emit_unk_piece")
                options = {name: source.random() < 0.5 for name in names}
            expected = outcome(lambda: theirs.encode(text, out_type=kind, **options))  # noqa: B023
            assert outcome(lambda: ours.encode(text, out_type=kind, **options)) == expected, (text, kind)  # noqa: B023
        assert_normalizes_alike(theirs, ours, text)
    for kind in ENCODED:
        batch = texts[:20]
        expected = outcome(lambda: theirs.encode(batch, out_type=kind, num_threads=2))  # noqa: B023
        assert outcome(lambda: ours.encode(batch, out_type=kind, num_threads=2)) == expected  # noqa: B023


def assert_normalizes_alike(theirs: Any, ours: Any, text: str | bytes) -> None:
    expected = theirs.normalize(text)
    assert ours.normalize(text) == expected, text
    # Of spaces alone there are several opinions, none of which matters.
    if expected or not text:
        assert ours.normalize(text, with_offsets=True) == theirs.normalize(text, with_offsets=True), text


def assert_decodes_alike(model: bytes, lists: int) -> None:
    theirs, ours = both(model)
    source = random.Random(5)
    special = [number for number in range(len(theirs)) if theirs.is_byte(number) or theirs.is_control(number)]
    for _ in range(lists):
        ids = [
            source.choice([source.randrange(len(theirs)), source.choice(special)])
            for _ in range(source.randint(0, 8))
        ]
        pieces = [
            source.choice([theirs.id_to_piece(token)] * 3 + ["x", MARK, f"z{MARK}z", ""]) for token in ids
        ]
        for tokens in (
            ids,
            pieces,
            [piece.encode() for piece in pieces],
            [ids, [], ids],
            np.array(ids, np.int64),
        ):
            for kind in DECODED:
                expected = outcome(lambda: theirs.decode(tokens, out_type=kind))  # noqa: B023
                assert outcome(lambda: ours.decode(tokens, out_type=kind)) == expected, (tokens, kind)  # noqa: B023


@pytest.mark.parametrize("name", real.PUBLISHED)
def test_published_models(name: str) -> None:
    model = real.published(name)
    texts: list[str | bytes] = [*real.texts(1, 30, real.parse(model)), *real.random_bytes(2, 15)]
    assert_encodes_alike(model, texts)
    assert_decodes_alike(model, 20)
    theirs, ours = both(model)
    everything = list(range(len(theirs)))
    for method in ("id_to_piece", "get_score", "is_unknown", "is_control", "is_unused", "is_byte"):
        assert getattr(ours, method)(everything) == getattr(theirs, method)(everything)
    assert ours.piece_to_id(theirs.id_to_piece(everything)) == everything
    assert ours.serialized_model_proto() == model
    assert [ours.decode(token) for token in everything] == [theirs.decode(token) for token in everything]


@pytest.mark.parametrize("seed", SEEDS)
def test_models_of_every_kind(seed: int) -> None:
    model = real.synthetic(seed)
    texts: list[str | bytes] = [
        *real.texts(seed, 12, real.parse(model)),
        *real.random_bytes(seed, 6),
        "",
        b"",
        " ",
        b"  ",
    ]
    assert_encodes_alike(model, texts)
    assert_decodes_alike(model, 6)


def test_decoded_text_is_denormalized() -> None:
    parsed = real.parse(small())
    rules = real.library().SentencePieceNormalizer(norm_map=[("a", "b c"), ("b", "")])
    parsed.denormalizer_spec.MergeFromString(rules.serialized_normalizer_spec())
    for flag in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
        setattr(parsed.denormalizer_spec, flag, False)
    assert_decodes_alike(parsed.SerializeToString(), 30)


# Each is called with a processor of the small model.
CALLS: list[Callable[[Any], Any]] = [
    lambda sp: sp.encode(("a",)),
    lambda sp: sp.encode(5),
    lambda sp: sp.encode(None),
    lambda sp: sp.encode(["a", 5]),
    lambda sp: sp.encode([["a"]]),
    lambda sp: sp.encode(bytearray(b"a")),
    lambda sp: sp.encode([], out_type=str),
    lambda sp: sp.encode("", add_bos=True),
    lambda sp: sp.encode("a", out_type="offset_mapping", add_bos=True),
    lambda sp: sp.encode(b"ab \xffb", out_type="offset_mapping", return_bytes=False),
    lambda sp: sp.encode("a", return_bytes=True),
    lambda sp: sp.encode("a", out_type="foo"),
    lambda sp: sp.encode("a", out_type="immutable_proto"),
    lambda sp: sp.encode("a", out_type=int, return_type=int),
    lambda sp: sp.encode("a", num_threads="2"),
    lambda sp: sp.encode("a", enable_sampling=True, nbest_size=1),
    lambda sp: sp.parallel_encode("a a xy a", chunk_len=2, out_type=str),
    lambda sp: sp.parallel_encode(["a a", "b"], chunk_len=2),
    lambda sp: sp.parallel_encode("a a"),
    lambda sp: sp.parallel_encode("a", chunk_len=2, out_type="offset_mapping"),
    lambda sp: sp.decode(None),
    lambda sp: sp.decode(""),
    lambda sp: sp.decode([]),
    lambda sp: sp.decode([[]]),
    lambda sp: sp.decode([[], ["▁a"]]),
    lambda sp: sp.decode(5),
    lambda sp: sp.decode("▁a"),
    lambda sp: sp.decode(b"ab"),
    *(
        lambda sp, pieces=pieces, kind=kind: sp.decode(pieces, out_type=kind)
        for pieces in (
            b"\xff",
            [b"\xff", b"a"],
            ["a", b"\xff"],
            [b"\xe4", b"\xb8\xad"],
            [b"\xff", "▁a".encode(), b"\xed\xa0\x80"],
            ["▁a".encode() + b"\xff", b"b"],
            [["a"], [b"\xff", b"b"]],
            [[], [b"\xff", b"b"], ["a"], []],
            [[b"a"], ["a"], []],
            [["a"], [b"a"]],
            [["a"], "ab"],
            [[b"a"], b"ab"],
            [["a"], {"b": 1}],
            [["a"], {"b"}],
            ["\udcff"],
            ["a", "\ud800"],
        )
        for kind in DECODED
    ),
    lambda sp: sp.decode([99]),
    lambda sp: sp.decode([-1]),
    lambda sp: sp.decode([1 << 40]),
    lambda sp: sp.decode([1.5]),
    lambda sp: sp.decode(3.0),
    lambda sp: sp.decode((3, 4)),
    lambda sp: sp.decode(range(3, 6)),
    lambda sp: sp.decode([3, "a"]),
    lambda sp: sp.decode([[3], 5]),
    lambda sp: sp.decode([[3], b"ab"]),
    lambda sp: sp.decode([[], b"ab"]),
    lambda sp: sp.decode([[3], b""]),
    lambda sp: sp.decode([[3], "a"]),
    lambda sp: sp.decode([[3], (4, 5)]),
    lambda sp: sp.decode([[3], bytearray(b"\4\5")]),
    lambda sp: sp.decode([[3], {4: 5}]),
    lambda sp: sp.decode([[3], np.array([4])]),
    lambda sp: sp.decode([True]),
    lambda sp: sp.decode(np.array([[3, 4], [0, 5]], np.int16)),
    lambda sp: sp.decode(np.array([3.0])),
    lambda sp: sp.decode([3], out_type=int),
    lambda sp: sp.decode([3], out_type="numpy"),
    lambda sp: sp.id_to_piece(99),
    lambda sp: sp.id_to_piece(-1),
    lambda sp: sp.id_to_piece((1, 3)),
    lambda sp: sp.id_to_piece([]),
    lambda sp: sp.id_to_piece("a"),
    lambda sp: sp.id_to_piece(1.0),
    lambda sp: sp.id_to_piece(1 << 40),
    lambda sp: sp.id_to_piece(True),  # noqa: FBT003
    *(
        lambda sp, name=name, number=number: getattr(sp, name)(np.array(number))
        for name in ("id_to_piece", "get_score", "is_unknown", "is_control", "is_unused", "is_byte")
        for number in (3, 99, -1)
    ),
    lambda sp: sp.id_to_piece(np.array(3, np.uint8)),
    lambda sp: sp.id_to_piece(np.array(3.0)),
    lambda sp: sp.id_to_piece(np.array(True)),  # noqa: FBT003
    lambda sp: sp.id_to_piece(np.array([[3]])),
    lambda sp: sp.get_score([3, 4]),
    lambda sp: sp.is_byte(0),
    lambda sp: sp.piece_to_id("zz"),
    lambda sp: sp.piece_to_id(b"\xff"),
    lambda sp: sp.piece_to_id(["a", b"b"]),
    lambda sp: sp.piece_to_id(("a",)),
    lambda sp: sp.piece_to_id([5]),
    lambda sp: sp["a"],
    len,
    lambda sp: sp.normalize(5),
    lambda sp: sp.normalize(["a", "b"], with_offsets=True),
    lambda sp: sp.normalize(["", b"", b"a"], with_offsets=True),
    lambda sp: [sp.normalize("", with_offsets=True), sp.normalize(b"", with_offsets=True)],
    lambda sp: [sp.unk_id(), sp.bos_id(), sp.eos_id(), sp.pad_id(), sp.piece_size(), sp.vocab_size()],
    lambda sp: sp.load(),
    lambda sp: sp.load(model_file="a", model_proto=b"b"),
    lambda sp: sp.load("/none/there"),
    lambda sp: sp.load(b"/none/there"),
    lambda sp: sp.LoadFromFile(b"/none/there"),
    lambda sp: [sp.Encode("ab"), sp.EncodeAsPieces("ab"), sp.Decode([3]), sp.IdToPiece(3), sp.PieceToId("a")],
    lambda sp: [
        sp.encode_as_ids("ab"),
        sp.tokenize("ab"),
        sp.detokenize([3]),
        sp.decode_ids([3]),
        sp.DecodePieces(["a"]),
    ],
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls_and_their_errors(number: int) -> None:
    theirs, ours = both(small())
    call = CALLS[number]
    assert outcome(lambda: call(ours)) == outcome(lambda: call(theirs))


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls_without_a_model(number: int) -> None:
    call = CALLS[number]
    modules = (spm, real.library())
    found, expected = (outcome(lambda: call(module.SentencePieceProcessor())) for module in modules)  # noqa: B023
    if isinstance(expected, tuple) and expected[1:] == ("INTERNAL: ",):
        expected = (RuntimeError, "INTERNAL: Model is not initialized.")
    assert found == expected


def public_names(value: Any) -> set[str]:
    """The names of a module or class that are not private, without modules that it imports."""
    names = {name for name in dir(value) if not name.startswith("_")}
    return {name for name in names if not inspect.ismodule(getattr(value, name))}


CLASSES = ("SentencePieceProcessor", "SentencePieceTrainer", "SentencePieceNormalizer", "ThreadPool")


def test_every_public_name_is_there() -> None:
    library = real.library()
    assert public_names(library) == set(spm.__all__)
    assert spm.__version__ == library.__version__
    for name in CLASSES:
        # What is more than there is for other parts of this library.
        more = {"spec"} if name == "SentencePieceNormalizer" else set()
        assert public_names(getattr(library, name)) | more == public_names(getattr(spm, name))


def parameters(function: Any) -> list[tuple[str, Any]]:
    """The names and defaults of parameters, but for those with two asterisks."""
    found = inspect.signature(function).parameters.values()
    return [(each.name, each.default) for each in found if each.kind is not each.VAR_KEYWORD]


def test_arguments_have_the_names_and_defaults_of_sentencepiece() -> None:
    library = real.library()
    compared = 0
    for class_name in CLASSES[:3]:
        theirs, ours = getattr(library, class_name), getattr(spm, class_name)
        for name in sorted(public_names(theirs)) + ["__init__"] * (class_name != "SentencePieceTrainer"):
            if not name.lower().startswith("nbest"):
                assert parameters(getattr(ours, name)) == parameters(getattr(theirs, name)), name
                compared += 1
    assert compared > 80


# What is named there, and refused here.
REFUSED: list[tuple[str, Callable[[Any], object]]] = [
    ("convert_to_flatbuffer", lambda spm: spm.convert_to_flatbuffer(model_file="m.model")),
    ("ConvertToFlatbuffer", lambda spm: spm.ConvertToFlatbuffer("m.model")),
    ("set_data_dir", lambda spm: spm.set_data_dir("/none/there")),
    ("SetDataDir", lambda spm: spm.SetDataDir("/none/there")),
    ("sample_encode_as_ids", lambda spm: loaded(spm).sample_encode_as_ids("a", -1, 0.1)),
    ("sample_encode_as_pieces", lambda spm: loaded(spm).sample_encode_as_pieces("a", nbest_size=-1)),
    ("sample_encode_as_numpy", lambda spm: loaded(spm).SampleEncodeAsNumpy("a")),
    ("sample_encode_as_proto", lambda spm: loaded(spm).sample_encode_as_proto("a", alpha=0.2)),
    ("enable_sampling", lambda spm: loaded(spm).encode("a", enable_sampling=True)),
]


def loaded(module: Any) -> Any:
    return module.SentencePieceProcessor(model_proto=small())


@pytest.mark.parametrize(("name", "call"), REFUSED, ids=[name for name, _ in REFUSED])
def test_what_is_not_offered_says_so_and_is_documented(name: str, call: Callable[[Any], object]) -> None:
    with pytest.raises(NotImplementedError, match="not supported"):
        call(spm)
    guide = Path(__file__).parents[3] / "docs" / "guides" / "from-sentencepiece.md"
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    documented = guide.read_text(encoding="utf-8")
    assert snake in documented or (snake.startswith("sample_encode_as") and "sample_encode_*" in documented)


def test_special_ids_that_are_no_control_pieces_are_errors() -> None:
    parsed = real.parse(small())
    parsed.pieces[1].type = 4
    theirs, ours = both(parsed.SerializeToString())
    for kind in ENCODED[:4]:
        expected = outcome(lambda: theirs.encode("a", out_type=kind, add_bos=True))  # noqa: B023
        assert outcome(lambda: ours.encode("a", out_type=kind, add_bos=True)) == expected  # noqa: B023
    assert ours.bos_id() == theirs.bos_id() == -1


def test_options_of_the_constructor_are_defaults_and_survive_pickling() -> None:
    options: dict[str, Any] = {"out_type": str, "add_bos": True, "reverse": True, "num_threads": 1}
    theirs = real.library().SentencePieceProcessor(model_proto=small(), **options)
    ours = spm.SentencePieceProcessor(model_proto=small(), **options)
    copy = pickle.loads(pickle.dumps(ours))  # noqa: S301 - our own
    assert ours.encode("ab xy") == copy.encode("ab xy") == theirs.encode("ab xy")
    empty = pickle.loads(pickle.dumps(spm.SentencePieceProcessor()))  # noqa: S301 - our own
    assert len(empty) == 0


def test_what_is_made_at_first_use_is_made_by_any_thread_and_copy() -> None:
    model = real.trained("nmt_nfkc")
    theirs, ours = both(model)
    text = "Ａ  b\u0301 ﬁ"  # noqa: RUF001 - what NFKC changes
    copies = [copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))]  # noqa: S301 - our own
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: ours.normalize(text), range(64)))
    assert {*found, *(each.normalize(text) for each in copies)} == {theirs.normalize(text)}
    ids = theirs.encode(text)
    for each in (ours, *copies):
        assert each.decode(ids, out_type="offset_mapping") == theirs.decode(ids, out_type="offset_mapping")
        assert each.piece_to_id(theirs.id_to_piece(ids)) == ids


def test_decoding_to_offsets_takes_time_in_proportion_to_the_ids() -> None:
    ours = spm.SentencePieceProcessor(model_proto=small())
    few = [3, 4, 5, 6] * 10_000
    assert_in_proportion(lambda ids: ours.decode(ids, out_type="serialized_proto"), few, 4 * few)


def test_models_are_loaded_from_files_bytes_and_messages(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    path.write_bytes(small())
    for loaded in (
        spm.SentencePieceProcessor(model_file=str(path)),
        spm.SentencePieceProcessor(path),
        spm.SentencePieceProcessor(model_file=os.fsencode(path)),
        spm.SentencePieceProcessor.from_file(os.fsencode(path)),
        spm.SentencePieceProcessor.from_file(path, out_type=int),
        spm.SentencePieceProcessor.from_proto(small()),
        spm.SentencePieceProcessor(model_proto=real.parse(small())),
    ):
        assert loaded.encode("ab") == [3, 6]
    with pytest.raises(ValueError, match="expected no model_file and no model_proto"):
        spm.SentencePieceProcessor.from_file(path, model_proto=b"")


def test_models_that_cannot_be_used_are_refused() -> None:
    parsed = real.parse(small())
    parsed.pieces.add(piece="a")
    for model in (b"hello world", parsed.SerializeToString()):
        with pytest.raises(RuntimeError, match=r"^INTERNAL: "):
            real.processor(model)
        with pytest.raises(RuntimeError, match=r"^INTERNAL: "):
            spm.SentencePieceProcessor(model_proto=model)


def test_what_is_random_is_not_offered() -> None:
    ours = spm.SentencePieceProcessor(model_proto=small())
    for method in (
        "sample_encode_as_ids",
        "sample_encode_as_pieces",
        "SampleEncodeAsNumpy",
        "SampleEncodeAsProto",
    ):
        with pytest.raises(RuntimeError, match="sampling is not supported"):
            getattr(ours, method)("a", nbest_size=-1, alpha=0.1)
    with pytest.raises(RuntimeError, match="NBestEncode is not available"):
        ours.nbest_encode("a")


def test_threads_and_seeds() -> None:
    pool = spm.ThreadPool(2)
    assert pool.num_threads() == 2
    assert spm.ThreadPool(-1).num_threads() == os.cpu_count()
    ours = spm.SentencePieceProcessor(model_proto=small())
    assert ours.encode(["a", "b"], thread_pool=pool) == [[3], [4, 6]]
    spm.set_random_generator_seed(1)
    spm.SetMinLogLevel(1)
    spm.set_nbest_timeout(3)
    with pytest.raises(TypeError, match="expected the seconds to be an int"):
        spm.SetNBestTimeout("a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected the level to be an int"):
        spm.set_min_log_level("a")  # type: ignore[arg-type]


# --- Normalizers --------------------------------------------------------------------------------------------

NORMALIZERS: list[dict[str, Any]] = [
    *({"rule_name": name} for name in real.RULES),
    {"rule_name": "nfkc", "add_dummy_prefix": False},
    {"rule_name": "identity", "escape_whitespaces": False, "remove_extra_whitespaces": False},
    {"norm_map": [("a", "b c"), ("bb", ""), ("é", " ")]},
]


@pytest.mark.parametrize("options", NORMALIZERS, ids=str)
def test_normalizers(options: dict[str, Any]) -> None:
    theirs, ours = real.library().SentencePieceNormalizer(**options), spm.SentencePieceNormalizer(**options)
    texts: list[str | bytes] = [
        *real.texts(6, 60, real.parse(small())),
        *real.random_bytes(7, 30),
        "ｱﾞ a",
        "",
        b"",
        " ",
        b" ",
    ]
    for text in texts:
        assert_normalizes_alike(theirs, ours, text)
    if options.get("rule_name") == "identity":
        assert ours.decompile() == []
    else:
        assert sorted(ours.decompile()) == sorted(theirs.decompile())
    spec = ours.serialized_normalizer_spec()
    again = [
        real.library().SentencePieceNormalizer(normalizer_spec=spec),
        spm.SentencePieceNormalizer(normalizer_spec=theirs.serialized_normalizer_spec()),
        spm.SentencePieceNormalizer(model_proto=theirs.serialized_model_proto()),
        pickle.loads(pickle.dumps(ours)),  # noqa: S301 - our own
    ]
    for each in again:
        assert each.Normalize("bb  \uff41 é") == theirs.normalize("bb  \uff41 é")


def test_normalizers_of_files(tmp_path: Path) -> None:
    (tmp_path / "rules.tsv").write_text("61 62\t63\n64\n", encoding="utf-8")
    (tmp_path / "m.model").write_bytes(small())
    for options in ({"rule_tsv": tmp_path / "rules.tsv"}, {"model_file": tmp_path / "m.model"}):
        for kind in (str, os.fsencode):
            names = {name: kind(path) for name, path in options.items()}
            theirs, ours = (module.SentencePieceNormalizer(**names) for module in (real.library(), spm))
            assert ours.normalize("abd  d") == theirs.normalize("abd  d")


def test_normalizers_that_are_none() -> None:
    for options in ({}, {"rule_name": "foo"}, {"rule_tsv": "/none/there"}, {"model_file": "/none/there"}):
        with pytest.raises(Exception, match=r".") as theirs:
            real.library().SentencePieceNormalizer(**options)
        with pytest.raises(theirs.type, match=str(theirs.value).split(": foo")[0]):
            spm.SentencePieceNormalizer(**options)  # type: ignore[arg-type]
    for rules in ([("a", "a")], [("", "b")], [("a", "b"), ("a", "c")]):
        for module in (real.library(), spm):
            with pytest.raises(ValueError, match="INVALID_ARGUMENT: "):
                module.SentencePieceNormalizer(norm_map=rules)
    with pytest.raises(TypeError, match="expected norm_map as pairs of strings"):
        spm.SentencePieceNormalizer(norm_map={"a": "b"})  # type: ignore[arg-type]


# --- Training -----------------------------------------------------------------------------------------------

CORPUS = "the cat sat on the mat\nhello world this is a test\nhéllo 12 345\n" * 20
BASE: dict[str, Any] = {"input": "c.txt", "vocab_size": 40, "model_type": "bpe"}
IDENTITY = {**BASE, "normalization_rule_name": "identity"}

# What `train` is called with; the model is written to a writer unless there is a prefix.
TRAININGS: list[dict[str, Any]] = [
    IDENTITY,
    BASE,
    {**IDENTITY, "user_defined_symbols": 'a,b,"x,y"'},
    {**IDENTITY, "user_defined_symbols": ["q", "z,z", "a b", '"q"'], "control_symbols": ("c1", "c2")},
    # As text: line breaks are characters, and nothing is behind the last comma.
    {**IDENTITY, "user_defined_symbols": "\n,<a>", "control_symbols": "\r"},
    {**IDENTITY, "user_defined_symbols": 'a,"b""c"dropped,', "control_symbols": '"d,'},
    {**IDENTITY, "user_defined_symbols": "a\0b,c", "mining_sentence_size": 5, "training_sentence_size": 7},
    {**IDENTITY, "control_symbols": "", "accept_language": ["en"], "self_test_sample_size": 5},
    {**IDENTITY, "input": ["c.txt", "c.txt"], "vocab_size": " 40", "model_type": "BPE", "split_digits": ""},
    {
        **IDENTITY,
        "hard_vocab_limit": "false",
        "byte_fallback": False,
        "character_coverage": 1,
        "add_dummy_prefix": "no",
    },
    {"input": "c.txt", "model_type": "bpe", "hard_vocab_limit": False, "normalization_rule_name": "identity"},
    {
        **IDENTITY,
        "unk_surface": "",
        "model_prefix": "",
        "pad_id": 3,
        "minloglevel": 1,
        "input_format": "text",
    },
    {**BASE, "normalization_rule_tsv": "rules.tsv"},
    {**IDENTITY, "denormalization_rule_tsv": "rules.tsv"},
    {**IDENTITY, "byte_fallback": "yes", "vocab_size": 300, "required_chars": "xyz"},
    {**IDENTITY, "required_chars": ["x", "y"], "user_defined_symbols": ["a", ""]},
    {**IDENTITY, "control_symbols": ["b\n", " c", 'd"e', 5, None]},
    {**IDENTITY, "vocabulary_output_piece_score": False, "model_prefix": "m"},
    {**IDENTITY, "model_prefix": "m"},
    {**IDENTITY, "foo": 1},
    {**IDENTITY, "byte_fallback": "maybe"},
    {**IDENTITY, "vocab_size": "x"},
    {**IDENTITY, "vocab_size": 40.0},
    {**IDENTITY, "pad_id": 1 << 31},
    {**IDENTITY, "input_sentence_size": -1},
    {**IDENTITY, "input_sentence_size": 1 << 64},
    {**IDENTITY, "model_type": "xx"},
    {**IDENTITY, "character_coverage": "abc"},
    {**IDENTITY, "input": "/none/there"},
    {**IDENTITY, "denormalization_rule_tsv": "/none/there"},
    {**IDENTITY, "normalization_rule_tsv": "/none/there"},
]


def trained(module: Any, options: dict[str, Any]) -> Any:
    """Returns what training writes, or its error."""
    written = io.BytesIO()
    if not options.get("model_prefix"):
        options = {**options, "model_writer": written}
    return outcome(lambda: module.SentencePieceTrainer.train(**options)), written.getvalue()


@pytest.mark.parametrize("number", range(len(TRAININGS)))
def test_training(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.txt").write_text(CORPUS, encoding="utf-8")
    Path("rules.tsv").write_text("61\t62\n", encoding="utf-8")
    files = []
    results = []
    for module in (real.library(), spm):
        results.append(trained(module, TRAININGS[number]))
        files.append([path.read_bytes() for path in sorted(tmp_path.glob("m.*"))])
    assert results[1] == results[0]
    assert files[1] == files[0]


def test_training_with_an_iterator() -> None:
    for sentences in (["a b c d", b"ab cd\r\n\n", "a\nb"], ["a b", 5], []):
        options = {"vocab_size": 12, "model_type": "bpe"}
        results = [
            trained(module, {**options, "sentence_iterator": iter(sentences)})
            for module in (real.library(), spm)
        ]
        if sentences:
            assert results[1] == results[0]
        else:
            assert results[1][0][0] is results[0][0][0] is RuntimeError
    for wrong in (["a b"], "a b"):
        with pytest.raises(TypeError, match="is not an instance of 'iterator'"):
            spm.SentencePieceTrainer.train(sentence_iterator=wrong, model_type="bpe")

    def failing() -> Any:
        yield "a b"
        raise ValueError("of mine")

    with pytest.raises(ValueError, match=r"^of mine$"):
        spm.SentencePieceTrainer.train(
            sentence_iterator=failing(), model_writer=io.BytesIO(), model_type="bpe", vocab_size=12
        )


@pytest.mark.parametrize(
    "more",
    [
        "--split_digits",
        "--vocab_size=30",
        "--user_defined_symbols=\u3000,<a>\x1f",
        "--required_chars=\xa0\u2003",
    ],
)
def test_training_with_one_string(more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.txt").write_text(CORPUS, encoding="utf-8")
    arguments = f"--input=c.txt --vocab_size=40 --model_type=bpe --normalization_rule_name=identity {more}"
    files = []
    for module in (real.library(), spm):
        assert module.SentencePieceTrainer.Train(f"{arguments} --model_prefix=m") is True
        files.append([Path(name).read_bytes() for name in ("m.model", "m.vocab")])
    assert files[1] == files[0]


def test_trainings_that_contradict_themselves_or_are_not_offered() -> None:
    train = spm.SentencePieceTrainer.train
    with pytest.raises(RuntimeError, match=r"SentenceIterator and trainer_spec.input.. must be exclusive"):
        train(model_type="bpe")
    with pytest.raises(RuntimeError, match=r"ModelProto and trainer_spec.model_prefix.. must be exclusive"):
        train(input="c.txt", model_type="bpe")
    with pytest.raises(RuntimeError, match="models of type unigram are not supported: set model_type='bpe'"):
        train(input="c.txt", model_prefix="m")
    with pytest.raises(NotImplementedError, match="pretokenizer is not supported for the input_format tsv"):
        train(input="c.txt", model_prefix="m", model_type="bpe", pretokenizer=str.split, input_format="tsv")


def test_training_with_a_normalizer() -> None:
    models = []
    for module in (real.library(), spm):
        rules = module.SentencePieceNormalizer(rule_name="identity", add_dummy_prefix=False)
        options = {"sentence_iterator": iter(["a b c d", "ab"]), "vocab_size": 12, "model_type": "bpe"}
        models.append(trained(module, {**options, "normalizer": rules}))
    assert models[1] == models[0]
    models = []
    for module in (real.library(), spm):
        rules = module.SentencePieceNormalizer(norm_map=[("a", "b")])
        options = {"sentence_iterator": iter(["a b c d", "ab"]), "vocab_size": 12, "model_type": "bpe"}
        models.append(trained(module, {**options, "normalizer": rules}))
    assert models[1] == models[0]


@pytest.mark.parametrize(
    "option", ["normalization_rule_name", "normalization_rule_tsv", "add_dummy_prefix", "name"]
)
def test_a_normalizer_beside_options_of_normalization(option: str) -> None:
    for module in (real.library(), spm):
        rules = module.SentencePieceNormalizer(rule_name="identity")
        with pytest.raises(ValueError, match=f"Cannot specify both .*: {option}"):
            module.SentencePieceTrainer.train(
                sentence_iterator=iter(["a b"]),
                model_writer=io.BytesIO(),
                model_type="bpe",
                normalizer=rules,
                **{option: "true"},
            )


def test_an_input_that_cannot_be_read_is_named() -> None:
    # It opens, and reading its start fails without a name.
    with pytest.raises(RuntimeError, match='"/proc/self/mem": '):
        spm.SentencePieceTrainer.train(input="/proc/self/mem", model_prefix="m", model_type="bpe")
