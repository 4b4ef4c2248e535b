"""Packages of the Rust registry, fetched by cargo for the files that they carry."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

__all__ = ["package_folder"]


def package_folder(package: str, version: str) -> Path:
    """Return the folder of a package, which cargo fetches unless it has it.

    Raises:
        subprocess.CalledProcessError: cargo failed.
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
        metadata = json.loads(subprocess.run(command, cwd=project, check=True, stdout=subprocess.PIPE).stdout)
    [manifest] = [found["manifest_path"] for found in metadata["packages"] if found["name"] == package]
    return Path(manifest).parent
