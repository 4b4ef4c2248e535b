"""The native file, `.bytemill`: a whole encoding in one JSON file.

Its entries are `format` ("bytemill"), `version` (1), `name`, `pattern`, `sha256` (see
`bytemill.fingerprint`), `provenance` (whatever the writer wants to be known), `special_tokens` (text to id)
and `tokens` (base64 to id, in the order of the ids, each in a line of its own). Equal encodings with equal
provenance give equal files.
"""

from __future__ import annotations

import base64
import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from bytemill.fingerprint import vocabulary_sha256
from bytemill.formats.parts import Parts, checked_ranks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytemill.core import Encoding
    from bytemill.formats.json_file import Value

__all__ = ["FORMAT", "format_native", "parse_native"]

FORMAT = "bytemill"
VERSION = 1


def parse_native(file: Value) -> Parts:
    """Reads a native file.

    Raises:
        VocabularyError: It is malformed, damaged or of a later version; the message names file, place and
            reason.
    """
    if file["version"].integer() != VERSION:
        file["version"].refuse(
            f"expected {VERSION}, got {file['version'].contents}: a newer bytemill may read it"
        )
    ranks: dict[bytes, int] = {}
    for encoded, token_id in file["tokens"].ids().items():
        try:
            token = base64.b64decode(encoded, validate=True)
        except ValueError as error:
            file["tokens"].refuse(f"{encoded!r}: {error}")
        if token in ranks:
            file["tokens"].refuse(f"{encoded!r}: the token {token!r} is there already")
        ranks[token] = token_id
    checked_ranks(ranks, file.source)
    pattern, special_tokens = file["pattern"].text(), file["special_tokens"].ids()
    sha256 = vocabulary_sha256(pattern, ranks, special_tokens)
    if file["sha256"].text() != sha256:
        file["sha256"].refuse(f"expected {sha256}, that of what is in the file, got {file['sha256'].text()}")
    return Parts(pattern, ranks, special_tokens, file["name"].text())


def format_native(encoding: Encoding, provenance: Mapping[str, Any]) -> bytes:
    """Gives the contents of a native file.

    Raises:
        TypeError: JSON cannot hold the provenance.
    """
    pattern = encoding._pat_str  # noqa: SLF001 - tiktoken's name
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name
    special_tokens = encoding._special_tokens  # noqa: SLF001 - tiktoken's name
    head = {
        "format": FORMAT,
        "version": VERSION,
        "name": encoding.name,
        "pattern": pattern,
        "sha256": vocabulary_sha256(pattern, ranks, special_tokens),
        "provenance": dict(provenance),
        "special_tokens": dict(sorted(special_tokens.items(), key=itemgetter(1))),
    }
    tokens = [
        f'"{base64.b64encode(token).decode()}": {token_id}'
        for token, token_id in sorted(ranks.items(), key=itemgetter(1))
    ]
    before = json.dumps(head, ensure_ascii=False, indent=1, allow_nan=False).removesuffix("\n}")
    return "".join([before, ',\n "tokens": {\n', ",\n".join(tokens), "\n}}\n"]).encode()
