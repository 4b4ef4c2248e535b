"""JSON of any strings: names of files need not be UTF-8, and Python has other bytes in them as surrogates."""

from __future__ import annotations

import json

__all__ = ["json_bytes"]


def json_bytes(value: object, *, indent: int | None = None) -> bytes:
    r"""Returns a value as JSON in UTF-8, which `json.loads` reads back as it was.

    Args:
        value: A value for `json.dumps`.
        indent: Same as for `json.dumps`.

    Raises:
        TypeError, ValueError: JSON cannot represent the value, such as NaN.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    # In place of a lone surrogate that writes its escape in JSON, such as `\udce9`.
    return text.encode(errors="backslashreplace")
