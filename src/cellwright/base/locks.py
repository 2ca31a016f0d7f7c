"""Locks that a kill cannot leave behind: who works in a folder, and one process at a time."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from cellwright.base.errors import FileError, refused
from cellwright.base.file_locks import lock, there_are_locks, wait_for_lock
from cellwright.base.files import NO_LINK, open_lasting
from cellwright.base.progress import Progress

NAME = "lock"
"""The file in a run folder that is locked. It stays there; what counts is the lock on it."""

_LONGEST_NUMBER = 20

_TRIES, _PAUSE = 20, 0.05
"""`is_held` takes the lock for an instant, which must not look like another training."""


@contextlib.contextmanager
def training_lock(folder: Path) -> Iterator[None]:
    """Be the only process that trains in a folder, or fail at once.

    The system lets go of the lock when the process ends, however it ends. Some file systems have
    no locks; there two processes are not kept apart.
    """
    try:
        handle = open_lasting(folder / NAME, os.O_RDWR)
    except OSError as error:
        raise refused("write", folder / NAME, error) from None
    try:
        who = os.read(handle, _LONGEST_NUMBER).decode("ascii", "replace").strip()
        if not _taken(handle, _TRIES):
            raise FileError(
                f"another process{f' (number {who})' if who.isdigit() else ''} is training in "
                f"{folder}; wait for it, or stop it first"
            )
        # The number is only for people: a full disk does not matter, and what is no number is not
        # ours to overwrite, as in a file that has another name elsewhere (a hard link).
        if not who or who.isdigit():
            with contextlib.suppress(OSError):
                os.truncate(handle, 0)
                os.lseek(handle, 0, os.SEEK_SET)
                os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)


def is_held(folder: Path) -> bool:
    """Whether a process is training in a folder right now, as far as locks tell."""
    try:
        handle = os.open(folder / NAME, os.O_RDONLY | NO_LINK)
    except OSError:
        return False
    try:
        return not _taken(handle, 1, shared=True)
    finally:
        os.close(handle)


def is_free(path: Path) -> bool:
    """Whether nobody holds a lock file, which is known only where there are locks."""
    if not there_are_locks():
        return False
    try:
        handle = os.open(path, os.O_RDONLY | NO_LINK)
    except OSError:
        return False
    try:
        lock(handle, shared=True)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _taken(handle: int, tries: int, shared: bool = False) -> bool:
    """Whether this process has the lock now; a file system without locks gives it to anybody."""
    for left in reversed(range(tries)):
        try:
            lock(handle, shared=shared)
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
    handle = open_lasting(path, os.O_WRONLY)
    try:
        yield _wait_for(handle, progress)
    finally:
        os.close(handle)


def _wait_for(file: int, progress: Progress | None) -> bool:
    if not there_are_locks():
        return False
    try:
        lock(file)
    except BlockingIOError:
        if progress is not None:
            progress("waiting for another process", 0, 0)
        wait_for_lock(file)
    except OSError:
        return False
    return True
