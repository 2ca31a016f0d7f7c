"""Reading files that are what they should be: regular ones, of a size that fits.

A folder may come from somebody else, or from a damaged disk. A named pipe in the place of a file
would be waited for, a device such as /dev/zero never ends. Whatever is read from a folder is read
here. A link to a regular file is fine: large files may be on another disk.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

from cellwright.base.amounts import memory
from cellwright.base.memory import machine_memory

MOST_TEXT = 64 * 2**20
"""The largest file, unless said, that is read whole: descriptions, figures, cells."""

_QUICK = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file, to be read.

    Raises:
        OSError: there is none, or what is there is something else. The text says what.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | _QUICK)
    try:
        check_regular(os.fstat(handle), path)
        return open(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def check_regular(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    """Say so if what a status is of is no regular file.

    Raises:
        OSError: it is not.
    """
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory, and should be a file", str(path))
    kind = next((name for test, name in _KINDS if test(mode)), "something else")
    raise OSError(errno.EINVAL, f"is {kind}, and should be a regular file", str(path))


def read_regular(path: str | os.PathLike[str], most: int = MOST_TEXT) -> bytes:
    """What is in a regular file.

    Args:
        path: the file.
        most: the most bytes that it may have.

    Raises:
        OSError: there is none, what is there is something else, or it is larger. The text says
            which, in words that can follow "cannot read FILE:".
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        check_size(size, most, path)
        data = file.read(size + 1)  # a read of `most` would take that much memory at once
        if len(data) > size:
            data += file.read(most + 1 - len(data))
    check_size(len(data), most, path)
    return data


def read_named(path: str | os.PathLike[str], most: int) -> bytes:
    """What is in a file that a user has named, which may be a pipe or a device, such as /dev/stdin.

    A shell's `<(command)` is such a pipe too. A named one, of `mkfifo`, is refused: nobody may ever
    write into it.

    Raises:
        OSError: as `read_regular`, but for devices and for pipes without a name.
    """
    if stat.S_ISFIFO(os.lstat(path).st_mode):
        raise OSError(errno.EINVAL, "is a named pipe, and should be a regular file", str(path))
    with open(path, "rb") as file:
        data = file.read(most + 1)
    check_size(len(data), most, path)
    return data


def check_size(size: int, most: int, path: str | os.PathLike[str]) -> None:
    """Say so if a file is larger than it may be.

    Raises:
        OSError: it is.
    """
    if size > most:
        text = f"is larger than {memory(most)}, which no such file is"
        raise OSError(errno.EFBIG, text, str(path))


def check_mapped(path: str | os.PathLike[str]) -> None:
    """Say so if a file is not one that a library can map into memory and copy from there.

    Raises:
        OSError: there is none, it is not regular, or it is larger than this machine's memory.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
    there = machine_memory()
    if there is not None and size > there:
        text = f"has {memory(size)}, and this machine's memory {memory(there)}"
        raise OSError(errno.EFBIG, text, str(path))
