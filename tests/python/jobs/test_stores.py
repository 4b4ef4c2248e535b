"""Jobs on object stores give the files of jobs in folders, whatever happens to the tasks."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]
import pytest
from fsspec.implementations.memory import MemoryFileSystem  # type: ignore[import-untyped]

import bytemill
from bytemill import jobs
from bytemill.io.uris import is_uri, without_scheme
from support.executors import Interleaved, Killed, Twice, kill_at
from support.stores import outputs, run_job, upload

pytestmark = pytest.mark.usefixtures("memory_store")


@pytest.fixture
def in_folders(stored_corpus: Path, tmp_path: Path) -> dict[str, bytes]:
    run_job(stored_corpus, str(tmp_path / "here"), jobs.Local(1))
    return outputs(str(tmp_path / "here"))


def test_a_job_is_that_of_folders(stored_corpus: Path, in_folders: dict[str, bytes]) -> None:
    counts = run_job("memory://corpus", "memory://work", jobs.Local(1))
    assert dict(counts) == dict(bytemill.count_pieces(stored_corpus, "gpt2", progress=False))
    assert outputs("memory://work") == in_folders
    plan = jobs.Plan.load("memory://work")
    assert list(plan.sources) == [f"memory:///corpus/{path.name}" for path in sorted(stored_corpus.iterdir())]


def test_places_may_be_mixed(stored_corpus: Path, tmp_path: Path, in_folders: dict[str, bytes]) -> None:
    run_job(stored_corpus, "memory://work", jobs.Local(1))
    assert outputs("memory://work") == in_folders
    run_job("memory://corpus", f"file://{tmp_path / 'other'}", jobs.Local(1))
    assert outputs(str(tmp_path / "other")) == in_folders
    run_job(f"file://{stored_corpus}", str(tmp_path / "again"), jobs.Local(1))
    assert outputs(str(tmp_path / "again")) == in_folders


@pytest.mark.parametrize("seed", range(2))
def test_tasks_may_run_twice_in_any_order(in_folders: dict[str, bytes], seed: int) -> None:
    run_job("memory://corpus", "memory://work", Twice(seed))
    assert outputs("memory://work") == in_folders


def test_a_task_may_run_while_it_runs(in_folders: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    run_job("memory://corpus", "memory://work", Interleaved(monkeypatch))
    assert outputs("memory://work") == in_folders


def assert_resumable(in_folders: dict[str, bytes]) -> None:
    """The rest of a job is done, and nothing that was committed again."""
    before = dict(MemoryFileSystem.store)
    run_job("memory://corpus", "memory://work", jobs.Local(1))
    assert outputs("memory://work") == in_folders
    commits = [name for name in before if "/commits/" in name]
    assert all(MemoryFileSystem.store[name] is before[name] for name in commits)


class Breaking:
    """Has one call of many of a store's methods fail, in the middle of what it does."""

    METHODS = ("put_file", "pipe_file", "cat_file", "info", "ls", "open")

    def __init__(self, patch: pytest.MonkeyPatch, methods: Sequence[str], call: int) -> None:
        self.call = call
        self.calls = 0
        for name in methods:
            patch.setattr(MemoryFileSystem, name, self.breaking(getattr(MemoryFileSystem, name), name))

    def breaking(self, method: Any, name: str) -> Any:
        def called(*arguments: Any, **options: Any) -> Any:
            self.calls += 1
            if self.calls == self.call:
                if name == "put_file":
                    # Half of the file was sent; a store shows none of it.
                    assert os.path.getsize(arguments[1])  # noqa: PTH202
                raise RuntimeError("500 Internal Server Error")
            return method(*arguments, **options)

        return called


# Of about 300 in a job.
CALLS = random.Random(0).sample(range(1, 280), 12)  # noqa: S311 - the same every time


