"""Native files as version 1 wrote them, and the checksum of version 2, for files that no writer makes."""

from __future__ import annotations

import base64
import json
from operator import itemgetter
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from bytemill import Encoding

__all__ = ["native_version_1", "with_checksum"]


def with_checksum(contents: bytes) -> bytes:
    """Returns the file of version 2 of which this is all but the end."""
    return contents + crc32(contents).to_bytes(4, "little")


def native_version_1(encoding: Encoding) -> bytes:
    """Returns the file of version 1 of an encoding."""
    definition = encoding.definition
    tokens = sorted(definition.ranks.items(), key=itemgetter(1))
    file = {
        "format": "bytemill",
        "version": 1,
        "name": definition.name,
        "pattern": definition.splitting,
        "sha256": definition.sha256,
        "provenance": {},
        "special_tokens": definition.special_tokens,
        "tokens": {base64.b64encode(token).decode(): token_id for token, token_id in tokens},
    }
    return json.dumps(file, ensure_ascii=False).encode()
