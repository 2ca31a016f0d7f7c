"""How much memory this process has held, how much there is, and being short of it."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from cellwright.base import windows
from cellwright.base.amounts import memory
from cellwright.base.errors import UserError

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_STATUS = Path("/proc/self/status")
_GROUPS, _CONTROL = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")

_ASKED = re.compile(r"allocate (\d+) bytes")
_SHORT = re.compile(r"can't allocate memory|not enough memory|out of memory|bad alloc", re.I)
"""What torch's errors say when the system, or a graphics card, has no memory left."""


class NotEnoughMemoryError(UserError):
    """Something takes more memory than there is."""


def peak_memory() -> int:
    """The most memory that this process has held so far, in bytes.

    Linux counts to a new process what its parent held when it began (`ru_maxrss`), so that figure
    is taken only where there is no other.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        [line] = [line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM")]
        return 1024 * int(line.split()[1])
    if resource is None:
        return windows.peak_memory() if sys.platform == "win32" else 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def memory_there() -> int | None:
    """The bytes that a process here can hold at most without swapping, or None if nobody says.

    That is the machine's memory, or less where a container, a batch system or `ulimit` allows less.
    """
    found = [*_group_limits(), machine_memory() or 0]
    if resource is not None:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        found.append(0 if limit == resource.RLIM_INFINITY else limit)
    return min((size for size in found if size > 0), default=None)


def machine_memory() -> int | None:
    """The bytes of memory of this machine, or None if nobody says."""
    if sys.platform == "win32":
        return windows.machine_memory()
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


@contextlib.contextmanager
def memory_shortage() -> Iterator[None]:
    """Turn what torch, numpy and Python raise when memory is short into one error for people.

    Raises:
        NotEnoughMemoryError: it was.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_shortage(error):
            raise
        raise NotEnoughMemoryError(shortage(error)) from None


def shortage(error: BaseException) -> str:
    """What an error says that was raised because memory is short.

    >>> shortage(RuntimeError("DefaultCPUAllocator: you tried to allocate 8000000000 bytes."))[:43]
    'not enough memory for another 8.0 GB, and t'
    """
    asked, there = _ASKED.search(str(error)), memory_there()
    text = "not enough memory"
    if asked is not None:
        text += f" for another {memory(int(asked[1]))}"
    return text if there is None else f"{text}, and there are {memory(there)} here in all"


def is_shortage(error: BaseException) -> bool:
    """Whether an error was raised because memory is short."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and _SHORT.search(str(error)) is not None
    )


def _group_limits() -> Iterator[int]:
    """The limits of the control groups that this process is in (Linux)."""
    try:
        lines = _GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, names, path = line.split(":", 2)
        if names not in ("", "memory"):
            continue
        file = "memory.limit_in_bytes" if names else "memory.max"
        group = PurePosixPath(path)
        for place in (group, *group.parents):
            with contextlib.suppress(OSError, ValueError):  # "max", or seen from inside a container
                inside = str(place).lstrip("/")
                yield int((_CONTROL / names / inside / file).read_text())