@pytest.mark.parametrize("call", [1, 4, 25])
def test_an_upload_that_fails(
    in_folders: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    with monkeypatch.context() as patch:
        Breaking(patch, ["put_file"], call)
        with pytest.raises(OSError, match=r"500 Internal Server Error: 'memory://work/"):
            run_job("memory://corpus", "memory://work", jobs.Local(1))
    assert_resumable(in_folders)


@pytest.mark.parametrize("call", CALLS)
def test_a_store_that_fails(in_folders: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    with monkeypatch.context() as patch:
        breaking = Breaking(patch, Breaking.METHODS, call)
        # After the commit of a unit there is nothing to tell.
        with suppress(OSError):
            run_job("memory://corpus", "memory://work", jobs.Local(1))
    assert breaking.calls >= call
    run_job("memory://corpus", "memory://work", jobs.Local(1))
    assert outputs("memory://work") == in_folders


STEPS = ["create", "write", "remove", "publish", "names"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", [1, 9])
def test_a_killed_run_goes_on(
    in_folders: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, step: str, when: str, call: int
) -> None:
    # Few places are written once.
    call = min(call, 3) if step == "create" else call
    with monkeypatch.context() as patch:
        kill_at(patch, f"bytemill.jobs.stores.ObjectStore.{step}", when, call)
        with pytest.raises(Killed):
            run_job("memory://corpus", "memory://work", jobs.Local(1))
    assert_resumable(in_folders)


def test_what_is_read_has_a_commit(in_folders: dict[str, bytes]) -> None:
    plan = jobs.plan("memory://corpus", "memory://work", unit_bytes=15_000)
    # What a process left that died before its commit.
    with MemoryFileSystem().open("/work/counts/unit-000001.parquet", "wb") as file:
        file.write(b"half")
    assert jobs.status(plan).units_counted is None
    run_job("memory://corpus", "memory://work", jobs.Local(1))
    assert outputs("memory://work") == in_folders


class Plain(MemoryFileSystem):  # type: ignore[misc] # fsspec has no types
    """A store whose package is not known to write on a condition."""

    protocol = "plain"
    store: dict[str, Any] = {}  # noqa: RUF012 - as that of its class
    pseudo_dirs = [""]  # noqa: RUF012 - as above


def test_a_store_without_conditional_writes_is_warned_of(stored_corpus: Path) -> None:
    fsspec.register_implementation("plain", Plain, clobber=True)
    with pytest.warns(
        UserWarning, match=r"plain://work/plan\.json: the store is not known to write on the cond"
    ):
        plan = jobs.plan(stored_corpus, "plain://work")
    # Once for each file that is written so, not for what is there.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jobs.plan(stored_corpus, "plain://work") == plan
    with pytest.raises(ValueError, match="another plan"):
        jobs.plan(stored_corpus, "plain://work", unit_bytes=10_000)


def test_a_store_that_takes_no_notice_of_the_condition_is_warned_of(
    stored_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = MemoryFileSystem.pipe_file
    monkeypatch.setattr(
        MemoryFileSystem, "pipe_file", lambda self, path, value, **_: write(self, path, value)
    )
    with pytest.warns(UserWarning, match=r"memory://work/plan\.json: the store is not known to write"):
        jobs.plan(stored_corpus, "memory://work")


@pytest.mark.usefixtures("stored_corpus")
def test_other_options_in_the_same_place_are_refused() -> None:
    jobs.plan("memory://corpus", "memory://work")
    with pytest.raises(ValueError, match=r"memory://work/plan\.json: .* another plan"):
        jobs.plan("memory://corpus", "memory://work", unit_bytes=1_000)
    jobs.count_pieces("memory://work", executor=jobs.Local(1))
    with pytest.raises(ValueError, match=r"memory://work/count\.json: .* other options"):
        jobs.count_pieces("memory://work", "gpt2", executor=jobs.Local(1))


def test_a_source_that_has_changed_is_refused(stored_corpus: Path) -> None:
    plan = jobs.plan("memory://corpus", "memory://work")
    (stored_corpus / "d.jsonl").write_text('{"text": "new"}\n', encoding="utf-8")
    upload(stored_corpus, "memory://corpus")
    with pytest.raises(ValueError, match=r"memory:///corpus/.* changed since it was planned"):
        jobs.count_pieces(plan, executor=jobs.Local(1))


def test_sources_are_globs_folders_and_files(stored_corpus: Path) -> None:
    upload(stored_corpus, "memory://corpus/deep")
    upload(stored_corpus, "memory://corpus/.hidden")
    names = [path.name for path in sorted(stored_corpus.iterdir())]

    def planned(source: Any, work: str) -> list[str]:
        return [name.removeprefix("memory:///corpus/") for name in jobs.plan(source, work).sources]

    assert planned("memory://corpus", "memory://1") == [*names, *(f"deep/{name}" for name in names)]
    assert planned("memory://corpus/*.jsonl", "memory://2") == [each for each in names if each != "b.parquet"]
    assert planned("memory://corpus/**/b.parquet", "memory://3") == [
        ".hidden/b.parquet",
        "b.parquet",
        "deep/b.parquet",
    ]
    assert planned(["memory://corpus/b.parquet", "memory://corpus/a.jsonl"], "memory://4") == [
        "b.parquet",
        "a.jsonl",
    ]
    for missing in ("memory://corpus/none", "memory://corpus/*.txt"):
        with pytest.raises(FileNotFoundError, match=r"there is no such file: 'memory://"):
            jobs.plan(missing, "memory://5")


def test_what_has_no_plan_is_an_error() -> None:
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: 'memory://none/plan\.json'"):
        jobs.status("memory://none")


@pytest.mark.parametrize(
    ("uri", "error", "message"),
    [("nosuch://place", ValueError, "nosuch"), ("s3://bucket", ImportError, "s3fs")],
)
def test_a_store_that_is_not_known_is_an_error(uri: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        jobs.plan(uri, "memory://work")
    with pytest.raises(error, match=message):
        jobs.status(uri)


def test_uris_are_told_from_paths() -> None:
    assert is_uri("s3://bucket/key")
    assert is_uri("hf://datasets/a/b")
    for path in ("a/b", "C:/a", "/a://b", "file:///a/b", ":// ", Path("s3://bucket")):
        assert not is_uri(path)
    assert without_scheme("file:///a/b") == "/a/b"
    assert without_scheme(Path("a/b")) == str(Path("a/b"))
