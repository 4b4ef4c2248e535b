"""Each recipe of the guide, with the real library: `make test-integrations`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bytemill
from support.examples import ROOT, run_titled
from support.texts import ADVERSARIAL, multilingual

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = "guides/use-it-in.md"
TITLES = sorted(
    set(re.findall(r'^```py title="(.*)"$', (ROOT / "docs" / PAGE).read_text("utf-8"), re.MULTILINE))
)


END = "<|endoftext|>"


@pytest.fixture(autouse=True)
def unpatched() -> Iterator[None]:
    """Leaves tiktoken as it was."""
    yield
    bytemill.unpatch_tiktoken()


def test_libraries_are_found() -> None:
    assert {"LangChain", "LiteLLM", "LlamaIndex", "FastAPI"} <= set(TITLES)


@pytest.mark.parametrize("title", TITLES)
def test_recipes(title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_titled(PAGE, title)


def test_files_of_datatrove_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_titled(PAGE, "datatrove")
    texts = [*ADVERSARIAL.values(), *(multilingual(seed, 500) for seed in range(20))]
    written: dict[type, dict[str, bytes]] = {}
    for kind in (names["FastDocumentTokenizer"], names["DocumentTokenizer"]):
        step = kind(kind.__name__, "gpt2/tokenizer.json", eos_token=END, shuffle_documents=False)
        step.run([names["Document"](text=text, id=str(i)) for i, text in enumerate(texts)])
        written[kind] = {path.name: path.read_bytes() for path in Path(kind.__name__).glob("*.ds*")}
    ours, theirs = written.values()
    assert ours == theirs
    assert sum(map(len, ours.values())) > 2 * sum(map(len, texts)) // 8
