import importlib
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill._backend import charsmap_with_name
from bytemill.progress import Progress
from bytemill.training.sentencepiece import (
    TrainedPieces,
    learn_pieces,
    line_batches,
    sentence_batches,
)
from support.command_line import bytemill as command
from support.command_line import environment
from support.piece_training import (
    COMPUTED,
    random_options,
    random_sentences,
    trained_by_sentencepiece,
    with_counts,
)

pytest.importorskip("sentencepiece")


def learned(sentences: list[str], options: dict[str, Any], **more: Any) -> TrainedPieces:
    charsmap = charsmap_with_name(options.get("normalization_rule_name", "identity"))
    assert charsmap is not None
    return learn_pieces(sentence_batches(sentences), options, lines=False, charsmap=charsmap, **more)


def pieces_of(model: bytes) -> list[tuple[str, str, int]]:
    messages: Any = importlib.import_module("sentencepiece.sentencepiece_model_pb2")
    pieces = messages.ModelProto.FromString(model).pieces
    # As text, -0.0 differs from 0.0.
    return [(piece.piece, str(piece.score), piece.type) for piece in pieces]


def compare(sentences: list[str], options: dict[str, Any]) -> bool:
    """Returns whether the real package learns a model; asserts that ours is the same, or both refuse."""
    try:
        expected = pieces_of(trained_by_sentencepiece(sentences, options))
    except RuntimeError as error:
        message = str(error)
    else:
        pieces = [(piece, str(score), kind) for piece, score, kind in learned(sentences, options).pieces]
        assert pieces == expected, (options, sentences)
        return True
    with pytest.raises(ValueError, match=r".") as refusal:
        learned(sentences, options)
    assert COMPUTED.findall(str(refusal.value)) == COMPUTED.findall(message), (options, sentences)
    return False


@pytest.mark.parametrize("part", range(8))
def test_random_options_learn_the_pieces_of_sentencepiece(part: int) -> None:
    learns = 0
    for seed in range(60):
        choice = random.Random(f"{part} {seed}")  # noqa: S311 - no secret
        sentences, options = random_sentences(choice), random_options(choice)
        if choice.random() < 0.15:
            sentences, options["input_format"] = with_counts(choice, sentences), "tsv"
        learns += compare(sentences, options)
    assert learns > 20


@pytest.mark.parametrize(
    ("options", "learns"),
    [
        ({"required_chars": "a\0z"}, True),
        ({"required_chars": "a z"}, False),
        ({"required_chars": "\u2585"}, False),
        ({"unk_id": -1, "bos_piece": "<unk>"}, True),
        ({"unk_id": -1, "bos_piece": "<unk>", "eos_piece": "<unk>"}, False),
        ({"unk_id": -1, "pad_piece": "<unk>"}, False),
        ({"unk_id": 3, "eos_piece": "<unk>"}, False),
        ({"user_defined_symbols": ["\0"]}, False),
        ({"unk_piece": "u\0"}, False),
        ({"input_sentence_size": 100}, False),
    ],
)
def test_options_that_hardly_anybody_sets(options: dict[str, Any], learns: bool) -> None:  # noqa: FBT001
    given = {"vocab_size": 40, "hard_vocab_limit": False} | options
    assert compare(["ab ab abc", "a\0b \u2581"], given) == learns


@pytest.mark.parametrize(
    "options",
    [{}, {"byte_fallback": True, "vocab_size": 320}, {"user_defined_symbols": ["<0x41>"]}],
    ids=["learned", "bytes", "a symbol"],
)
def test_names_of_bytes_are_text_unless_bytes_have_pieces(options: dict[str, Any]) -> None:
    given = {"vocab_size": 60, "hard_vocab_limit": False} | options
    assert compare(["hello <0x41>b", "x<0x0A><0x41>", "<0x4 <0xff> <0xFF>"], given)


def test_symbols_that_begin_with_many_others() -> None:
    text = "aabbcabc" * 10
    symbols = [text[:length] for length in range(2, 80)]
    given = {"vocab_size": 200, "hard_vocab_limit": False, "user_defined_symbols": symbols}
    assert compare([text, f"{text} abc", text[3:]] * 3, given)


