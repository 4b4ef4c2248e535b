"""Stand-ins for the modules of Ray and Spark, which call everything in this process.

They have what `bytemill.ray` and `bytemill.spark` use, for tests of arguments without an engine. What engines
do to tasks is tested on real ones, in `tests/engines`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import pyarrow as pa  # type: ignore[import-untyped]

__all__ = ["Dataset", "Frame", "fake_engines"]

TABLE = pa.table({"text": ["abab ab", None]})


class RayTaskError(Exception):
    """The error of a task."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Reference:
    """The result of a task, which has ended."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.error: Exception | None = None
        try:
            self.result = call()
        except Exception as error:  # noqa: BLE001 - it is raised where the result is asked for
            self.error = error


def result_of(reference: Reference) -> object:
    """Returns the result of a task."""
    if reference.error is not None:
        raise RayTaskError(reference.error)
    return reference.result


def remote(**_: object) -> Callable[[Callable[..., object]], Any]:
    """Makes a function one whose calls are tasks."""
    return lambda function: SimpleNamespace(remote=lambda *args: Reference(lambda: function(*args)))


class Dataset:
    """A dataset of Ray of one table."""

    def schema(self, *, fetch_if_missing: bool) -> Any:
        assert not fetch_if_missing
        return TABLE.schema

    def map_batches(self, function: Callable[[Any], Any], **_: object) -> Any:
        return function(TABLE)

    def select_columns(self, names: list[str]) -> Dataset:
        assert names == ["text"]
        return self

    def write_datasink(self, sink: Any, **_: object) -> None:
        sink.on_write_complete(SimpleNamespace(write_returns=[sink.write([TABLE], None)]))


# Ray's own class is told by the name of its module.
Dataset.__module__ = "ray.data.dataset"


class Frame:
    """A data frame of Spark of one partition."""

    columns = ("text",)

    @property
    def schema(self) -> Any:
        kind = SimpleNamespace(typeName=lambda: "string", simpleString=lambda: "string")
        return Schema([SimpleNamespace(name="text", dataType=kind)])

    def select(self, column: str) -> Frame:
        assert column == "text"
        return self

    def mapInArrow(  # noqa: N802 - as Spark's
        self, function: Callable[[Iterator[Any]], Iterator[Any]], schema: object
    ) -> Any:
        assert schema
        rows = [row for batch in function(iter(TABLE.to_batches())) for row in batch.to_pylist()]
        return SimpleNamespace(collect=lambda: [SimpleNamespace(**row) for row in rows])


class Schema:
    """The fields of a data frame."""

    def __init__(self, fields: Sequence[Any]) -> None:
        self.fields = list(fields)

    def __getitem__(self, name: str) -> Any:
        return next(field for field in self.fields if field.name == name)


class SparkSession:
    """A session, whose jobs have one task."""

    # There is no class yet.
    builder = SimpleNamespace(getOrCreate=lambda: SparkSession())  # noqa: PLW0108
    sparkContext = SimpleNamespace(  # noqa: N815 - as Spark's
        master="here",
        defaultParallelism=1,
        parallelize=lambda numbers, _: SimpleNamespace(
            map=lambda task: SimpleNamespace(collect=lambda: list(map(task, numbers)))
        ),
    )


def module(name: str, **contents: object) -> ModuleType:
    """Returns a module."""
    made = ModuleType(name)
    made.__dict__.update(contents)
    return made


def modules() -> dict[str, ModuleType]:
    """Returns the modules, by their names."""
    block = module(
        "ray.data.block",
        BlockAccessor=SimpleNamespace(for_block=lambda table: SimpleNamespace(to_arrow=lambda: table)),
    )
    context = SimpleNamespace(get_current=lambda: SimpleNamespace(max_errored_blocks=0))
    data = module("ray.data", Datasink=object, DataContext=context, block=block)
    ray = module(
        "ray",
        cancel=lambda _: None,
        cluster_resources=lambda: {"CPU": 1},
        data=data,
        exceptions=SimpleNamespace(RayTaskError=RayTaskError),
        get=result_of,
        is_initialized=lambda: True,
        put=lambda value: value,
        remote=remote,
        wait=lambda references, num_returns: (references[:num_returns], references[num_returns:]),
    )
    types = module(
        "pyspark.sql.types",
        ArrayType=lambda kind: kind,
        IntegerType=lambda: "int",
        StructField=lambda name, kind: SimpleNamespace(name=name, dataType=kind),
        StructType=Schema,
    )
    sql = module("pyspark.sql", SparkSession=SparkSession, types=types)
    spark = module("pyspark", sql=sql)
    return {each.__name__: each for each in (ray, data, block, spark, sql, types)}


@contextmanager
def fake_engines() -> Iterator[None]:
    """Makes these the modules that the body imports."""
    with patch.dict(sys.modules, modules()):
        yield
        # It derives from a class that vanishes.
        sys.modules.pop("bytemill.ray.sink", None)
