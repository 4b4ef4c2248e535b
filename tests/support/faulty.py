"""Fault injection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ROOM", "full_disk"]

# Bytes that still fit on the full disk.
ROOM = 50


@contextmanager
def full_disk(room: int = ROOM) -> Iterator[None]:
    """Limits the size of files: writing more is an error, as on a full disk."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