@pytest.mark.parametrize("sentences", [[" "], ["", "  "], ["\u2581"]])
def test_sentences_of_spaces(sentences: list[str]) -> None:
    """Nothing is learned where bytes stand for all characters; a share of nothing is refused."""
    assert not compare(sentences, {"vocab_size": 40, "hard_vocab_limit": False})
    options = {"vocab_size": 280, "byte_fallback": True, "auto_character_coverage": True}
    assert not compare(sentences, options)
    assert compare(sentences, options | {"hard_vocab_limit": False})
    assert not compare([""], options | {"hard_vocab_limit": False})


@pytest.mark.parametrize("lines", [False, True])
def test_bytes_that_no_text_has(lines: bool) -> None:  # noqa: FBT001
    """Where they end short words these were counted without them."""
    sentences: list[Any] = [b"a\xff b\xff\xff a a\xff", b"\xff", b"a\xfea \xe2\x96 \xe4\xb8"]
    options = {"vocab_size": 40, "hard_vocab_limit": False, "split_by_unicode_script": False}
    expected = pieces_of(trained_by_sentencepiece(sentences, options))
    assert "a\ufffd" in {piece.strip("\u2581") for piece, *_ in expected}
    texts = [b"\n".join(sentences)] if lines else sentences
    trained = learn_pieces(sentence_batches(texts), options, lines=lines)
    assert [(piece, str(score), kind) for piece, score, kind in trained.pieces] == expected


def words(seed: int, number: int) -> list[str]:
    """Sentences of words by a law of their own: short ones are frequent."""
    choice = random.Random(seed)  # noqa: S311 - no secret
    vocabulary = ["".join(choice.choices("etaoinshrdlu", k=choice.randint(1, 9))) for _ in range(3000)]
    vocabulary += [
        "naïve",
        "ﬁne",
        "中文字",
        "x\u3000y",
        "\uff11\uff12",
        "a\u0308",
        "don\u2019t",
        "(see",
        "www.a.b/c?d=e",
    ]
    chances = [1 / rank for rank in range(1, len(vocabulary) + 1)]
    return [" ".join(choice.choices(vocabulary, chances, k=12)) for _ in range(number)]


@pytest.mark.parametrize("rules", ["identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"])
@pytest.mark.parametrize("extra_spaces", [True, False])
def test_text_of_many_words_with_all_rules(rules: str, extra_spaces: bool) -> None:  # noqa: FBT001
    options = {
        "vocab_size": 900,
        "normalization_rule_name": rules,
        "remove_extra_whitespaces": not extra_spaces,
        "user_defined_symbols": ["www", "\u2019"],
        "character_coverage": 1.0,
    }
    sentences = [
        f"  {text}\r x\u2581y\u2581 " if index % 5 else text for index, text in enumerate(words(1, 900))
    ]
    assert compare(sentences, options)


def test_threads_decide_nothing() -> None:
    sentences = words(2, 6000)
    expected = learned(sentences, {"vocab_size": 2000})
    assert learned(sentences, {"vocab_size": 2000}, num_threads=2) == expected


def test_lines_of_files_are_sentences(tmp_path: Path) -> None:
    # The carriage return is kept, as there; the last line needs no line break.
    path = tmp_path / "text.txt"
    text = "\n".join(words(3, 300)) + "\r\n\n" + "x" * 5000 + "\nthe end"
    path.write_bytes(text.encode())
    options = {"vocab_size": 300, "normalization_rule_name": "identity"}
    expected = pieces_of(trained_by_sentencepiece([], options | {"input": str(path)}))
    trained = learn_pieces(line_batches([path]), options, lines=True, num_threads=2)
    assert [(piece, str(score), kind) for piece, score, kind in trained.pieces] == expected
    assert (trained.sentences, trained.too_long) == (301, 1)


def without_files(model: bytes) -> bytes:
    """Returns a model that does not say which files it was trained on and written to."""
    messages: Any = importlib.import_module("sentencepiece.sentencepiece_model_pb2")
    parsed = messages.ModelProto.FromString(model)
    parsed.trainer_spec.ClearField("input")
    parsed.trainer_spec.ClearField("model_prefix")
    rest: bytes = parsed.SerializeToString()
    return rest


