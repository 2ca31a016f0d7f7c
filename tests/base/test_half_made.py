"""Folders in the making: there while they are made, and gone with who made them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cellwright.base.half_made import half_made, is_abandoned, sweep_abandoned

DIES = """
import os, signal, sys
from pathlib import Path
from cellwright.base.half_made import half_made
with half_made(Path(sys.argv[1])) as folder:
    (folder / "large").write_bytes(b"x" * 1000)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_is_gone_at_the_end_however_that_comes(tmp_path: Path):
    with half_made(tmp_path / "made") as folder:
        (folder / "new").mkdir()
        (folder / "new").rename(tmp_path / "made")
    with pytest.raises(KeyboardInterrupt), half_made(tmp_path / "other"):
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_what_a_killed_process_left_is_swept_and_what_is_being_made_is_not(tmp_path: Path):
    words = [sys.executable, "-c", DIES, str(tmp_path / "killed")]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    assert is_abandoned(left)
    with half_made(tmp_path / "another") as folder:
        assert not left.exists()
        os.utime(folder, (0, 0))
        assert not is_abandoned(folder)
        sweep_abandoned(tmp_path)
        assert folder.exists()


def test_other_hidden_files_and_folders_stay(tmp_path: Path):
    (tmp_path / ".mine").mkdir()
    (tmp_path / ".file.tmp").write_text("")
    (tmp_path / ".young.tmp").mkdir()
    (tmp_path / ".old.tmp").mkdir()
    os.utime(tmp_path / ".old.tmp", (0, 0))
    (tmp_path / ".link.tmp").symlink_to(tmp_path / ".mine")
    sweep_abandoned(tmp_path)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == [".file.tmp", ".link.tmp", ".mine", ".young.tmp"]
    sweep_abandoned(tmp_path / "missing")
