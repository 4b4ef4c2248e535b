"""Fixtures of the benchmarks: engines, texts, and a table at the end."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import tiktoken

import bytemill
from bytemill._core import BUILD_PROFILE
from bytemill.reference import ReferenceEncoding
from harness.corpora import read_texts
from support.offline_tiktoken import offline_tiktoken

# A group of benchmarks, by name and bytes of input: the median seconds of each engine.
Group = dict[str, float]
GROUPS: dict[tuple[str, int], Group] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --corpus."""
    parser.addoption(
        "--corpus", type=Path, help="folder of .txt files to measure with, instead of Python's own source"
    )


@pytest.fixture(scope="session", autouse=True)
def release_build() -> None:
    """Requires a release build."""
    if BUILD_PROFILE != "release":
        pytest.exit(f"the extension is a {BUILD_PROFILE} build: run `make build`")


@pytest.fixture(scope="session")
def tiktoken_encodings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, tiktoken.Encoding]]:
    """Yields the real tiktoken, offline."""
    with offline_tiktoken(tmp_path_factory.mktemp("tiktoken-cache")) as encodings:
        yield encodings


@pytest.fixture(scope="session")
def texts(request: pytest.FixtureRequest) -> dict[str, str]:
    """Returns texts by name, about 2 MB each."""
    return read_texts(request.config.getoption("--corpus"), 2_000_000)


@pytest.fixture(params=["cl100k_base", "o200k_base"])
def engines(
    request: pytest.FixtureRequest, tiktoken_encodings: Mapping[str, tiktoken.Encoding]
) -> dict[str, Any]:
    """Returns the same encoding by three engines."""
    ours = bytemill.get_encoding(request.param)
    return {
        "bytemill": ours,
        "tiktoken": tiktoken_encodings[request.param],
        "reference": ReferenceEncoding(
            mergeable_ranks=ours._mergeable_ranks, special_tokens=ours._special_tokens, pattern=ours._pat_str
        ),
    }


@pytest.fixture
def compare(benchmark: Any) -> Callable[[str, str, int, Callable[[], object], object], None]:
    """Measures one engine of a group after comparing its result."""

    def compare(group: str, engine: str, size: int, work: Callable[[], object], expected: object) -> None:
        assert work() == expected, f"{engine} gives another result"
        benchmark.group = f"{group}, {size} bytes"
        benchmark.pedantic(work, rounds=5, iterations=1, warmup_rounds=1)
        GROUPS.setdefault((group, size), {})[engine] = benchmark.stats.stats.median

    return compare


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints throughput and ratios."""
    if not GROUPS:
        return
    write = terminalreporter.write_line
    write("")
    write(
        f"bytemill {bytemill.__version__}, tiktoken {tiktoken.__version__}, "
        f"Python {platform.python_version()}, {platform.machine()}, {sys.platform}; "
        f"medians of 5 replays, one thread, results compared before timing"
    )
    for (group, size), medians in GROUPS.items():
        slowest = medians.get("tiktoken", max(medians.values()))
        write(f"{group} ({size} bytes)")
        for engine, median in medians.items():
            write(f"    {engine:10} {size / median / 1e6:10.3f} MB/s {slowest / median:8.2f}x")
