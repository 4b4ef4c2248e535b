"""Each recipe of the guide, with the real library: `make test-integrations`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import bytemill
from support.examples import ROOT, run_titled

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = "guides/use-it-in.md"
TITLES = sorted(
    set(re.findall(r'^```py title="(.*)"$', (ROOT / "docs" / PAGE).read_text("utf-8"), re.MULTILINE))
)


@pytest.fixture(autouse=True)
def unpatched() -> Iterator[None]:
    """Leaves tiktoken as it was."""
    yield
    bytemill.unpatch_tiktoken()


def test_libraries_are_found() -> None:
    assert {"LangChain", "LiteLLM", "LlamaIndex", "FastAPI"} <= set(TITLES)


@pytest.mark.parametrize("title", TITLES)
def test_recipes(title: str) -> None:
    run_titled(PAGE, title)
