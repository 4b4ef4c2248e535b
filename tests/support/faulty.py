"""Faults on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ROOM", "full_disk"]

# Bytes of a file for which there is room on a full disk.
ROOM = 50


@contextmanager
def full_disk(room: int = ROOM) -> Iterator[None]:
    """Has files end after some bytes: writing more is an error, as on a disk that is full."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
