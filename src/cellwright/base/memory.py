"""How much memory this process has held."""

from __future__ import annotations

import contextlib
import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_memory() -> int:
    """The most memory that this process has held so far, in bytes.

    Linux counts to a new process what its parent held when it began (`ru_maxrss`), so that figure
    is taken only where there is no other.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        [line] = [line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM")]
        return 1024 * int(line.split()[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
