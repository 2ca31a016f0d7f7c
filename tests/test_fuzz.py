"""A few damaged files of each kind; `fuzz_files.py` by itself tries as many as one likes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("fuzz_files.py")


def test_damaged_files_of_every_kind():
    command = [sys.executable, str(SCRIPT), "--variants", "26", "--seed", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failures" in done.stdout
