"""Tables that an engine hands out are counted and encoded as in one process."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import bytemill
import bytemill.ray
import bytemill.spark
from bytemill.definition import Template
from bytemill.jobs.columns import ColumnCounter, ColumnEncoder
from support.fake_engines import fake_engines

TEXTS = ["the cat", None, "", "naïve 東京 <|endoftext|>", "the cat", None]


def tables() -> list[pa.Table]:
    whole = pa.table({"text": TEXTS, "row": range(len(TEXTS))})
    return [whole.slice(0, 2), whole.slice(2, 0), whole.slice(2), pa.table({})]


def counter(folder: Path | str) -> Any:
    return sent(ColumnCounter(folder, "text", "gpt2", ["<|endoftext|>"]))


def sent(task: Any) -> Any:
    """Returns a task as another process gets it."""
    return pickle.loads(pickle.dumps(task))  # noqa: S301 - our own


def test_runs_of_tasks_add_up(tmp_path: Path) -> None:
    count = counter(tmp_path)
    runs = [count.count(tables()), count.count([]), count.count(tables()[:1])]
    # An attempt whose result the engine does not take.
    count.count(tables())
    texts = [text for text in [*TEXTS, *TEXTS[:2]] if text is not None]
    here = bytemill.count_pieces(texts, "gpt2", special_tokens=["<|endoftext|>"], progress=False)
    assert dict(count.merged(runs)) == dict(here)
    assert len(count.merged([])) == 0
    assert len(list(tmp_path.rglob("*.parquet"))) == 4
    count.remove()
    assert not list(tmp_path.iterdir())


def test_a_folder_may_be_a_uri(tmp_path: Path) -> None:
    count = counter(f"file://{tmp_path}/work")
    assert dict(count.merged([count.count(tables())]))
    assert (tmp_path / "work").is_dir()


def test_a_run_that_lacks_pieces_is_an_error(tmp_path: Path) -> None:
    count = counter(tmp_path)
    run = count.count(tables())
    with pytest.raises(bytemill.errors.InternalError, match="expected 9 pieces in all runs"):
        count.merged([run._replace(total=9)])
    with pytest.raises(ValueError, match="expected a folder that all machines share"):
        counter("s3://bucket/work")
    with pytest.raises(ValueError, match="expected a column 'text', got a table with row"):
        count.count([pa.table({"row": [1]})])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
@pytest.mark.parametrize("before", [[], [5], [5, 6]])
@pytest.mark.parametrize("after", [[], ["<|endoftext|>"], ["<|endoftext|>", 7]])
def test_ids_with_marks(kind: pa.DataType, before: list[int], after: list[int | str]) -> None:
    encoding = bytemill.get_encoding("gpt2")
    encode = ColumnEncoder(
        "gpt2",
        "text",
        into="ids",
        prepend=before,
        append=after,
        add_special_tokens=False,
        allowed_special="all",
    )
    marks = [50256 if isinstance(token, str) else token for token in after]
    for table in tables()[:3]:
        given = table.set_column(0, "text", table["text"].cast(kind))
        ids = sent(encode)(given)
        assert ids.column_names == ["text", "row", "ids"]
        assert ids["ids"].type == pa.large_list(pa.uint32())
        ids.validate(full=True)
        assert ids["ids"].to_pylist() == [
            None if text is None else [*before, *encoding.encode(text, allowed_special="all"), *marks]
            for text in table["text"].to_pylist()
        ]
    assert encode(pa.table({})) == pa.table({})


def test_a_column_is_replaced_and_a_template_added() -> None:
    encoding = bytemill.get_encoding("gpt2")
    definition = encoding.definition
    template = Template(("<|endoftext|>",), ("!", "?"))
    made = bytemill.Encoding.from_definition(definition._replace(name="t", template=template))
    encode = ColumnEncoder(made, "text", into="text", prepend=9, append=8, add_special_tokens=True)
    ids = encode(tables()[0])
    assert ids.column_names == ["text", "row"]
    assert ids["text"].to_pylist()[0] == [9, 50256, *encoding.encode("the cat"), 0, 30, 8]


def test_another_encoding_of_that_name_is_an_error() -> None:
    encode = ColumnEncoder("gpt2", "text", into="ids", prepend=None, append=None, add_special_tokens=False)
    ranks = {bytes([byte]): byte for byte in range(256)}
    encode._encoding.value = bytemill.Encoding("gpt2", pat_str=".", mergeable_ranks=ranks, special_tokens={})
    with pytest.raises(ValueError, match="expected the encoding gpt2 with the SHA-256"):
        encode(tables()[0])


def test_strings_to_refuse_are_kept() -> None:
    encode = ColumnEncoder(
        "gpt2",
        "text",
        into="ids",
        prepend=None,
        append=None,
        add_special_tokens=False,
        disallowed_special=iter(["refused"]),  # type: ignore[arg-type]
    )
    for _ in range(2):
        with pytest.raises(bytemill.DisallowedSpecialTokenError):
            encode(pa.table({"text": ["refused"]}))


def test_a_process_rebuilds_an_encoding_once() -> None:
    encode = ColumnEncoder("gpt2", "text", into="ids", prepend=None, append=None, add_special_tokens=False)
    first, second = sent(encode), sent(encode)
    assert first._encoding.value is second._encoding.value


def test_engines_are_imported_when_they_are_used() -> None:
    engines = "{'ray', 'pyspark', 'pyarrow'}"
    script = f"import sys, bytemill.ray, bytemill.spark; assert not {engines} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)  # noqa: S603


def test_without_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match="jobs on Ray need the package ray"):
        bytemill.ray.Executor()
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ImportError, match="jobs on Spark need the package pyspark"):
        bytemill.spark.Executor()


def test_arguments_on_ray_may_be_iterators(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("hello <|sep|> world <|sep|>", encoding="utf-8")
    with fake_engines():
        counts, other = (
            bytemill.ray.count_pieces(text, "gpt2", to=tmp_path / name, special_tokens=tokens)
            for name, tokens in (("a", ["<|sep|>"]), ("b", iter(["<|sep|>"])))
        )
        assert dict(counts) == dict(other)
        assert counts.special_tokens == other.special_tokens
        first, second = (
            bytemill.ray.write_shards(text, "gpt2", to=tmp_path / name, append=ids)
            for name, ids in (("c", [50256]), ("d", iter([50256])))
        )
        assert first.tokens == second.tokens
        assert first.options == second.options
