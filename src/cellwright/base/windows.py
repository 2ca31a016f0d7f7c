"""What Windows says of memory and processes, which other systems say in files or by `resource`.

Only to be called there: the calls are those of its own libraries.
"""

from __future__ import annotations

import ctypes
from typing import Any

_ASK = 0x1000
"""The right to ask a process about itself (PROCESS_QUERY_LIMITED_INFORMATION)."""

_RUNNING = 259
"""The exit code of a process that has not ended (STILL_ACTIVE)."""


class _Counters(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("faults", ctypes.c_uint32),
        ("peak", ctypes.c_size_t),
        ("now", ctypes.c_size_t),
        ("others", ctypes.c_size_t * 6),
    )


class _Machine(ctypes.Structure):
    """MEMORYSTATUSEX."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("memory", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 6),
    )


def machine_memory() -> int | None:
    """The bytes of memory of this machine."""
    about = _Machine(size=ctypes.sizeof(_Machine))
    return int(about.memory) if _kernel().GlobalMemoryStatusEx(ctypes.byref(about)) else None


def peak_memory() -> int:
    """The most bytes that this process has held; 0 if nobody says."""
    kernel = _kernel()
    return int(_counters(kernel, kernel.GetCurrentProcess()).peak)


def memory_of(pid: int) -> int:
    """The bytes that a process holds; 0 if there is no such process."""
    kernel = _kernel()
    handle = kernel.OpenProcess(_ASK, False, pid)
    if not handle:
        return 0
    try:
        return int(_counters(kernel, handle).now)
    finally:
        kernel.CloseHandle(handle)


def process_began(pid: int) -> str:
    """When a process began, by the system's own count; an empty string if it has ended."""
    kernel = _kernel()
    handle = kernel.OpenProcess(_ASK, False, pid)
    if not handle:
        return ""
    try:
        code, times = ctypes.c_uint32(), [ctypes.c_uint64() for _ in range(4)]
        kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        kernel.GetProcessTimes(handle, *map(ctypes.byref, times))
        return str(times[0].value) if code.value == _RUNNING else ""
    finally:
        kernel.CloseHandle(handle)


def _counters(kernel: Any, handle: Any) -> _Counters:
    found = _Counters(size=ctypes.sizeof(_Counters))
    kernel.K32GetProcessMemoryInfo(handle, ctypes.byref(found), found.size)
    return found


def _kernel() -> Any:
    """With handles as wide as pointers, which they are not unless said."""
    library: Any = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    library.OpenProcess.restype = library.GetCurrentProcess.restype = ctypes.c_void_p
    for name in ("K32GetProcessMemoryInfo", "GetExitCodeProcess", "GetProcessTimes", "CloseHandle"):
        others = {"K32GetProcessMemoryInfo": 2, "GetExitCodeProcess": 1, "GetProcessTimes": 4}
        parameters: list[Any] = [ctypes.c_void_p] * (1 + others.get(name, 0))
        if name == "K32GetProcessMemoryInfo":
            parameters[2] = ctypes.c_uint32
        getattr(library, name).argtypes = parameters
    return library
