"""The page about open models is what its program writes."""

from __future__ import annotations

import pytest

from programs.models_page import PATH, page


@pytest.mark.filterwarnings("ignore:.* its post-processor adds")
def test_the_page_is_what_its_program_writes() -> None:
    written = page()
    for row in ("Qwen 2, 2.5, 3", "Llama 3, 3.1", "Gemma 3", "BGE-M3"):
        assert f"| {row}" in written
    assert PATH.read_text("utf-8") == written, "run `make models`"
