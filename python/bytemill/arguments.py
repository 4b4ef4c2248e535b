"""Arguments of a wrong type: refused at once, with what was expected and what came."""

from __future__ import annotations

__all__ = ["check_type"]


def check_type(name: str, value: object, kind: type, hint: str = "") -> None:
    """Refuses an argument that is of another type.

    Args:
        name: The name of the argument.
        value: What was given.
        kind: The class that it must be of.
        hint: How to mend it.

    Raises:
        TypeError: It is not.
    """
    if not isinstance(value, kind):
        more = f"; {hint}" if hint else ""
        message = f"{name} must be of the type {kind.__name__}, not {type(value).__name__}{more}"
        raise TypeError(message)
