"""The fuzz target `trainers` on a few examples: it compares, and finds a trainer that is wrong."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase

from bytemill.training.piece_options import PieceOptions
from support import sentencepiece
from support.apart import Apart, EndedError

pytest.importorskip("resource", reason="programs are fuzzed where processes have limits")

from programs import fuzz_trainers
from support import fuzzing

CHECKS = [fuzz_trainers.models, fuzz_trainers.faces, fuzz_trainers.files]


@pytest.fixture(autouse=True)
def compared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    sentencepiece.library()
    counter = Counter(dict.fromkeys(fuzz_trainers.COMPARED, 0))
    monkeypatch.setattr(fuzz_trainers, "COMPARED", counter)
    monkeypatch.setattr(fuzzing, "ROUND", 100)
    monkeypatch.setattr(fuzzing, "PHASES", [Phase.generate])
    folder = Path.cwd()
    yield counter
    os.chdir(folder)
    fuzz_trainers.THEIRS.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_models_and_refusals_are_compared(check: Callable[..., None], compared: Counter[str]) -> None:
    fuzzing.try_examples(check, 1, [0])
    # Hypothesis draws constants of the source too, so that other examples follow any change of it.
    assert min(compared["models"], compared["refusals"]) > 2


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_an_option_that_is_not_looked_at_is_found(
    check: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = PieceOptions.checked
    monkeypatch.setattr(
        PieceOptions, "checked", lambda given: checked({**given, "max_sentencepiece_length": 2})
    )
    with pytest.raises(Exception, match=r"Failing test case|distinct failures"):
        fuzzing.try_examples(check, 1, [0])


def test_a_refusal_without_reason_is_found() -> None:
    def refuse() -> bytes:
        raise ValueError("expected something else")

    with pytest.raises(AssertionError):
        fuzz_trainers.compare(b"a model", refuse, ValueError)
    with pytest.raises(AssertionError):
        fuzz_trainers.compare(RuntimeError("no"), lambda: b"a model", ValueError)


def test_a_round_that_compares_nothing_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["fuzz", "0"])
    monkeypatch.setattr(fuzzing, "limit_memory", lambda: None)
    fuzzing.run("trainers", [], Counter({"models": 0, "refusals": 2}))
    assert '"findings": ["no models compared"]' in capsys.readouterr().out


def test_what_aborts_is_done_without() -> None:
    apart = Apart()
    assert apart.call(max, 1, 2) == 2
    with pytest.raises(EndedError):
        apart.call(os.abort)
    with pytest.raises(ValueError, match="invalid literal"):
        apart.call(int, "x")
    apart.close()
    slow: Any = Apart(seconds=0.1)
    with pytest.raises(EndedError):
        slow.call(__import__("time").sleep, 60)
