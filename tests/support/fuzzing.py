"""Fuzzing with Hypothesis for a given time: `make fuzz` runs the `fuzz_*.py` beside this; pytest does not."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

__all__ = ["run", "within"]

FINDINGS = Path(__file__).resolve().parents[2] / "fuzz" / "findings"

# Examples between two looks at the clock.
ROUND = 150

# More than this, beyond what the program has anyway, is a finding.
SECONDS = 20
BYTES = 2 << 30


@contextlib.contextmanager
def within(seconds: int = SECONDS) -> Iterator[None]:
    """Raises `AssertionError` in what takes longer."""

    def give_up(_: int, __: FrameType | None) -> None:
        message = f"it takes more than {seconds} seconds"
        raise AssertionError(message)

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def limit_memory() -> None:
    """From now on memory ends with a `MemoryError`."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def run(target: str, checks: list[Callable[[st.DataObject], None]]) -> None:
    """Calls each of `checks` with what Hypothesis draws, in turn, for the seconds that the command line says.

    The last line of the output tells how often, and what was found; what that was is in a file then.
    """
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    limit_memory()
    end = time.monotonic() + seconds
    executions = [0]
    findings: list[str] = []
    first = time.time_ns() % (1 << 32)
    for number in itertools.count(first):
        if not checks or time.monotonic() > end:
            break
        check = checks[number % len(checks)]
        told = io.StringIO()
        try:
            with contextlib.redirect_stdout(told):
                try_examples(check, number, executions)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, it was found
            FINDINGS.mkdir(parents=True, exist_ok=True)
            finding = FINDINGS / f"{target}-{check.__name__}-{number}.txt"
            notes = "".join(traceback.format_exception(error))
            finding.write_text(f"seed {number}\n{told.getvalue()}\n{notes}", "utf-8", "backslashreplace")
            findings.append(f"findings/{finding.name}")
            # It would be found again and again.
            checks = [other for other in checks if other is not check]
    print(json.dumps({"executions": executions[0], "findings": findings}))  # noqa: T201 - this is the answer


def try_examples(check: Callable[[st.DataObject], None], number: int, executions: list[int]) -> None:
    """Some examples that the number determines; what fails is made as small as possible and raised."""

    @seed(number)
    @settings(
        max_examples=ROUND,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(data=st.data())
    def examples(data: st.DataObject) -> None:
        executions[0] += 1
        check(data)

    examples()
