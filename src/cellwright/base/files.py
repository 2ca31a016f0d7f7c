"""Files that are whole or not there at all, whatever happens while they are written."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

from cellwright.base.errors import FileError, refused

ENDING = ".tmp"
"""Files and folders with a dot before and this behind are being written, or were by a process
that was killed."""


def write_whole(path: Path, data: bytes | Iterable[Any]) -> None:
    """Write a file so that every reader, also after a kill or a power cut, finds the old one or
    the whole new one.

    The temporary file is in the same folder, since a rename is only whole within one file system;
    it is on the disk before the rename is, and the rename before this returns.

    Args:
        path: the file.
        data: its contents, or parts of them: anything with bytes in memory.

    Raises:
        FileError: it cannot be written. The old file is as it was, and nothing is left behind.
    """
    temporary = temporary_name(path)
    try:
        with open(temporary, "wb") as file:
            parts: Iterable[Any] = (data,) if isinstance(data, bytes) else data
            for part in parts:
                file.write(part)
            sync(file)
        os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        raise refused("write", path, error) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def move(source: Path, target: Path) -> None:
    """Give a file another name, in place of the file that had it."""
    try:
        os.replace(source, target)
        sync_folder(target.parent)
    except OSError as error:
        raise refused("write", target, error) from None


class Closable(Protocol):
    """What has something left to write at its end."""

    def close(self) -> None:
        """Write it."""


_Writer = TypeVar("_Writer", bound=Closable)


@contextlib.contextmanager
def closed(writer: _Writer) -> Iterator[_Writer]:
    """Close a writer at the end; that this fails counts only if nothing else has failed."""
    try:
        yield writer
    except BaseException:
        with contextlib.suppress(FileError):
            writer.close()
        raise
    writer.close()


def temporary_name(path: Path) -> Path:
    """The name under which this process writes what will be `path`."""
    return path.with_name(f".{path.name[:200]}.{os.getpid()}{ENDING}")


def sweep(folder: Path) -> None:
    """Remove what processes left in a folder that were killed while they wrote.

    The caller holds the folder's lock: nobody else writes into it.
    """
    for leftover in folder.glob(f".*{ENDING}"):
        remove(leftover)


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it, if it is there and can be removed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def sync(file: BinaryIO) -> None:
    """Wait until the disk has what was written to a file."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Wait until the disk has the names in a folder, where the file system can say so."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems
            raise
    finally:
        os.close(handle)
