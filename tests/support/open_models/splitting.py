"""How the core splits the texts of a pre-tokenizer."""

from __future__ import annotations

from typing import Any

from bytemill._backend import CoreSplitter

__all__ = ["splitting_of"]

AT_SPACES = [{"String": " "}, {"Regex": " "}]


def steps_of(component: Any) -> list[Any]:
    """Returns the steps of a pre-tokenizer."""
    if component is None:
        return []
    if component["type"] != "Sequence":
        return [component]
    return [step for part in component["pretokenizers"] for step in steps_of(part)]


def splitting_of(component: Any) -> str:
    """Returns how texts are split, by the core itself."""
    steps = [step for step in steps_of(component) if step["type"] != "Metaspace"]
    # No space is left to split at, in the files that have such a step.
    if all(step.get("pattern") in AT_SPACES for step in steps):
        return "none"
    return "native" if CoreSplitter.of_steps([described(step) for step in steps]).is_native else "general"


def described(step: Any) -> tuple[str, str, str, bool]:
    """Returns a step as the core takes it."""
    kind = step["type"]
    if kind == "Split":
        ((language, pattern),) = step["pattern"].items()
        return language, pattern, step["behavior"], step["invert"]
    if kind == "ByteLevel":
        return "Gpt2" if step["use_regex"] else "ByteLevel", "", "Isolated", False
    return kind, "", step.get("behavior", "Isolated"), step.get("individual_digits", False)