def test_vocabularies_are_written_as_sentencepiece_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(words(4, 200)), encoding="utf-8")
    for scores in (True, False):
        options: dict[str, Any] = {"vocab_size": 300, "vocabulary_output_piece_score": scores}
        train: Any = importlib.import_module("sentencepiece").SentencePieceTrainer.train
        train(
            input=str(path),
            model_prefix=str(tmp_path / "m"),
            model_type="bpe",
            normalization_rule_name="identity",
            minloglevel=3,
            **options,
        )
        encoding = bytemill.train(path, kind="sentencepiece", normalization_rule_name="identity", **options)
        encoding.save_sentencepiece(tmp_path / "ours.model", vocab=tmp_path / "ours.vocab")
        assert (tmp_path / "ours.vocab").read_bytes() == (tmp_path / "m.vocab").read_bytes()
        assert (tmp_path / "ours.model").read_bytes() == without_files((tmp_path / "m.model").read_bytes())


def test_a_seed_decides_which_sentences_are_kept() -> None:
    sentences = words(5, 2000)

    def kept(seed: int, **more: Any) -> list[Any]:
        options = {"vocab_size": 400, "input_sentence_size": 150, "seed": seed, "hard_vocab_limit": False}
        return learned(sentences, options | more).pieces

    assert kept(1) == kept(1) != kept(2)
    first = learned(sentences[:150], {"vocab_size": 400, "hard_vocab_limit": False}).pieces
    assert kept(1, shuffle_input_sentence=False) == first


@pytest.mark.parametrize("line", ["no count", "a\t1\t2", "a\t0", "a\tx", "a\t1.5", ""])
def test_lines_without_a_count_are_an_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"frequency|Input format must be: word <tab> freq\."):
        learned(["b\t2", line], {"input_format": "tsv"})


def test_sentences_that_are_all_too_long_are_told() -> None:
    with pytest.raises(ValueError, match=r"got none: 2 are longer than the max_sentence_length of 10 bytes"):
        learned(["a" * 11, "b" * 12], {"max_sentence_length": 10})


def test_training_gives_an_encoding_with_the_ids_of_sentencepiece() -> None:
    sentences = words(6, 1500)
    options: dict[str, Any] = {
        "vocab_size": 700,
        "byte_fallback": True,
        "control_symbols": ["<turn>"],
        "split_digits": True,
    }
    model = trained_by_sentencepiece(sentences, options | {"normalization_rule_name": "nmt_nfkc"})
    encoding = bytemill.train(
        ["\n".join(sentences[:700]), *sentences[700:]], kind="sentencepiece", progress=False, **options
    )
    processor = importlib.import_module("sentencepiece").SentencePieceProcessor(model_proto=model)
    for text in [*sentences[:50], "naïve \uff11\uff12  中 \U0001f600 "]:
        assert encoding.encode_ordinary(text) == processor.encode(text)
    assert encoding.special_tokens_set == {"<s>", "</s>", "<turn>"}


