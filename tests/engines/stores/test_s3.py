"""Jobs on S3, as moto serves it on this machine, give the files of jobs in folders, also where it fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]
import pytest
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from werkzeug.wrappers import Request, Response

import bytemill
from bytemill import jobs
from bytemill.jobs.stores import ObjectStore
from support.executors import Twice
from support.mixed_corpus import write_corpus
from support.stores import outputs, run_job, upload

pytestmark = pytest.mark.filterwarnings("default")

# What the packages of stores read where no option is given, here and in processes that are started.
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nothing",
    "AWS_DEFAULT_REGION": "us-east-1",
    # The packages repeat what fails many times, each on its own.
    "AWS_RETRY_MODE": "standard",
    "AWS_MAX_ATTEMPTS": "2",
}


class Failing:
    """The server's application, some of whose answers are 500."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.left = 0
        self.method = self.part = ""

    def fail(self, method: str, part: str, times: int) -> None:
        """Has the next requests with this method and part of the address fail."""
        self.method, self.part, self.left = method, part, times

    def __call__(self, environment: Any, start: Any) -> Any:
        request = Request(environment)
        if self.left and request.method == self.method and self.part in request.url:
            self.left -= 1
            # As of a server that breaks off while it is sent something.
            request.get_data()
            return Response("<Error><Code>InternalError</Code></Error>", 500)(environment, start)
        return self.application(environment, start)


@pytest.fixture(scope="module")
def server() -> Iterator[Failing]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address, port = server.get_host_and_port()
    failing = Failing(server._server.app)
    server._server.app = failing
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": f"http://{address}:{port}"}.items():
            patch.setenv(name, value)
        patch.setattr("s3fs.S3FileSystem.retries", 1)
        yield failing
    server.stop()


@pytest.fixture
def bucket(server: Failing, request: pytest.FixtureRequest) -> str:
    server.left = 0
    name = f"bucket-{abs(hash(request.node.name)):x}"
    fsspec.filesystem("s3", use_listings_cache=False).mkdir(name)
    return f"s3://{name}"


@pytest.fixture
def corpus(tmp_path: Path, bucket: str) -> Path:
    folder = write_corpus(tmp_path / "corpus")
    upload(folder, f"{bucket}/corpus")
    return folder


@pytest.fixture
def in_folders(corpus: Path, tmp_path: Path) -> dict[str, bytes]:
    run_job(corpus, str(tmp_path / "here"), jobs.Local(1))
    return outputs(str(tmp_path / "here"))


@pytest.mark.parametrize("executor", [jobs.Local(1), jobs.Local(2), Twice(1)], ids=repr)
def test_a_job_is_that_of_folders(
    corpus: Path, bucket: str, in_folders: dict[str, bytes], executor: jobs.Executor
) -> None:
    counts = run_job(f"{bucket}/corpus/**", f"{bucket}/work", executor)
    assert dict(counts) == dict(bytemill.count_pieces(corpus, "gpt2", progress=False))
    assert outputs(f"{bucket}/work") == in_folders
    sources = jobs.Plan.load(f"{bucket}/work").sources
    assert all(len(version) == 32 for _, version in sources.values()), "the ETag of each"  # type: ignore[arg-type]


def test_large_files_are_uploaded_in_parts(tmp_path: Path, bucket: str) -> None:
    # A part has 50 MiB.
    (tmp_path / "large.txt").write_text("the cat sat on the mat. " * 2_400_000, encoding="utf-8")
    jobs.plan(tmp_path / "large.txt", f"{bucket}/work")
    manifest = jobs.write_shards(
        f"{bucket}/work", bytemill.get_encoding("gpt2"), dtype="uint32", format="npy", executor=jobs.Local(1)
    )
    (facts,) = manifest.units[0].files.values()
    assert facts.size > 60 << 20
    compacted = jobs.compact(f"{bucket}/work", executor=jobs.Local(1))
    assert list(compacted.values()) == [facts]


@pytest.mark.parametrize(
    ("method", "part"),
    [
        ("PUT", "/counts/unit-000002"),
        ("PUT", "/shards/unit-000001/shard-000000.bin"),
        ("PUT", "/compacted/shard-000001.idx"),
        ("PUT", "/commits/shard-000003"),
        ("PUT", "/plan.json"),
        ("PUT", "/manifest.json"),
        ("HEAD", "/counts/unit-000001"),
        ("GET", "/corpus/b.parquet"),
        ("GET", "/work/shards/unit-000001/shard-000000.bin"),
        ("GET", "list-type"),
    ],
)
def test_a_request_that_fails(
    bucket: str, in_folders: dict[str, bytes], server: Failing, method: str, part: str
) -> None:
    server.fail(method, part, 100)
    with pytest.raises(OSError, match="s3://"):
        run_job(f"{bucket}/corpus", f"{bucket}/work", jobs.Local(1))
    assert server.left < 100
    server.left = 0
    run_job(f"{bucket}/corpus", f"{bucket}/work", jobs.Local(1))
    assert outputs(f"{bucket}/work") == in_folders


def test_a_request_that_fails_once_is_repeated(
    bucket: str, in_folders: dict[str, bytes], server: Failing
) -> None:
    server.fail("PUT", "/shards/unit-000001/shard-000000.bin", 1)
    run_job(f"{bucket}/corpus", f"{bucket}/work", jobs.Local(1))
    assert server.left == 0
    assert outputs(f"{bucket}/work") == in_folders


def test_the_first_writer_of_options_wins(corpus: Path, bucket: str) -> None:
    jobs.plan(corpus, f"{bucket}/work")
    with pytest.raises(ValueError, match="another plan"):
        jobs.plan(corpus, f"{bucket}/work", unit_bytes=1_000)
    # The store refuses it, not a question before it.
    store = ObjectStore(f"{bucket}/work")
    assert store.create("once", b"first")
    assert not store.create("once", b"second")
    with store.open("once") as file:
        assert file.read() == b"first"


def test_a_place_that_is_not_there_is_an_error(bucket: str, corpus: Path) -> None:
    with pytest.raises(FileNotFoundError, match="s3://"):
        jobs.status(f"{bucket}/none")
    with pytest.raises(OSError, match="s3://none-such-bucket"):
        jobs.plan(corpus, "s3://none-such-bucket/work")
