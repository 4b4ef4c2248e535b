"""Exercise every part of the compiled module, to be run under valgrind."""

from __future__ import annotations

import array
import warnings

import numpy as np

import bytemill

TEXTS = [
    "hello world",
    "",
    "It's 12 words;\n\n  naïve 日本語 e\u0301 \U0001f469 <|endoftext|>",
    "a" * 5000,
    " " * 300,
]


def main() -> None:
    """Calls the methods and checks the results."""
    for name in ("gpt2", "cl100k_base", "o200k_base"):
        encoding = bytemill.get_encoding(name)
        for length in range(70):
            text = (TEXTS[2] * 3)[:length]
            assert encoding.decode(encoding.encode(text, disallowed_special=())) == text
        for text in TEXTS:
            ids = encoding.encode(text, allowed_special="all")
            assert encoding.decode(ids) == text
            assert encoding.encode_to_numpy(text, allowed_special="all").tolist() == ids
            assert encoding.count(text) == len(encoding.encode_ordinary(text))
            assert encoding.encode_bytes(bytearray(text.encode())) == encoding.encode_ordinary(text)
            assert "".join(encoding.split(text, 5)) == text
            assert text.startswith(encoding.truncate(text, 3).text)
            assert encoding.decode_bytes(array.array("I", ids)) == text.encode()
        batch = encoding.encode_ordinary_batch(TEXTS * 50, num_threads=2)
        flat, offsets = encoding.encode_batch_to_numpy(TEXTS * 50, num_threads=2)
        assert np.array_equal(np.concatenate([np.array(each, np.uint32) for each in batch]), flat)
        assert len(offsets) == len(batch) + 1
        assert encoding.decode_batch(batch, num_threads=2) == TEXTS * 50
        for wrong in ([1 << 31], [-1]):
            try:
                encoding.decode(wrong)
            except (KeyError, OverflowError, ValueError):
                continue
            raise AssertionError(wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained = bytemill.train([TEXTS[2] * 50], 300, progress=False)
    assert trained.decode(trained.encode(TEXTS[2])) == TEXTS[2]


if __name__ == "__main__":
    main()
