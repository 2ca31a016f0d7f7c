"""A small disk of a test's own, where this user may make one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest


@lru_cache
def can_mount() -> bool:
    """Whether this user may make a file system of a few kilobytes."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


needs_own_disk = pytest.mark.skipif(not can_mount(), reason="needs to mount a small file system")


def on_own_disk(folder: Path, size: str = "4m") -> tuple[str, ...]:
    """What to put before a command, so that `folder` is a disk of that size, and its alone."""
    mount = f'mount -t tmpfs -o size={size} none "{folder}" && exec "$@"'
    return ("unshare", "-rm", "sh", "-c", mount, "sh")
