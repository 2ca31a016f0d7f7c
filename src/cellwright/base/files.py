"""Files that are whole or not there at all, whatever happens while they are written.

Nothing is written through a link: what lies in a folder may come from somebody else, and a link
in it could lead to any file of the user's. The folder itself may be one, to a larger disk.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

from cellwright.base.errors import FileError, refused
from cellwright.base.regular_files import check_regular

ENDING = ".tmp"
"""Files and folders with a dot before and this behind are being written, or were by a process
that was killed."""

NO_LINK = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
"""Opens no link, waits for nobody at the other end of a pipe, and keeps bytes as they are."""

Data = bytes | Iterable[Any]
"""The contents of a file, or parts of them: anything with bytes in memory."""


def write_whole(path: Path, data: Data, *, lasting: bool = True) -> None:
    """Write a file so that every reader, also after a kill or a power cut, finds the old one or
    the whole new one. A link in its place is replaced, and what it leads to is not touched.

    The temporary file is in the same folder, since a rename is only whole within one file system;
    it is on the disk before the rename is, and the rename before this returns.

    Args:
        path: the file.
        data: its contents.
        lasting: wait for the disk. Without it a power cut may leave nothing, or half of it.

    Raises:
        FileError: it cannot be written. The old file is as it was, and nothing is left behind.
    """
    temporary = temporary_name(path)
    try:
        with _new_file(temporary) as file:
            _write_parts(file, data)
            if lasting:
                sync(file)
        os.replace(temporary, path)
        if lasting:
            sync_folder(path.parent)
    except OSError as error:
        raise refused("write", path, error) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_named(path: Path, data: Data) -> None:
    """Write a file that a user has named: whole; but into a device or a pipe, such as /dev/stdout,
    directly, since nothing may take its place.

    Raises:
        FileError: it cannot be written.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        mode = stat.S_IFREG
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        write_whole(path, data)
        return
    try:
        with open(path, "wb") as file:
            _write_parts(file, data)
    except OSError as error:
        raise refused("write", path, error) from None


def make_inside(path: Path) -> None:
    """Make a folder inside one of ours, if it is not there.

    Raises:
        FileError: it cannot be made, or is a link: what is written into it would be elsewhere.
    """
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise refused("make", path, error) from None
    if path.is_symlink():
        raise FileError(
            f"cannot write into {path}: it is a link to somewhere else; put a folder in its place"
        )


def open_lasting(path: Path, flags: int) -> int:
    """A file of a folder of ours that stays open to be written or locked, made if need be.

    Args:
        path: the file.
        flags: how to open it.

    Raises:
        OSError: it cannot be opened, or is a link or no regular file. The text says which.
    """
    try:
        handle = os.open(path, flags | os.O_CREAT | NO_LINK, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            text = "is a link to somewhere else; remove it"
            raise OSError(error.errno, text, str(path)) from None
        raise
    try:
        check_regular(os.fstat(handle), path)
    except OSError:
        os.close(handle)
        raise
    return handle


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
    """A name under which to write what will be `path`, which nobody else has or can guess."""
    short = os.fsencode(path.name)[:200].decode("utf-8", "ignore")
    return path.with_name(f".{short}.{os.getpid()}-{secrets.token_hex(4)}{ENDING}")


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


def _new_file(path: Path) -> BinaryIO:
    """A file that was not there, to be written."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o666), "wb")


def _write_parts(file: BinaryIO, data: Data) -> None:
    parts: Iterable[Any] = (data,) if isinstance(data, bytes) else data
    for part in parts:
        file.write(part)
