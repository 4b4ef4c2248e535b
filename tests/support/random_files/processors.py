"""Random post-processors: tokens around a text or two, and what becomes of offsets."""

from __future__ import annotations

import random
from typing import Any

from support.random_files.alphabets import chance
from support.random_files.models import SPECIAL

__all__ = ["processor"]

TRIMS = ("trim_offsets", "add_prefix_space")


def part(name: str, type_id: int) -> dict[str, Any]:
    """Returns a part of a template: a text, A or B, or a token."""
    kind = "Sequence" if name in {"A", "B"} else "SpecialToken"
    return {kind: {"id": name, "type_id": type_id}}


def template(dice: random.Random, ids: dict[str, int]) -> dict[str, Any]:
    """Returns templates of one text and of two, with any tokens, some of which stand for several."""
    names = dice.sample(SPECIAL, 2)

    def parts(*texts: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for text in dice.sample(texts, len(texts)) if chance(dice, 0.2) else texts:
            around = [dice.choices(names, k=dice.choice([0, 1, 1, 2])) for _ in range(2)]
            type_id = dice.choice([0, 0, 1, 5])
            found += [part(name, dice.choice([type_id, type_id, 3])) for name in around[0]]
            found.append(part(text, type_id))
            found += [part(name, type_id) for name in around[1]]
        return found

    tokens = {}
    for name in names:
        stands_for = [name] if chance(dice, 0.8) else dice.choices(SPECIAL, k=dice.randint(1, 3))
        tokens[name] = {"id": name, "ids": [ids[token] for token in stands_for], "tokens": stands_for}
    return {
        "type": "TemplateProcessing",
        "single": parts("A"),
        "pair": parts("A", "B"),
        "special_tokens": tokens,
    }


def around(dice: random.Random, ids: dict[str, int]) -> dict[str, Any]:
    """Returns a post-processor that puts two tokens around each text, and one between two, or two."""
    first, last = ([name, ids[name]] for name in dice.sample(SPECIAL, 2))
    if chance(dice, 0.4):
        return {"type": "BertProcessing", "sep": last, "cls": first}
    return {"type": "RobertaProcessing", "sep": last, "cls": first} | trims(dice)


def trims(dice: random.Random) -> dict[str, Any]:
    """Returns whether blanks belong to tokens."""
    return {name: chance(dice, 0.5) for name in TRIMS}


def processor(dice: random.Random, ids: dict[str, int], depth: int = 0) -> dict[str, Any]:
    """Returns a post-processor.

    Args:
        dice: Its choices.
        ids: The id of each token of `SPECIAL`.
        depth: How deep it is in others.
    """
    if chance(dice, 0.3 if depth == 0 else 0.1):
        steps = [processor(dice, ids, depth + 1) for _ in range(dice.choice([0, 1, 2, 2, 3]))]
        return {"type": "Sequence", "processors": steps}
    if chance(dice, 0.25):
        return {"type": "ByteLevel", **trims(dice), "use_regex": chance(dice, 0.5)}
    return template(dice, ids) if chance(dice, 0.5) else around(dice, ids)