def test_training_reports_progress_and_may_be_interrupted() -> None:
    calls: list[Progress] = []
    bytemill.train(words(7, 300), 300, kind="sentencepiece", progress=calls.append)
    assert calls[-1].documents == 300

    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bytemill.train(words(7, 300), 300, kind="sentencepiece", progress=interrupt)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"pattern": "gpt2"}, ValueError, r"pattern is for merges of bytes"),
        ({"tie_break": "first_seen"}, ValueError, r"tie_break is for merges of bytes"),
        ({"byte_falback": True}, TypeError, r"no option 'byte_falback' .*byte_fallback\?"),
        ({"normalization_rule_name": "nfd"}, ValueError, r"got 'nfd'"),
        ({"control_symbols": "<a>"}, TypeError, r"control_symbols must be several strings"),
        ({"control_symbols": ["<a>", 1]}, TypeError, r"control_symbols must be several strings"),
        ({"byte_fallback": 1}, TypeError, r"byte_fallback must be of the type bool, not int"),
        ({"unk_piece": b"a"}, TypeError, r"unk_piece must be of the type str, not bytes"),
        ({"pad_id": 1.0}, TypeError, r"pad_id must be an integer, not 1.0"),
        ({"character_coverage": "1"}, TypeError, r"character_coverage must be a number, not '1'"),
        ({"user_defined_symbols": ["a\0"]}, ValueError, r"user_defined_symbols without a NUL character"),
        ({"kind": "unigram"}, ValueError, r"expected kind to be bytes or sentencepiece, got 'unigram'"),
        ({"kind": "bytes", "byte_fallback": True}, TypeError, r"unless kind='sentencepiece'"),
    ],
)
def test_arguments_of_the_other_kind_are_refused(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        bytemill.train(["some text"], 300, progress=False, **({"kind": "sentencepiece"} | arguments))


def test_models_are_byte_for_byte_those_of_sentencepiece() -> None:
    learns = 0
    for seed in range(60):
        choice = random.Random(seed)  # noqa: S311 - no secret
        sentences = random_sentences(choice)
        options = {"normalization_rule_name": "identity", **random_options(choice)}
        if seed % 3 == 0:
            # SentencePiece says its default only in the rules.
            del options["normalization_rule_name"]
        if choice.random() < 0.3:
            options["unk_surface"] = choice.choice(["", "?", " \u2047 "])
        try:
            expected = trained_by_sentencepiece(sentences, options, defaults={})
        except RuntimeError:
            continue
        size = options.pop("vocab_size")
        encoding = bytemill.train(sentences, size, kind="sentencepiece", progress=False, **options)
        assert encoding.definition.model == expected, options
        learns += 1
    assert learns > 20


def test_options_may_be_iterators() -> None:
    sentences = words(4, 300)
    options: dict[str, Any] = {"kind": "sentencepiece", "progress": False}
    symbols = ["<a>", "<b>"]
    expected = bytemill.train(sentences, 300, user_defined_symbols=symbols, **options)
    encoding = bytemill.train(sentences, 300, user_defined_symbols=iter(symbols), **options)
    assert encoding.definition == expected.definition


def test_a_large_file_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.txt"
    text = "\n" + "\r\n".join(" ".join(words(seed, 50)) for seed in range(40))
    path.write_bytes(text.encode())
    sizes: list[int] = []

    def learned_in_parts(batches: Any, *arguments: Any, **named: Any) -> TrainedPieces:
        def counted() -> Any:
            for batch in batches:
                sizes.append(sum(map(len, batch)))
                yield batch

        return learn_pieces(counted(), *arguments, **named)

    options: dict[str, Any] = {"kind": "sentencepiece", "progress": False}
    expected = bytemill.train([text], 500, **options)
    monkeypatch.setattr("bytemill.training.models.learn_pieces", learned_in_parts)
    monkeypatch.setattr("bytemill.documents.blocks.BLOCK_BYTES", 5_000)
    monkeypatch.setattr("bytemill.documents.blocks.BATCH_BYTES", 20_000)
    assert bytemill.train(path, 500, **options).definition == expected.definition
    assert sum(sizes) == path.stat().st_size > 100_000
    assert max(sizes) < 30_000


@pytest.mark.parametrize("rules", ["identity", "nmt_nfkc"])
def test_the_command_line_writes_the_files_of_sentencepiece(tmp_path: Path, rules: str) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes("\r\n".join(words(9, 300)).encode())
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    train: Any = importlib.import_module("sentencepiece").SentencePieceTrainer.train
    options: dict[str, Any] = {
        "character_coverage": 0.999,
        "pad_id": 3,
        "user_defined_symbols": ["<a>", "the"],
        "split_digits": True,
        "unk_surface": "?",
        "normalization_rule_name": rules,
    }
    train(
        input=str(text), model_prefix=str(theirs), model_type="bpe", vocab_size=500, minloglevel=3, **options
    )
    settings = [f"{name}={','.join(v) if isinstance(v, list) else v}" for name, v in options.items()]
    done = command(
        *("train", text, "--kind", "sentencepiece", "--vocab-size", 500, "--json"),
        *("-o", ours.with_suffix(".vocab"), "-o", ours.with_suffix(".model")),
        *(part for setting in settings for part in ("--piece-option", setting)),
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["files"] == [str(ours.with_suffix(".vocab")), str(ours.with_suffix(".model"))]
    model = without_files(theirs.with_suffix(".model").read_bytes())
    assert ours.with_suffix(".model").read_bytes() == model
    assert ours.with_suffix(".vocab").read_bytes() == theirs.with_suffix(".vocab").read_bytes()


def test_the_command_line_trains_models(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(words(8, 400)), encoding="utf-8")
    output = tmp_path / "tokenizer.model"
    arguments = ["train", text, "--kind", "sentencepiece", "--vocab-size", 600, "-o", output]
    for wrong in (
        ["-o", tmp_path / "tokenizer.txt"],
        ["-o", tmp_path / "other.vocab"],
        ["--pattern", "gpt2"],
        ["--piece-option", "x=1"],
        ["--piece-option", "byte_fallback=maybe"],
    ):
        assert command(*arguments, *wrong).code == 2
    settings = ["--piece-option", "byte_fallback=true", "--piece-option", "user_defined_symbols=<a>,<b>"]
    done = command(*arguments, *settings, "--json")
    assert done.code == 0, done.err
    options = {"byte_fallback": True, "user_defined_symbols": ["<a>", "<b>"]}
    trained = learn_pieces(
        line_batches([text]),
        {"vocab_size": 600, **options},
        lines=True,
        charsmap=charsmap_with_name("nmt_nfkc") or b"",
    )
    assert pieces_of(output.read_bytes()) == [
        (piece, str(score), kind) for piece, score, kind in trained.pieces
    ]


@pytest.mark.parametrize(
    "option",
    [
        ["--pattern", "gpt2"],
        ["--special-token", "<s>"],
        ["--min-frequency", "5"],
        ["--max-token-length", "4"],
        ["--tie-break", "first_seen"],
        ["--tie-break", "smallest_pair"],
        ["--pad-vocab-to", "64"],
        ["--initial", "gpt2"],
        ["--resume"],
        ["--memory", "1G"],
        ["--work", "work"],
    ],
)
def test_the_command_line_refuses_options_of_bytes(option: list[str], tmp_path: Path) -> None:
    output = tmp_path / "tokenizer.model"
    called = command(
        *("train", "--kind", "sentencepiece", "--vocab-size", 60, "-o", output, *option), given="some words"
    )
    assert called.code == 2
    assert f"{option[0]} is for --kind bytes" in called.err
    assert not output.exists()


@pytest.mark.parametrize("extra", [{}, {"remove_extra_whitespaces": False}, {"add_dummy_prefix": False}])
@pytest.mark.parametrize("rules", ["identity", "nmt_nfkc"])
def test_lines_of_a_text_are_sentences(rules: str, extra: dict[str, Any]) -> None:
    """Lines that are all sentences without marks are counted at once; others one by one."""
    charsmap = charsmap_with_name(rules)
    assert charsmap is not None
    words = ["low", "<s>low", "lower<", "\u00e9\u00e9n", "\ufb01t", "", "<0x41>", "a" * 30, "x\ty", "0<s", ""]
    rare = ["\u2581mark", "\u2585", "long" * 20, "ab\x1fc"]
    options = {
        "vocab_size": 400,
        "hard_vocab_limit": False,
        "byte_fallback": True,
        "max_sentence_length": 70,
    } | extra
    for seed in range(40):
        random_ = random.Random(seed)  # noqa: S311 - reproducible texts
        words_here = words + rare[: seed % 5]
        lines = [" ".join(random_.choices(words_here, k=random_.randrange(12))) for _ in range(60)]
        halves = ["\n".join(lines[:seed]), "\n".join(lines[seed:]) + "\n" * (seed % 3)]
        together = learn_pieces(sentence_batches(halves), options, lines=True, charsmap=charsmap)
        apart = learn_pieces(sentence_batches(lines), options, lines=False, charsmap=charsmap)
        assert together == apart


def test_nothing_heavy_is_imported_to_train(tmp_path: Path) -> None:
    """Importing NumPy takes as long as learning a small model."""
    script = (
        "import sys\nimport bytemill.sentencepiece as spm\n"
        f"spm.SentencePieceTrainer.train(input={str(tmp_path / 'text')!r}, model_type='bpe', vocab_size=9,"
        f" model_prefix={str(tmp_path / 'm')!r})\n"
        f"spm.SentencePieceProcessor(model_file={str(tmp_path / 'm.model')!r}).encode('low')\n"
        "heavy = {'numpy', 'pyarrow', 'regex', 'hashlib', 'bytemill.documents', 'bytemill.reference'}\n"
        "print('trained', *sorted(heavy & {*sys.modules}))"
    )
    (tmp_path / "text").write_text("low low\n", encoding="utf-8")
    result = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, "-c", script], capture_output=True, check=True, timeout=60, env=environment()
    )
    assert result.stdout.split() == [b"trained"]
