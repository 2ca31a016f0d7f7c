"""Locks that a kill cannot leave behind: who works in a folder, and one process at a time."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from cellwright.base.errors import FileError, refused
from cellwright.base.progress import Progress

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NAME = "lock"
"""The file in a run folder that is locked. It stays there; what counts is the lock on it."""

_TRIES, _PAUSE = 20, 0.05
"""`is_held` takes the lock for an instant, which must not look like another training."""


@contextlib.contextmanager
def training_lock(folder: Path) -> Iterator[None]:
    """Be the only process that trains in a folder, or fail at once.

    The system lets go of the lock when the process ends, however it ends. Some file systems have
    no locks; there two processes are not kept apart.
    """
    try:
        handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise refused("write", folder / NAME, error) from None
    try:
        if not _taken(handle, _TRIES):
            who = os.read(handle, 20).decode("ascii", "replace").strip()
            raise FileError(
                f"another process{f' (number {who})' if who.isdigit() else ''} is training in "
                f"{folder}; wait for it, or stop it first"
            )
        with contextlib.suppress(OSError):  # a full disk: the number is only for people
            os.truncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)


def is_held(folder: Path) -> bool:
    """Whether a process is training in a folder right now, as far as locks tell."""
    try:
        with open(folder / NAME, "rb") as file:
            return not _taken(file.fileno(), 1, shared=True)
    except OSError:
        return False


def _taken(handle: int, tries: int, shared: bool = False) -> bool:
    """Whether this process has the lock now; a file system without locks gives it to anybody."""
    if fcntl is None:
        return True
    for left in reversed(range(tries)):
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            if left:
                time.sleep(_PAUSE)
        except OSError:
            return True
        else:
            return True
    return False


@contextlib.contextmanager
def exclusive(path: Path, progress: Progress | None = None) -> Iterator[bool]:
    """Hold a lock file; the system lets go of it when the process ends, however it ends.

    Yields whether it is held: some file systems have no locks. What it guards is safe
    without it too (unique temporary names, then one rename): two processes then do the same work
    twice, and the last one's result stays.
    """
    with open(path, "ab") as file:
        yield _wait_for(file, progress)


def _wait_for(file: IO[bytes], progress: Progress | None) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if progress is not None:
            progress("waiting for another process", 0, 0)
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        return False
    return True
