"""Files that cannot be read or written: the same errors as the real package raises."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

import bytemill.sentencepiece
from bytemill.sentencepiece.arguments import CODES
from support.outcomes import outcome
from support.subprocesses import run

OPTIONS = {"vocab_size": 30, "model_type": "bpe", "hard_vocab_limit": False, "minloglevel": 3}
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="the errors of Windows have other numbers")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("hello world, this is a text\n" * 50, encoding="utf-8")
    for folder in ("folder", "m.model", "v.vocab"):
        Path(folder).mkdir()
    Path("loop").symlink_to("loop")
    return tmp_path


def same(call: Callable[[Any], Any]) -> tuple[type[Exception], str]:
    """Returns the exception that a call raises with both packages."""
    theirs, ours = outcome(lambda: call(sentencepiece)), outcome(lambda: call(bytemill.sentencepiece))
    assert ours == theirs
    assert issubclass(theirs[0], Exception)
    return theirs[0], theirs[1]


@POSIX
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"model_prefix": "missing/x"}, "NOT_FOUND"),
        ({"model_prefix": "a.txt/x"}, "FAILED_PRECONDITION"),
        ({"model_prefix": "m"}, "FAILED_PRECONDITION"),
        ({"model_prefix": "v"}, "FAILED_PRECONDITION"),
        ({"model_prefix": "x" * 300}, "INVALID_ARGUMENT"),
        ({"input": "missing.txt"}, "NOT_FOUND"),
        ({"input": "folder"}, "FAILED_PRECONDITION"),
        ({"input": "a.txt/x"}, "FAILED_PRECONDITION"),
        ({"input": ["a.txt", "folder"]}, "FAILED_PRECONDITION"),
        ({"input": "a.txt,missing.txt"}, "NOT_FOUND"),
        ({"input": "loop"}, "UNKNOWN"),
        ({"input": "x" * 300}, "INVALID_ARGUMENT"),
        ({"normalization_rule_tsv": "missing.tsv"}, "NOT_FOUND"),
        ({"normalization_rule_tsv": "folder"}, "FAILED_PRECONDITION"),
    ],
)
def test_training(files: Path, options: dict[str, Any], code: str) -> None:
    given = {"input": "a.txt", "model_prefix": "o", **OPTIONS, **options}
    kind, message = same(lambda package: package.SentencePieceTrainer.train(**given))
    assert kind is (ValueError if code == "INVALID_ARGUMENT" else RuntimeError)
    assert message.startswith(f'{code}: "')
    assert not (files / "o.model").exists()


@POSIX
@pytest.mark.parametrize("name", ["missing.model", "m.model", "a.txt/x", "loop", "x" * 300])
def test_loading(files: Path, name: str) -> None:
    assert files.is_dir()
    for call in (
        lambda package: package.SentencePieceProcessor(model_file=name),
        lambda package: package.SentencePieceProcessor().load(name),
        lambda package: package.SentencePieceProcessor().Load(name),
        lambda package: package.SentencePieceNormalizer(model_file=name),
    ):
        assert name in same(call)[1]


# A user without rights, as root has all.
WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import sentencepiece, bytemill.sentencepiece
from support.outcomes import outcome
os.chdir({folder!r})
if os.geteuid() == 0:
    os.seteuid(65534)
options = {options!r}
for text, prefix in (("secret.txt", "open/o"), ("a.txt", "closed/o")):
    theirs, ours = (
        outcome(lambda: package.SentencePieceTrainer.train(**options, input=text, model_prefix=prefix))
        for package in (sentencepiece, bytemill.sentencepiece)
    )
    print(ours == theirs, theirs[1].partition(":")[0])
"""


@POSIX
def test_permissions(files: Path) -> None:
    # The folders above are those of one user alone.
    for folder in (files, *files.parents[:2]):
        folder.chmod(0o755)
    (files / "secret.txt").write_text("a")
    (files / "secret.txt").chmod(0)
    (files / "open").mkdir()
    (files / "open").chmod(0o777)
    (files / "closed").mkdir(mode=0o555)
    script = WITHOUT_RIGHTS.format(tests=str(Path(__file__).parents[2]), folder=str(files), options=OPTIONS)
    assert run(script).split() == ["True", "PERMISSION_DENIED"] * 2


def test_codes_are_of_errors_that_there_are() -> None:
    import errno

    assert os.name == "nt" or [name for name in CODES if not hasattr(errno, name)] == []
