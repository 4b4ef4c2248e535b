"""Installs a wheel with each of its extras into an environment of its own, and uses what the extra is for.

    PYTHONPATH=tests python -m programs.check_extras FOLDER [EXTRA ...]

FOLDER holds one wheel; without names, all extras that pyproject.toml has are tried.
"""

# ruff: noqa: T201 - a script: it prints

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from support.examples import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    sys.exit("expected Python 3.11 or later")

# What is run after the installation: it fails where a package is missing.
USES = {
    "hf": """
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
vocab = {each: i for i, each in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
backend = Tokenizer(models.BPE(vocab=vocab, merges=[]))
backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
expected = tokenizer("hello world")["input_ids"]
assert bytemill.hf.is_accelerated(bytemill.hf.accelerate(tokenizer))
assert tokenizer("hello world")["input_ids"] == expected
""",
    "arrow": """
import pyarrow
from pyarrow import parquet
parquet.write_table(pyarrow.table({"text": ["hello world"] * 9}), "texts.parquet")
assert int(count("texts.parquet")) == 18
""",
    "zstd": """
import zstandard
Path("texts.txt.zst").write_bytes(zstandard.compress(b"hello world"))
assert int(count("texts.txt.zst")) == 2
""",
    "charts": """
from bytemill.inspection import compare
compare({"gpt2": "gpt2"}, {"text": ["hello world"]}).write_chart("chart.png")
assert Path("chart.png").stat().st_size > 1000
""",
    "playground": """
from urllib.request import urlopen
from bytemill import playground
with playground.start("hello", open_browser=False) as running:
    assert b"<title>" in urlopen(running.url, timeout=20).read()
""",
    "ray": """
import bytemill.ray
counts = bytemill.count_pieces(["hello world"] * 9, "gpt2")
assert bytemill.ray.train(counts, 260).n_vocab == 260
""",
    "spark": """
import bytemill.spark
import pyspark.sql
assert callable(bytemill.spark.Executor)
""",
    "s3": """
import fsspec
assert fsspec.get_filesystem_class("s3").protocol
""",
}
BEFORE = """
from pathlib import Path
import bytemill, bytemill.hf
assert "site-packages" in bytemill.__file__
def count(path):
    import subprocess, sys
    command = [sys.executable, "-m", "bytemill", "count", "-e", "gpt2", path]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
"""


def check(wheel: Path, extra: str) -> None:
    """Installs and uses one extra; `CalledProcessError` if that fails."""
    start = perf_counter()
    with tempfile.TemporaryDirectory() as name:
        python = Path(name, "bin", "python")
        subprocess.run([sys.executable, "-m", "venv", name], check=True)  # noqa: S603 - this interpreter
        install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", f"{wheel}[{extra}]"]
        subprocess.run(install, check=True)  # noqa: S603 - the wheel that was built
        program = BEFORE + USES[extra]
        subprocess.run([python, "-c", program], check=True, cwd=name)  # noqa: S603 - ours
    print(f"{extra}: installed and used in {perf_counter() - start:.0f} s", flush=True)


def main() -> None:
    """Checks the extras that are named, or all."""
    [wheel] = Path(sys.argv[1]).resolve().glob("*.whl")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [*project["optional-dependencies"]]
    unknown = set(extras) ^ set(USES)
    if unknown:
        sys.exit(f"expected a use of each extra, got other names: {', '.join(sorted(unknown))}")
    for extra in sys.argv[2:] or extras:
        check(wheel, extra)


if __name__ == "__main__":
    main()
