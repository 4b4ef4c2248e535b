"""`make soak`: a difference and memory that grows are seen."""

from __future__ import annotations

import time

import bytemill
from bytemill.cli.engines import Engine
from programs import soak
from programs.ledger import Opened
from support.texts import multilingual

MEBIBYTE = 1 << 20


def test_memory_that_grows_is_seen() -> None:
    flat = [300 * MEBIBYTE, 500 * MEBIBYTE, 500 * MEBIBYTE, 510 * MEBIBYTE, 505 * MEBIBYTE, 500 * MEBIBYTE]
    assert not soak.grew(flat)
    assert soak.grew([*flat[:-1], 540 * MEBIBYTE])


def test_a_wrong_result_of_each_call_is_seen() -> None:
    encoding = bytemill.get_encoding("gpt2")
    right = Opened(encoding, Engine("right", encoding.encode_ordinary), {})
    wrong = Opened(encoding, Engine("wrong", lambda text: [*encoding.encode_ordinary(text), 0]), {})
    client = soak.Client(3, multilingual(1, 3_000), [right], bytemill.PrefixCache(1 << 20))
    for kind in (client.batch, client.session, client.streams, client.conversation, client.counts):
        assert kind(right)
        assert not kind(wrong)
    assert client.run(time.monotonic() + 0.3) == []
    assert sum(client.calls.values()) > 0
    bytemill.set_process_cache_limit(1 << 40)
