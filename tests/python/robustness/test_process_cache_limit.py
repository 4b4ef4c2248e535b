"""The limit of all caches of the process: it bounds what they learn together, and changes no id."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

import bytemill
from support import cache_limits
from support.subprocesses import has_fork


@pytest.mark.parametrize(
    "check",
    [
        cache_limits.it_bounds_all_caches_together_and_changes_no_id,
        cache_limits.many_threads_stay_within_the_default_limit,
        cache_limits.what_exceeds_a_lower_limit_is_emptied_at_its_next_use,
        cache_limits.an_encoding_learns_what_another_gives_back,
        pytest.param(cache_limits.a_forked_process_has_the_limit_for_itself, marks=has_fork),
    ],
    ids=lambda check: check.__name__,
)
def test_in_a_process_of_its_own(check: Callable[[], None]) -> None:
    """Other tests leave caches behind, which would count as well."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pool.submit(check).result()


def test_wrong_limits_are_explained() -> None:
    wrong: Any
    for wrong in ("64 MB", 1.5, b"1"):
        with pytest.raises(TypeError, match=f"bytes_per_process must be an integer, not {wrong!r}"):
            bytemill.set_process_cache_limit(wrong)
    with pytest.raises(ValueError, match="0 or more, or None for no limit, got -1"):
        bytemill.set_process_cache_limit(-1)
    with pytest.raises(TypeError):
        bytemill.set_process_cache_limit()  # type: ignore[call-arg]
    for enormous in (2**64 - 1, 2**64, 2**100):
        bytemill.set_process_cache_limit(enormous)
    bytemill.set_process_cache_limit(None)
