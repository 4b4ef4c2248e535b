"""Processes of this machine that die."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.command_line import environment

# Each process runs it again, and fails to start others.
UNGUARDED = """
import sys
from bytemill import jobs

plan = jobs.plan(sys.argv[1], sys.argv[2], unit_bytes=1)
jobs.count_pieces(plan, executor=jobs.Local(2))
"""


def test_a_script_without_a_guard_ends(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"text": "the cat"}\n' * 2)
    (tmp_path / "script.py").write_text(UNGUARDED)
    command = [sys.executable, "script.py", "corpus.jsonl", "work"]
    done = subprocess.run(  # noqa: S603 - our own script
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60, env=environment()
    )
    assert done.returncode == 1
    assert "JobError: expected processes that do units, but each ended while it started" in done.stderr
    assert 'must start its work below `if __name__ == "__main__":`; or use Local(1)' in done.stderr
