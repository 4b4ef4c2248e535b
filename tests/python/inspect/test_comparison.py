"""Comparison of encodings: counts, the table, the chart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib import image

import bytemill
from bytemill import inspection
from bytemill.inspection import comparison
from bytemill.inspection.comparison import COLOURS, MAX_BARS, label_of

ENCODINGS = {name: bytemill.get_encoding(name) for name in ("gpt2", "o200k_base")}
TEXTS = {"english": ["hello world, ", "hello again"], "german": ["schöne Grüße"], "none": [""]}


def test_counts() -> None:
    found = inspection.compare(ENCODINGS, {name: iter(documents) for name, documents in TEXTS.items()})
    assert found.encodings == ("gpt2", "o200k_base")
    for counts in found.texts:
        documents = TEXTS[counts.name]
        assert counts.characters == sum(map(len, documents))
        assert counts.size == sum(len(document.encode()) for document in documents)
        expected = [sum(map(encoding.count, documents)) for encoding in ENCODINGS.values()]
        assert list(counts.tokens) == expected
        assert counts.bytes_per_token() == [counts.size / n if n else 0.0 for n in expected]
    together = found.together
    assert together.size == sum(counts.size for counts in found.texts)
    assert list(together.tokens) == np.sum([counts.tokens for counts in found.texts], axis=0).tolist()


def test_surrogates_count_as_they_are_encoded() -> None:
    documents = ["a \ud83d\ude00", "b \ud800"]
    repaired = ["a \U0001f600", "b \ufffd"]
    found = inspection.compare(ENCODINGS, {"text": documents})
    assert found == inspection.compare(ENCODINGS, {"text": repaired})
    assert (found.together.characters, found.together.size) == (6, 11)


def test_large_texts_are_counted_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = ["a few words"] * 10
    whole = inspection.compare(ENCODINGS, {"text": documents})
    monkeypatch.setattr(comparison, "BATCH_CHARACTERS", 25)
    assert list(map(len, comparison.sized_batches(documents))) == [3, 3, 3, 1]
    assert inspection.compare(ENCODINGS, {"text": documents}) == whole


def test_table() -> None:
    found = inspection.compare({"gpt2": ENCODINGS["gpt2"]}, {"a": ["hello world"], "long name": ["x" * 3000]})
    assert str(found).split("\n") == [
        "bytes per token  bytes  gpt2",
        "a                   11  5.50",
        "long name        3,000  8.00",
        "together         3,011  7.99",
    ]
    assert str(inspection.compare({"gpt2": ENCODINGS["gpt2"]}, {"a": ["hello world"]})).count("\n") == 1


def test_to_dict() -> None:
    found = inspection.compare({"gpt2": ENCODINGS["gpt2"]}, {"a": ["hello world"]}).to_dict()
    row = {"characters": 11, "bytes": 11, "tokens": {"gpt2": 2}, "bytes_per_token": {"gpt2": 5.5}}
    assert found == {
        "encodings": ["gpt2"],
        "texts": [{"name": "a", **row}],
        "together": {"name": "together", **row},
    }


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="expected one encoding or more"):
        inspection.compare({}, TEXTS)
    with pytest.raises(TypeError, match=r"one document is given as \[document\]"):
        inspection.compare(ENCODINGS, {"a": "text"})
    with pytest.raises(ValueError, match="num_threads must be 1 or more"):
        inspection.compare(ENCODINGS, TEXTS, num_threads=0)


# --- The chart ----------------------------------------------------------------------------------------------


def drawn(path: Path) -> np.ndarray:
    """Returns the pixels: height, width, and red, green, blue from 0 to 255."""
    return (image.imread(path)[..., :3] * 255).round().astype(int)


def bar_length(picture: np.ndarray, colour: str) -> int:
    """Returns the longest run of a colour in a row of the image."""
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return int((picture == wanted).all(axis=2).sum(axis=1).max())


def test_chart(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    texts = {"a.txt": ["hello world"], "_$b$\u4f60.txt": ["sch\u00f6ne Gr\u00fc\u00dfe"], "x" * 90: ["1 2 3"]}
    found = inspection.compare(ENCODINGS | {"_own": ENCODINGS["gpt2"]}, texts)
    found.write_chart(path)
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert list(tmp_path.iterdir()) == [path]
    picture = drawn(path)
    height, width, _ = picture.shape
    assert 1000 < width < 2000
    assert 400 < height < 2000
    # White margins, nothing cut off, and not empty.
    for edge in (picture[:8], picture[-8:], picture[:, :8], picture[:, -8:]):
        assert (edge == 255).all()
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20
    # Bars are in proportion to the figures: all share an axis.
    longest = [max(counts.bytes_per_token()[number] for counts in found.texts) for number in range(3)]
    lengths = [bar_length(picture, colour) for colour in COLOURS[:3]]
    assert min(lengths) > 300
    assert np.allclose(np.array(lengths) / lengths[0], np.array(longest) / longest[0], atol=0.02)


def test_chart_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(b"before")
    inspection.compare(ENCODINGS, {"none": [""]}).write_chart(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OSError, match="missing"):
        inspection.compare(ENCODINGS, TEXTS).write_chart(tmp_path / "missing" / "chart.png")
    assert list(tmp_path.iterdir()) == [path]


def test_charts_have_a_limit(tmp_path: Path) -> None:
    texts = {str(number): ["a"] for number in range(MAX_BARS)}
    for wanted in (texts, {}):
        with pytest.raises(ValueError, match=f"from 1 to {MAX_BARS} bars"):
            inspection.compare(ENCODINGS, wanted).write_chart(tmp_path / "chart.png")
    assert list(tmp_path.iterdir()) == []


def test_labels() -> None:
    assert label_of("a.txt") == "a.txt"
    assert label_of("_a$") == r" _a\$"
    assert label_of("folder/" * 9 + "name.txt") == "…older/folder/folder/folder/name.txt"[-36:]
    assert len(label_of("x" * 99)) == 36
