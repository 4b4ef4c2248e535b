"""Where address space ends, a call raises `MemoryError` or returns the right result; the process goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import bytemill
from support.subprocesses import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is not limited like this elsewhere")

# Bytes beyond what is taken at first. The least is less than the reserve has.
ROOM = [1 << 18, 9 << 20, 20 << 20]

SCRIPT = """
import resource, sys
from pathlib import Path
sys.path[:0] = {paths}
from support.memory_operations import prepared

soft, hard = resource.getrlimit(resource.RLIMIT_AS)
for name in {names}:
    operation, expected = prepared(name, {count})
    errors = 0
    for room in {rooms}:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + room, hard))
        try:
            result = operation()
        except MemoryError:
            errors += 1
        else:
            assert result == expected, (name, room)
        finally:
            result = None
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        assert operation() == expected, (name, room)
    print(name, errors)
"""

# Those with results as large as their texts, and some that build tables. `make test-memory` has all.
NAMES = [
    "build_with_pattern",
    "load_json",
    "load_model",
    "encode",
    "encode_batch",
    "encode_batch_to_numpy",
    "encode_with_offsets",
    "decode_bytes",
    "model_encode",
    "face_encode",
    "count_pieces",
]


def test_address_space_that_ends() -> None:
    """Calls may find memory that others have freed; there is none for all of them."""
    paths = [str(Path(bytemill.__file__).parents[1]), str(Path(__file__).parents[2])]
    printed = run(SCRIPT.format(paths=paths, names=NAMES, count=100_000, rooms=ROOM), timeout=250)
    errors = dict(line.split() for line in printed.splitlines())
    assert [*errors] == NAMES
    assert sum(map(int, errors.values())) > 0


# Each call with the outcomes it may have.
FIRST_CALLS = {
    "an empty text": ("encoding.encode('')", "MemoryError right"),
    "arrays": (
        "encoding.encode_batch_to_numpy(['some words ' * 100_000] * 20, num_threads=2)",
        "MemoryError",
    ),
}


@pytest.mark.parametrize(("call", "outcomes"), FIRST_CALLS.values(), ids=FIRST_CALLS)
def test_the_first_call_has_no_memory(call: str, outcomes: str) -> None:
    paths = [str(Path(bytemill.__file__).parents[1])]
    printed = run(f"""
        import resource, sys
        from pathlib import Path
        sys.path[:0] = {paths}
        import numpy
        import bytemill
        encoding = bytemill.get_encoding("gpt2")
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (taken + (1 << 20), hard))
        try:
            {call}
        except MemoryError:
            print("MemoryError")
        else:
            print("right")
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        {call}
        """)
    assert printed.strip() in outcomes.split()
