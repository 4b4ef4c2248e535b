"""Each allocation of each public operation is refused in turn: `MemoryError` or the right result, no leak.

`make test-memory` builds the module with an allocator that does so.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple, Protocol, cast

import pytest

import bytemill
from bytemill import _core  # noqa: TID251 - it has what the package does not use
from support.memory_operations import OPERATIONS, prepared

# Requests of fewer bytes are not refused here: there are thousands, which the reserve serves alike.
MIN_BYTES = 1 << 10

# Beyond this many requests, every seventh is refused.
EACH = 100

# The most bytes of a request that cannot fail. The reserve has eight MiB.
LARGEST = 1 << 19

WORDS = 4_000


# Operations of small allocations only: the reserve stands in for one that is refused.
SURVIVED = {"with_special_tokens"}


class FailingCore(Protocol):
    """The functions that the module has if it is built so."""

    def fail_allocation(self, nth: int, min_bytes: int, /, *, lasting: bool) -> None: ...
    def stop_failing(self) -> tuple[int, bool, int]: ...
    def allocated_bytes(self) -> int: ...


core = cast("FailingCore", _core)


class Outcome(NamedTuple):
    """The outcome of a call.

    Attributes:
        refused: The number of allocations that were refused.
        result: What it returned; `None` if it raised `MemoryError`.
        largest: The size of the largest request that could not fail.
    """

    refused: int
    result: object
    largest: int


def call(operation: Callable[[], object], nth: int, *, lasting: bool, min_bytes: int = MIN_BYTES) -> Outcome:
    """Calls an operation while memory ends at the n-th allocation, alone or for good."""
    result = None
    # Fills the reserve, without which arguments would be converted.
    core.allocated_bytes()
    core.fail_allocation(nth, min_bytes, lasting=lasting)
    try:
        result = operation()
    except MemoryError:
        pass
    finally:
        refused, _, largest = core.stop_failing()
    return Outcome(refused, result, largest)


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_allocation_may_fail(name: str, *, lasting: bool) -> None:
    operation, expected = prepared(name, WORDS)
    nth, errors = 1, 0
    while True:
        outcome = call(operation, nth, lasting=lasting)
        assert outcome.largest <= LARGEST
        if not outcome.refused:
            break
        errors += outcome.result is None
        assert outcome.result in (None, expected), f"another result where allocation {nth} failed"
        assert operation() == expected, f"another result after allocation {nth} failed"
        nth += 1 if nth < EACH else 7
    assert nth > 1
    assert errors > 0 or (not lasting and name in SURVIVED)
    assert outcome.result == expected


@pytest.mark.parametrize("name", OPERATIONS)
def test_small_allocations_too(name: str) -> None:
    """The first of any size, and some later ones."""
    operation, expected = prepared(name, 100)
    for nth in [*range(1, 40), *range(40, 4_000, 97)]:
        outcome = call(operation, nth, lasting=True, min_bytes=1)
        assert outcome.result in (None, expected)
        if not outcome.refused:
            break
    assert operation() == expected


@pytest.mark.parametrize("name", OPERATIONS)
def test_failures_leak_nothing(name: str) -> None:
    operation, _ = prepared(name, WORDS)
    total = call(operation, 1 << 40, lasting=False)
    assert not total.refused
    for nth in (1, 2, 5, 17):
        used = []
        for _ in range(5):
            call(operation, nth, lasting=True)
            gc.collect()
            used.append(core.allocated_bytes())
        # Threads may have left a cache or not; what is leaked is leaked by each call.
        assert min(used[2:]) <= max(used[:2]), f"{used} where allocation {nth} failed"


@pytest.mark.parametrize("save", ["save", "save_huggingface"])
def test_what_cannot_fail_does_not_grow_with_a_vocabulary(save: str, tmp_path: Path) -> None:
    """Those who write a vocabulary are called with a small one above."""
    encoding = bytemill.get_encoding("gpt2")
    outcome = call(lambda: getattr(encoding, save)(tmp_path / "saved"), 1 << 40, lasting=False)
    assert outcome.largest <= LARGEST


# Public, and not among the operations: what asks the core for little memory, or for none.
OTHERS = {
    "decode_single_token_bytes",
    "decode_tokens_bytes",
    "decode_with_offsets",
    "encode_single_token",
    "eot_token",
    "is_special_token",
    "memory_usage",
    "set_cache_limit",
    "stream_decoder",
    "token_byte_values",
    "vocab",
}


def public_functions() -> Iterator[tuple[str, CodeType]]:
    """Yields the methods and properties of classes that work on text or ids, and functions that do."""
    for owner in (bytemill.Encoding, bytemill.PieceCounts):
        for name, member in vars(owner).items():
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
            if not name.startswith("_") and code is not None:
                yield name, code
    for function in (bytemill.count_pieces, bytemill.set_process_cache_limit, bytemill.train):
        yield function.__name__, inspect.unwrap(function).__code__


def test_every_public_operation_is_among_these() -> None:
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.add(frame.f_code)

    for name in OPERATIONS:
        operation, _ = prepared(name, 50)
        sys.setprofile(note)
        try:
            operation()
        finally:
            sys.setprofile(None)
    assert {name for name, code in public_functions() if code not in called} == OTHERS
