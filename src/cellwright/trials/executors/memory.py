"""How much memory a process and its children hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cellwright.base import windows

_COUNTED = ("RssAnon:", "RssShmem:", "VmSwap:")
"""Not `RssFile`: pages of files, such as a mapped corpus, are dropped when memory is short."""


def memory_of(pid: int) -> int:
    """Bytes that a process and its children hold; 0 if there is no such process."""
    if sys.platform == "win32":
        return windows.memory_of(pid)
    if not Path("/proc/self/status").exists():
        return _by_ps(pid)
    total, found = 0, [pid]
    while found:
        one = found.pop()
        try:
            status = Path(f"/proc/{one}/status").read_text()
            children = Path(f"/proc/{one}/task/{one}/children").read_text().split()
        except OSError:
            continue
        found += map(int, children)
        for line in status.splitlines():
            if line.startswith(_COUNTED):
                total += 1024 * int(line.split()[1])
    return total


def _by_ps(pid: int) -> int:
    """The same on systems without /proc, for the process alone and with pages of files."""
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True)
    return 1024 * int(shown.stdout.strip() or 0)
