"""Mistral's `tekken.json`: read only.

`config` has the pattern and two sizes, `vocab` the mergeable tokens in rank order as base64, and
`special_tokens` the others. A file may have more tokens than are in use: of the `default_vocab_size` IDs the
first `default_num_special_tokens` are special tokens, named or not, and the ranks follow, so a mergeable
token's ID is its rank plus that number. Mistral's own library never finds special tokens in text: its IDs are
those of `encode_ordinary`.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from bytemill.definition import Definition, tokens_by_id
from bytemill.formats.json_file import brief

if TYPE_CHECKING:
    from bytemill.formats.json_file import Value

__all__ = ["parse_tekken"]

# A higher number is damage: each special token would get a name. Mistral's files have 1,000.
MOST_SPECIAL_TOKENS = 1 << 16

# For files without a list, of these versions.
UNLISTED_VERSIONS = ("v1", "v2", "v3", "v7")
UNLISTED_SPECIAL_TOKENS = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
]


def parse_tekken(file: Value, name: str) -> Definition:
    """Parses a `tekken.json`.

    Args:
        file: Its contents.
        name: The name of the encoding, which the file does not have.

    Raises:
        VocabularyError: It is malformed; the message has file, entry and reason.
    """
    config = file["config"]
    special = config["default_num_special_tokens"].integer()
    if special > MOST_SPECIAL_TOKENS:
        config["default_num_special_tokens"].refuse(f"expected at most {MOST_SPECIAL_TOKENS}, got {special}")
    mergeable = config["default_vocab_size"].integer() - special
    ranks: dict[bytes, int] = {}
    for rank, entry in enumerate(file["vocab"]):
        if rank == mergeable:
            break
        if entry["rank"].integer() != rank:
            entry["rank"].refuse(
                f"expected {rank}, as tokens are in rank order, got {entry['rank'].contents}"
            )
        try:
            token = base64.b64decode(entry["token_bytes"].text(), validate=True)
        except ValueError as error:
            entry["token_bytes"].refuse(str(error))
        if token in ranks:
            entry["token_bytes"].refuse(f"the token {token!r} has the rank {ranks[token] - special} already")
        ranks[token] = special + rank
    if len(ranks) != mergeable:
        file["vocab"].refuse(f"expected {mergeable} tokens or more, as config says, got {len(ranks)}")
    version = config["version"]
    if file["special_tokens"].is_null and not version.is_null and version.text() not in UNLISTED_VERSIONS:
        known = ", ".join(UNLISTED_VERSIONS)
        file["special_tokens"].refuse(
            f"expected a list, which only files of the versions {known} do without, and this one is of "
            f"{brief(version.text())}"
        )
    special_tokens = parse_special_tokens(file["special_tokens"], special)
    return Definition(name, config["pattern"].pattern(), ranks, special_tokens).check(file.source)


def parse_special_tokens(tokens: Value, count: int) -> dict[str, int]:
    """Parses the special tokens, and names those that have no name."""
    if tokens.is_null:
        ids = {text: i for i, text in enumerate(UNLISTED_SPECIAL_TOKENS[:count])}
    else:
        ids = {}
        for token in tokens:
            text, token_id = token["token_str"].text(), token["rank"].integer()
            if text in ids:
                token["token_str"].refuse(f"the special token {text!r} is there twice")
            if token_id >= count:
                token["rank"].refuse(
                    f"expected a rank below {count}, the number of special tokens, got {token_id}"
                )
            ids[text] = token_id
    named = tokens_by_id(ids.items(), tokens.source)
    fillers = {f"<SPECIAL_{i}>": i for i in range(count) if i not in named}
    if clash := ids.keys() & fillers.keys():
        tokens.refuse(f"the names {sorted(clash)} are those of special tokens without a name")
    return ids | fillers
