"""Fuzz with Hypothesis for a given time: `make fuzz` runs `programs/fuzz_*.py`; pytest does not."""

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
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

__all__ = ["run", "within"]

FINDINGS = Path(__file__).resolve().parents[2] / "fuzz" / "findings"

# Examples between two checks of the clock.
ROUND = 150

PHASES = [Phase.generate, Phase.shrink]

# Using more memory than this, beyond that of the idle program, is a finding.
SECONDS = 20
BYTES = 2 << 30


@contextlib.contextmanager
def within(seconds: int = SECONDS) -> Iterator[None]:
    """Raises `AssertionError` in the body if it uses more processor time."""

    def give_up(_: int, __: FrameType | None) -> None:
        message = f"it takes more than {seconds} seconds of processor time"
        raise AssertionError(message)

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def limit_memory() -> None:
    """Limits the address space, so that larger allocations raise `MemoryError`."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def run(
    target: str, checks: list[Callable[[st.DataObject], None]], compared: Counter[str] | None = None
) -> None:
    """Calls each of `checks` in turn with data drawn by Hypothesis, for the processor seconds given on
    the command line.

    The last line of the output is the number of examples and the finding, whose details are in a file.

    Args:
        target: The name of the target.
        checks: The checks.
        compared: What the checks count of what they compare, by kind: a kind of which there is none is a
            finding, too.
    """
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    limit_memory()
    end = time.process_time() + seconds
    executions = [0]
    findings: list[str] = []
    first = time.time_ns() % (1 << 32)
    for number in itertools.count(first):
        if not checks or time.process_time() > end:
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
            # The same finding would repeat.
            checks = [other for other in checks if other is not check]
    result: dict[str, object] = {"executions": executions[0], "findings": findings}
    if compared is not None:
        result["compared"] = dict(compared)
        findings += [f"no {kind} compared" for kind, number in compared.items() if not number]
    print(json.dumps(result))  # noqa: T201 - this is the answer


def try_examples(check: Callable[[st.DataObject], None], number: int, executions: list[int]) -> None:
    """Runs examples determined by a seed; a failing one is shrunk and raised."""

    @seed(number)
    @settings(
        max_examples=ROUND,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=PHASES,
    )
    @given(data=st.data())
    def examples(data: st.DataObject) -> None:
        executions[0] += 1
        check(data)

    examples()
