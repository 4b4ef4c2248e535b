"""Keeps a few inputs that reach all that the corpus reaches: `make fuzz-minimise`. See README.md."""

from __future__ import annotations

import argparse
import base64
import subprocess
import tempfile
from pathlib import Path

import run
import seeds


def minimise(program: Path, target: str, corpus: Path) -> list[bytes]:
    """Returns inputs of a corpus that cover all edges which it covers, chosen greedily by libFuzzer."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            str(program),
            "-set_cover_merge=1",
            "-use_counters=0",
            f"-timeout={run.SECONDS}",
            f"-rss_limit_mb={run.MEGABYTES}",
            folder,
            str(corpus),
        ]
        subprocess.run(command, env=run.environment(target), stderr=subprocess.DEVNULL, check=True)
        return [path.read_bytes() for path in Path(folder).iterdir()]


def main() -> None:
    """Writes the kept inputs of each target, the shortest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(run.RUST)}; all if none is named")
    targets = parser.parse_args().targets or run.RUST
    program = run.build()
    for target in targets:
        corpus = run.HERE / "corpus" / target
        corpus.mkdir(parents=True, exist_ok=True)
        seeds.write(target, corpus)
        kept = sorted(minimise(program, target, corpus), key=lambda one: (len(one), one))
        lines = "".join(base64.b64encode(one).decode() + "\n" for one in kept)
        seeds.minimised(target).write_text(lines, encoding="ascii")
        print(f"{target:10} {len(list(corpus.iterdir())):7,} inputs, {len(kept):5,} kept", flush=True)


if __name__ == "__main__":
    main()
