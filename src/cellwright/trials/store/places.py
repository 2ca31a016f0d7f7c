"""Where a process is, such that another one on the same machine can tell whether it has ended.

A lease tells so everywhere, but late. After a kill the next driver on the same machine need not
wait for it.
"""

from __future__ import annotations

import os
import socket
import sys
import uuid
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cellwright.base import windows


@dataclass(frozen=True)
class Place:
    """A process: its machine, its number there, and when it began, since numbers come again."""

    host: str
    machine: str
    pid: int
    process: str

    def has_ended(self) -> bool | None:
        """Whether the process is gone; None where that cannot be seen from here."""
        if self.machine != _machine():
            return None
        return _began(self.pid) != self.process


def here() -> Place:
    """This process."""
    return Place(socket.gethostname(), _machine(), os.getpid(), _began(os.getpid()))


@lru_cache
def _machine() -> str:
    """What two processes have in common exactly if they see each other's numbers."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"  # each container has numbers of its own
    except OSError:
        return f"{socket.gethostname()} {uuid.getnode():x}"


def _began(pid: int) -> str:
    """When a process began, by the system's own count; an empty string if there is none."""
    try:
        # The second field is the program's name in brackets, in which anything may stand.
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if state in "ZX" else fields[18]
    except OSError:
        if os.path.isdir("/proc/self"):
            return ""
    if sys.platform == "win32":  # where the call below would not ask, but end the process
        return windows.process_began(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "running"
