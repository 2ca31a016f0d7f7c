"""Members of zip files, read in memory and never unpacked to disk.

Every size is bounded, since archives may be made to explode. Errors do not name the file: whoever
reads several knows what to call each.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from typing import IO, NamedTuple

from cellwright.base.errors import FileError

STARTS = (b"PK\x03\x04", b"PK\x05\x06")
"""What zip files begin with."""


class Bounds(NamedTuple):
    """The most that is read: bytes of one member, bytes of all members, members."""

    member: int
    together: int
    members: int


def open_zip(stream: IO[bytes]) -> zipfile.ZipFile:
    """A zip file, to be closed.

    Raises:
        FileError: it is none, or is damaged.
    """
    try:
        return zipfile.ZipFile(stream)
    except Exception as error:  # zipfile meets damage with exceptions of many kinds
        raise FileError(f"not a readable zip file ({error})") from None


def visible_members(
    archive: zipfile.ZipFile, endings: Sequence[str], bounds: Bounds
) -> list[zipfile.ZipInfo]:
    """Its files with one of these endings that are not hidden, in the order that they have.

    Raises:
        FileError: there are none, or they are too large.
    """
    found = [info for info in archive.infolist() if _is_visible(info, endings)]
    if not found:
        raise FileError(f"the zip file has no {one_of(*endings)} files")
    if len(found) > bounds.members:
        raise FileError(f"more than {bounds.members:,} files")
    if sum(info.file_size for info in found) > bounds.together:
        raise FileError(f"the zip file unpacks to more than {size_shown(bounds.together)}")
    return found


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, bounds: Bounds) -> bytes:
    """What a member holds.

    Raises:
        FileError: it is encrypted, damaged or too large.
    """
    if info.flag_bits & 1:
        raise FileError("is encrypted; unpack it with its password first")
    try:
        with archive.open(info) as stream:
            return read_bounded(stream, min(bounds.member, info.file_size))
    except FileError as error:
        raise FileError(f"{error}, or than it says") from None
    except Exception as error:  # as above, and each way of packing has its own
        raise FileError(f"the zip file is damaged here ({error})") from None


def read_bounded(stream: IO[bytes], most: int) -> bytes:
    """All that a stream has.

    Raises:
        FileError: it has more than it may.
    """
    data = stream.read(most + 1)
    if len(data) > most:
        raise FileError(f"larger than {size_shown(most)}")
    return data


def points_outside(name: str) -> bool:
    """Whether a member, unpacked under its name, would be outside the folder."""
    parts = name.replace("\\", "/").split("/")
    return not parts[0] or ".." in parts or bool(re.match("[A-Za-z]:", name))


def size_shown(number: int) -> str:
    """Bytes for people.

    >>> size_shown(64 * 2**20)
    '64 MiB'
    """
    return f"{number / 2**20:,.0f} MiB" if number >= 2**20 else f"{number:,} bytes"


def one_of(*words: str) -> str:
    """Words of which one is meant.

    >>> one_of(".json", ".txt", ".log")
    '.json, .txt or .log'
    """
    return " or ".join(", ".join(words).rsplit(", ", 1))


def _is_visible(info: zipfile.ZipInfo, endings: Sequence[str]) -> bool:
    parts = info.filename.split("/")
    hidden = any(part == "__MACOSX" or re.match(r"\.[^.]", part) for part in parts)
    return not info.is_dir() and not hidden and info.filename.lower().endswith(tuple(endings))
