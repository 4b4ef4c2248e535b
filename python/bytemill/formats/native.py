"""The native file, `.bytemill`: a whole encoding in one JSON file.

Its entries are `format` ("bytemill"), `version` (1), `name`, `pattern`, `sha256` (see
`bytemill.fingerprint`), `provenance` (any JSON that the writer adds), `special_tokens` (text to id)
and `tokens` (base64 to id, in the order of the ids, each in a line of its own). Equal encodings with equal
provenance give equal files.
"""

from __future__ import annotations

import base64
import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from bytemill.definition import Definition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytemill.formats.json_file import Value

__all__ = ["FORMAT", "format_native", "parse_native"]

FORMAT = "bytemill"
VERSION = 1


def parse_native(file: Value) -> Definition:
    """Parses a native file.

    Raises:
        VocabularyError: It is malformed, damaged or of a later version; the message has file, entry and
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
    definition = Definition(file["name"].text(), file["pattern"].text(), ranks, file["special_tokens"].ids())
    definition.check(file.source)
    if file["sha256"].text() != definition.sha256:
        file["sha256"].refuse(
            f"expected {definition.sha256}, that of the file's contents, got {file['sha256'].text()}"
        )
    return definition


def format_native(definition: Definition, provenance: Mapping[str, Any]) -> bytes:
    """Returns the contents of a native file.

    Raises:
        TypeError, ValueError: JSON cannot hold the provenance.
    """
    head = {
        "format": FORMAT,
        "version": VERSION,
        "name": definition.name,
        "pattern": definition.splitting,
        "sha256": definition.sha256,
        "provenance": dict(provenance),
        "special_tokens": dict(sorted(definition.special_tokens.items(), key=itemgetter(1))),
    }
    tokens = [
        f'"{base64.b64encode(token).decode()}": {token_id}'
        for token, token_id in sorted(definition.ranks.items(), key=itemgetter(1))
    ]
    before = json.dumps(head, ensure_ascii=False, indent=1, allow_nan=False).removesuffix("\n}")
    return "".join([before, ',\n "tokens": {\n', ",\n".join(tokens), "\n}}\n"]).encode()
