"""A stream whose beginning can be read again: what a pipe holds is found out by looking at it."""

from __future__ import annotations

import io
from typing import Any, BinaryIO, cast

from cellwright.data.errors import DataError
from cellwright.data.sources import Stamp, Text

KEPT_BYTES = 2**23
"""How much of the beginning is kept. More is not looked at to find out what a stream holds."""


def replayed(stream: BinaryIO, label: str) -> Text:
    """A stream as a text that can be opened again as long as little of it has been read.

    Bytes are given as they come, so that a line can be answered before the next one is there.

    Args:
        stream: that nobody else reads.
        label: what it is, for messages.
    """
    beginning = _Beginning(stream, label)
    return Text(label, lambda: cast(BinaryIO, _Reader(beginning)), lambda: Stamp(0, 0))


class _Beginning:
    """What has been read of a stream, as long as that is little."""

    def __init__(self, stream: Any, label: str) -> None:
        self.stream, self.label = stream, label
        self.kept: bytes | None = b""

    def more(self, most: int) -> bytes:
        """What comes next; kept, if there is room."""
        found: bytes = self.stream.read1(most)
        if self.kept is not None:
            whole = len(self.kept) + len(found) <= KEPT_BYTES
            self.kept = self.kept + found if whole else None
        return found


class _Reader(io.RawIOBase):
    """Reads a stream from its start."""

    def __init__(self, beginning: _Beginning) -> None:
        if beginning.kept is None:
            raise DataError(f"{beginning.label} has nothing but empty lines at its beginning")
        self._beginning, self._at = beginning, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        kept = self._beginning.kept
        if kept is not None and self._at < len(kept):
            found = kept[self._at : self._at + len(buffer)]
        else:
            found = self._beginning.more(len(buffer))
        self._at += len(found)
        buffer[: len(found)] = found
        return len(found)
