"""Processes that are killed, and disks that are full, for real."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from own_disk import needs_own_disk, on_own_disk

HERE = Path(__file__).parent


def python(*arguments: str | Path, before: tuple[str, ...] = ()) -> str:
    """Run a script beside this file; what it printed."""
    done = subprocess.run(
        [*before, sys.executable, *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_killed_three_times():
    out = python(HERE / "kill_test.py", "--kills", "3", "--set", "training.epochs=2")
    assert "3 kills" in out
    assert "all equal" in out


@needs_own_disk
def test_a_disk_that_is_full(tmp_path: Path):
    out = python(HERE / "full_disk.py", tmp_path, before=on_own_disk(tmp_path, "400k"))
    assert "resumed and equal" in out
    assert "read-only file system" in out
