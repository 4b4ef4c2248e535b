"""One interpreter of a process uses the library; others are refused, and harm nothing."""

from __future__ import annotations

import sys

import pytest

from support.subprocesses import run

SCRIPT = """
try:
    import _interpreters as interpreters
    new = lambda: interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    new = lambda: interpreters.create(isolated=False)

USE = '''
try:
    import bytemill
    print("imported")
    bytemill.get_encoding("gpt2").encode("<|endoftext|>")
except (ImportError, ValueError) as error:
    print(type(error).__name__, str(error)[:60], flush=True)
'''

{before}
other = new()
interpreters.run_string(other, USE)
interpreters.destroy(other)
{after}
"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="NumPy cannot be imported there either")
@pytest.mark.parametrize("used", [True, False])
def test_another_interpreter_is_refused(used: bool) -> None:  # noqa: FBT001 - a parameter of the test
    before = "import bytemill" + ("\nexec(USE)" if used else "")
    lines = run(SCRIPT.format(before=before, after="exec(USE)")).splitlines()
    refused, ours = (
        "ImportError bytemill works in one interpreter",
        "DisallowedSpecialTokenError Encountered text",
    )
    expected = ["imported", ours] * used + [refused] + ["imported", ours]
    assert [line[: len(start)] for line, start in zip(lines, expected, strict=True)] == expected


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="NumPy cannot be imported there either")
def test_the_first_interpreter_may_be_any() -> None:
    first, second, third = run(SCRIPT.format(before="", after="exec(USE)")).splitlines()
    assert first == "imported"
    assert second.startswith("DisallowedSpecialTokenError")
    assert third.startswith("ImportError bytemill works in one interpreter of a process")
