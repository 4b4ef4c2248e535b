"""`train`: what it writes, what it refuses, and how it goes on after it was killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill._arguments import parse_bytes, parse_tokens
from bytemill.cli import units
from bytemill.jobs import counting
from bytemill.training import learning
from support.command_line import bytemill as run
from support.command_line import environment

TEXT = "the lowest of the low, slower and slowest; " * 50
OTHER = "newer and newest, wider and widest <|end|> " * 50


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    """Two files."""
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path, text in zip(paths, (TEXT, OTHER), strict=True):
        path.write_text(text)
    return paths


def ranks_of(path: Path) -> dict[bytes, int]:
    return bytemill.Encoding.from_file(path, pattern="o200k")._mergeable_ranks


def test_what_is_written_is_what_the_library_learns(corpus: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "mine.bytemill"
    called = run("train", *corpus, "--vocab-size", 285, "-o", output, "--special-token", "<|end|>", "--json")
    assert called.code == 0
    expected = bytemill.train(corpus, 285, special_tokens=["<|end|>"], progress=False)
    mine = bytemill.Encoding.from_file(output)
    assert mine._mergeable_ranks == expected._mergeable_ranks
    assert mine._special_tokens == expected._special_tokens == {"<|end|>": 284}
    assert (mine.name, mine._pat_str) == ("mine", expected._pat_str)
    report = json.loads(called.out)
    assert (report["vocab_size"], report["sha256"]) == (285, expected.sha256)
    assert report["files"] == [str(output)]


def test_several_outputs_and_options(corpus: list[Path], tmp_path: Path) -> None:
    outputs = [tmp_path / "m.tiktoken", tmp_path / "m.model"]
    options = ["--pattern", "gpt2", "--tie-break", "huggingface", "--max-token-length", 4, "--threads", 1]
    called = run(
        "train", *corpus, "--vocab-size", 280, *options, *(item for path in outputs for item in ("-o", path))
    )
    assert called.code == 0
    assert called.out.splitlines()[0].split() == ["name", "m"]
    expected = bytemill.train(
        corpus, 280, pattern="gpt2", tie_break="huggingface", max_token_length=4, progress=False
    )
    assert ranks_of(outputs[0]) == expected._mergeable_ranks
    assert bytemill.Encoding.from_file(outputs[1]).sha256 == expected.sha256


def test_training_goes_on_from_an_encoding(corpus: list[Path], tmp_path: Path) -> None:
    first, second = tmp_path / "first.bytemill", tmp_path / "second.bytemill"
    assert run("train", corpus[0], "--vocab-size", 262, "--pattern", "cl100k", "-o", first).code == 0
    assert run("train", corpus[1], "--vocab-size", 268, "--initial", first, "-o", second).code == 0
    small, large = bytemill.Encoding.from_file(first), bytemill.Encoding.from_file(second)
    assert large._pat_str == small._pat_str
    assert large.merges()[:6] == small.merges()
    assert len(large.merges()) == 12


def test_standard_input_and_json_lines(tmp_path: Path) -> None:
    output = tmp_path / "m.bytemill"
    lines = "".join(json.dumps({"body": text}) + "\n" for text in (TEXT, OTHER))
    called = run(
        "train", "--field", "body", "--vocab-size", 280, "--pattern", "none", "-o", output, given=lines
    )
    assert called.code == 0
    expected = bytemill.train([TEXT, OTHER], 280, pattern=None, progress=False)
    assert bytemill.Encoding.from_file(output).sha256 == expected.sha256


def test_a_training_that_ends_early_warns(tmp_path: Path) -> None:
    called = run("train", "--vocab-size", 10_000, "-o", tmp_path / "m.bytemill", given=TEXT)
    assert called.code == 0
    assert called.err.startswith("bytemill: warning: training ended with ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--vocab-size", "100"], "expected a vocab_size of at least 256"),
        (["--vocab-size", "300", "--pattern", "gpt5"], "unknown pattern 'gpt5'"),
        (["--vocab-size", "300", "--pattern", "None"], "or no splitting (--pattern none, pattern=None)"),
        (["--vocab-size", "300", "-o", ""], "expected the name of a file or folder, got ''"),
        (["--vocab-size", "300", "--pattern", "("], "("),
        (["--vocab-size", "300", "-o", "m.txt"], "cannot tell the format of 'm.txt'"),
        (["--vocab-size", "300", "-o", "/no/such/folder/m.bytemill"], "there is no folder"),
        (["--vocab-size", "300", "--resume"], "--resume needs files"),
    ],
)
def test_mistakes_are_told_before_anything_is_read(options: list[str], said: str, tmp_path: Path) -> None:
    # Bytes that no command could read: JSON lines that are none.
    called = run("train", "--field", "x", "-o", tmp_path / "m.bytemill", *options, given=b"no JSON")
    assert called.code == 2
    assert said in called.err
    assert not list(tmp_path.iterdir())


# What a format does not hold, and what its writer says of that.
REFUSED = [
    (["merges.txt"], "its readers cut text by GPT-2's pattern"),
    (["vocab.json"], "its readers cut text by GPT-2's pattern"),
    (["vocab.bpe"], "its readers cut text by GPT-2's pattern"),
    (["encoder.json"], "its readers cut text by GPT-2's pattern"),
    (["gpt2:folder"], "its readers cut text by GPT-2's pattern"),
    (["merges.txt", "--pattern", "gpt2", "--special-token", "end"], "special tokens are in <> or []"),
    (["merges.txt", "--pattern", "gpt2", "--special-token", "Ġ"], "would be mergeable tokens"),
    (["m.model", "--special-token", "a b"], "the special token 'a b' cannot be written"),
    (["m.model", "--special-token", "<a>\n"], "cannot be written"),
    (["m.model", "--pattern", r"\w+|\W+ "], "cannot be translated to or from Python's package regex"),
    (["tokenizer.json", "--special-token", "é"], "cannot be written as tokenizer.json"),
    (["huggingface:folder", "--special-token", "Ġ"], "cannot be written as tokenizer.json"),
    (["m.bytemill", "-o", "merges.txt"], "its readers cut text by GPT-2's pattern"),
    (["m.bytemill", "--name", "\udce9"], "name: expected text"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_a_format_does_not_hold_is_told_before_anything_is_read(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # Bytes that no command could read: JSON lines that are none.
    called = run("train", "--field", "x", "--vocab-size", 300, "-o", *options, given=b"no JSON")
    assert called.code == 2
    assert said in called.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "options",
    [
        ["m.bytemill", "--special-token", "a b"],
        ["m.tiktoken", "--pattern", "none"],
        ["m.model", "--pattern", "none", "--special-token", "<a>", "--pad-vocab-to", "64"],
        ["tokenizer.json", "--special-token", "a b", "--tie-break", "huggingface"],
        ["merges.txt", "--pattern", "gpt2", "--special-token", "<a>", "--pad-vocab-to", "64"],
        ["gpt2:folder", "--pattern", "gpt2", "--initial", "gpt2", "--vocab-size", "50260"],
    ],
)
def test_what_a_format_holds_is_learned_and_written(
    options: list[str], corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    called = run("train", *corpus, "--vocab-size", 280, "--json", "-o", *options)
    assert called.code == 0, called.err
    assert all(Path(name).is_file() for name in json.loads(called.out)["files"])


@pytest.mark.parametrize(
    "output",
    [
        "tokenizer.json",
        "./tokenizer.json",
        "sub/tokenizer.json",
        "new/tokenizer.json",
        "huggingface:.",
        "huggingface:..",
        "gpt2:.",
        "merges.txt",
        "vocab.json",
        "vocab.bpe",
        "m.bytemill",
        "sub/../m.model",
    ],
)
def test_counts_are_kept_beside_any_output(
    output: str, corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    (here / "sub").mkdir(parents=True)
    monkeypatch.chdir(here)
    train = [
        "train",
        *corpus,
        "--vocab-size",
        280,
        "--pattern",
        "gpt2",
        "-o",
        output,
        "--resume",
        "--threads",
        1,
    ]
    learn = learning.learn_encoding

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(learning, "learn_encoding", stopped)
    assert run(*train).code == 130
    (counts,) = tmp_path.rglob("*.counts")
    assert list(counts.glob("counts/*.parquet"))
    monkeypatch.setattr(learning, "learn_encoding", learn)
    monkeypatch.setattr(counting, "add_source", stopped)
    # Nothing is counted again.
    called = run(*train)
    assert called.code == 0, called.err
    assert not list(tmp_path.rglob("*.counts"))


@pytest.mark.parametrize(
    ("text", "tokens", "size"),
    [
        ("1_000", 1000, 1000),
        ("32k", 32_000, 32 << 10),
        ("1.5M", 1_500_000, 3 << 19),
        (" 2 G ", 2 * 10**9, 2 << 30),
        ("10B", 10**10, 10),
        ("2GB", None, 2 << 30),
        ("512 MiB", None, 512 << 20),
        ("0.0005k", None, None),
        ("1.0001k", None, None),
        *((text, None, None) for text in ("", "k", "-1", "1e6", "2iB", "1 k k", "9" * 40, "٣", "1,000")),
    ],
)
def test_sizes(text: str, tokens: int | None, size: int | None) -> None:
    """Tokens are counted in powers of 1,000, bytes in powers of 1,024."""
    for parse, number in ((parse_tokens, tokens), (parse_bytes, size)):
        if number is not None:
            assert parse(text) == number
        else:
            with pytest.raises(ValueError, match=r"expected a number of .* such as"):
                parse(text)


def test_a_size_of_a_vocabulary(corpus: list[Path], tmp_path: Path) -> None:
    for value, size in (("0.28k", 280), ("280", 280)):
        called = run("train", *corpus, "--vocab-size", value, "-o", tmp_path / "m.bytemill", "--json")
        assert called.code == 0, called.err
        assert json.loads(called.out)["vocab_size"] == size
    called = run("train", *corpus, "--vocab-size", "32kk", "-o", tmp_path / "m.bytemill")
    assert (called.code, called.out) == (2, "")
    assert "expected a number of tokens such as 1000000 or 100M, got '32kk'" in called.err


# --- --resume ---


def test_resume_gives_the_same_and_cleans_up(corpus: list[Path], tmp_path: Path) -> None:
    plain, resumed = tmp_path / "plain.bytemill", tmp_path / "resumed.bytemill"
    options = ["--vocab-size", 300, "--threads", 1]
    assert run("train", *corpus, *options, "-o", plain).code == 0
    assert run("train", *corpus, *options, "-o", resumed, "--resume").code == 0
    first, second = bytemill.Encoding.from_file(plain), bytemill.Encoding.from_file(resumed)
    assert first._mergeable_ranks == second._mergeable_ranks
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.txt",
        "b.txt",
        "plain.bytemill",
        "resumed.bytemill",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
def test_a_killed_run_goes_on_where_it_was(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = corpus
    monkeypatch.setattr(units, "RESUMED_BYTES", 1)
    expected = bytemill.train(corpus, 285, progress=False)
    output = tmp_path / "mine.bytemill"
    counts = tmp_path / "mine.bytemill.counts"
    command = ["train", first, second, "--vocab-size", 285, "-o", output, "--resume", "--threads", 1]

    # The run is killed when it has counted a file.
    script = (
        "import os, signal, sys\nfrom bytemill.cli import main, units\nfrom bytemill.jobs import work\n"
        "units.RESUMED_BYTES = 1\n"
        "forget = work.forget\n"
        "def kill(*marks): forget(*marks); os.kill(os.getpid(), signal.SIGKILL)\n"
        "work.forget = kill\nmain(sys.argv[1:], prog_name='bytemill')"
    )
    killed = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", script, *map(str, command)], env=environment(), check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(list(counts.glob("commits/*.json"))) == 1
    assert not output.exists()

    # What was counted is not read again.
    read: list[object] = []
    add_source = getattr(counting, "add_source")  # noqa: B009 - it is not exported there

    def noted(counted: Any, ranges: Any, *args: Any, **options: Any) -> None:
        read.extend(ranges)
        add_source(counted, ranges, *args, **options)

    monkeypatch.setattr(counting, "add_source", noted)
    assert run(*command).code == 0
    assert len(read) == 1
    mine = bytemill.Encoding.from_file(output)
    assert mine._mergeable_ranks == expected._mergeable_ranks
    assert not counts.exists()


def test_counts_of_files_that_changed_are_not_taken(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "RESUMED_BYTES", 1)
    output = tmp_path / "mine.bytemill"
    broken = tmp_path / "later.txt.gz"
    broken.write_bytes(b"\x1f\x8b broken")
    options = ["--vocab-size", 290, "-o", output, "--resume", "--threads", 1]
    assert run("train", *corpus, broken, *options).code == 2
    counts = tmp_path / "mine.bytemill.counts"
    assert len(list(counts.glob("commits/*.json"))) == 2
    corpus[0].write_text(TEXT + "more of it")
    for pattern in ("gpt2", "cl100k"):
        assert run("train", *corpus, *options, "--pattern", pattern).code == 0
        expected = bytemill.train(corpus, 290, pattern=pattern, progress=False)
        assert bytemill.Encoding.from_file(output)._mergeable_ranks == expected._mergeable_ranks
        assert not counts.exists()


@pytest.mark.parametrize("options", [["--field", "body"], []])
def test_a_file_is_read_as_standard_input_is(options: list[str], tmp_path: Path) -> None:
    lines = b'{"body": "low lower"}\n{"body": "lowest"}\n'
    file = tmp_path / "a.json"
    file.write_bytes(lines)
    train = ["train", "--vocab-size", 258, "--json", *options, "-o", tmp_path / "m.bytemill"]
    from_file, from_pipe = run(*train, file), run(*train, given=lines)
    assert (from_file.code, from_pipe.code) == (0, 0)
    assert json.loads(from_file.out)["sha256"] == json.loads(from_pipe.out)["sha256"]
    warned = "bytemill: warning: {}: JSON lines are read as text; with --field NAME"
    for called, name in ((from_file, file), (from_pipe, "standard input")):
        assert called.err.startswith("" if options else warned.format(name))
        assert bool(called.err) != bool(options)


@pytest.mark.parametrize("name", ["a.txt", "-"])
def test_bytes_that_are_not_utf_8(name: str, tmp_path: Path) -> None:
    contents = b"ok\ngr\xfc\xdfe\n"
    (tmp_path / "a.txt").write_bytes(contents)
    source = tmp_path / name if name != "-" else name
    train = ["train", source, "--vocab-size", 257, "-o", tmp_path / "m.bytemill"]
    for command in (train, ["count", source], ["encode", source], ["truncate", "-n", 9, source]):
        refused = run(*command, given=contents)
        assert refused.code == 2
        assert "line 2: expected UTF-8, got the byte 0xfc" in refused.err
        assert run(*command, "--errors", "replace", given=contents).code == 0
    assert (
        run("truncate", "-n", 99, source, "--errors", "replace", given=contents).out
        == "ok\ngr\ufffd\ufffde\n"
    )


def test_a_folder_is_read_as_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "below").mkdir(parents=True)
    names = [folder / "a.txt", folder / "below" / "b.txt"]
    for name in names:
        name.write_bytes(b"low lower lowest\n")
    train = ["train", "--vocab-size", 258, "--json", "-o", tmp_path / "m.bytemill"]
    called = [run(*train, *source) for source in ([folder], names)]
    assert [each.code for each in called] == [0, 0]
    assert len({json.loads(each.out)["sha256"] for each in called}) == 1
    counted = run("count", folder, "--json")
    assert [each["file"] for each in json.loads(counted.out)["files"]] == list(map(str, names))


def test_empty_input_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    for source in (tmp_path / "a.txt", "-"):
        for size in (256, 300):
            called = run("train", source, "--vocab-size", size, "-o", tmp_path / "m.bytemill", given=b"")
            assert called.code == 2
            assert "expected text to learn from, got none" in called.err
        called = run("shard", source, "-o", tmp_path / f"out{len(str(source))}", given=b"")
        assert called.code == 2
        assert "expected documents, got none" in called.err


def test_a_pattern_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    called = run(
        "train", "--pattern", "[0-9]+", "--vocab-size", 300, "-o", tmp_path / "m.model", given=b"a b"
    )
    assert called.code == 2
    assert "the pattern matches nothing in them" in called.err


def test_an_output_replaces_a_file_only_when_it_is_complete(corpus: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "mine.bytemill"
    for size in (280, 270):
        assert run("train", *corpus, "--vocab-size", size, "-o", output).code == 0
        assert bytemill.Encoding.from_file(output).n_vocab == size
    before = output.read_bytes()
    assert run("train", tmp_path / "none.txt", "--vocab-size", 290, "-o", output).code == 2
    assert run("convert", "no-such-encoding", output).code == 2
    assert output.read_bytes() == before
    assert run("convert", "gpt2", output).code == 0
    assert bytemill.Encoding.from_file(output).name == "gpt2"
