"""A lock on an open file, which the system lets go of when the process ends: by `flock`, or where
there is none by what Windows has."""

from __future__ import annotations

import os
import time

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:  # all others
    msvcrt = None  # type: ignore[assignment]

_FAR = 2**30
"""Windows locks a part of a file, which nobody may read then: one far behind what is in there."""

_PAUSE = 0.2


def there_are_locks() -> bool:
    """Whether this system has locks; some of its file systems may still have none."""
    return fcntl is not None or msvcrt is not None


def lock(handle: int, *, shared: bool = False) -> None:
    """Take the lock of a file, or fail at once. Windows has no shared ones.

    Raises:
        BlockingIOError: another process has it.
        OSError: the file system has none.
    """
    if fcntl is not None:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    elif msvcrt is not None:
        before = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            _lock_byte(handle)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from None
        finally:
            os.lseek(handle, before, os.SEEK_SET)


def wait_for_lock(handle: int) -> None:
    """Take the lock of a file, once the process that has it lets go of it."""
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX)
        return
    while True:
        try:
            lock(handle)
            return
        except BlockingIOError:
            time.sleep(_PAUSE)


def _lock_byte(handle: int) -> None:
    assert msvcrt is not None
    msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
