"""The lines of a file of rows, as bytes, in memory that does not depend on the file's size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from cellwright.base.errors import reason
from cellwright.data.errors import DataError
from cellwright.data.sources import Text

BLOCK_BYTES = 2**20
"""How much is read at once."""


class Row(NamedTuple):
    """What a line holds, for messages, and how many bytes it has at the most."""

    holds: str
    longest: int


WORD = Row("one word and its tags", 2**16)
EXAMPLE = Row("a sentence or two and their label", 2**20)

_BOM = b"\xef\xbb\xbf"


def blocks(
    text: Text,
    update: Callable[[bytes], object],
    row: Row = WORD,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[list[bytes]]:
    """The lines of a text without their ends, some at a time; `update` is given every byte.

    Raises:
        DataError: it cannot be read, or is no text in UTF-8. The message names the line.
    """
    kept, done, first = b"", 0, True
    try:
        with text.open() as stream:
            while block := stream.read(block_bytes):
                update(block)
                if first:
                    _check_utf16(text.label, block)
                    block, first = block.removeprefix(_BOM), False
                data, newline, kept = (kept + block).rpartition(b"\n")
                if newline:
                    lines = _checked(text.label, data, done, row)
                    done += len(lines)
                    yield lines
                if len(kept) > row.longest:
                    _checked(text.label, kept, done, row)
            if kept:
                yield _checked(text.label, kept, done, row)
    except OSError as error:
        raise DataError(f"{text.label}: {reason(error)}") from None


def _checked(label: str, data: bytes, done: int, row: Row) -> list[bytes]:
    """The lines of some whole lines, of which `done` were before."""
    where = f"{label}: line {{:,}}"

    def line(at: int) -> str:
        return where.format(done + data.count(b"\n", 0, at) + 1)

    if b"\0" in data:
        raise DataError(f"{line(data.index(0))} has a NUL byte; this is no text")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{line(error.start)} is not UTF-8 (byte value 0x{data[error.start]:02x}); save the "
            "text as UTF-8"
        ) from None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").removesuffix(b"\r")
        if b"\r" in data:
            raise DataError(
                f"{line(data.index(13))} has a carriage return inside; a line ends with a newline"
            )
    lines = data.split(b"\n")
    if max(map(len, lines)) > row.longest:
        number = next(n for n, each in enumerate(lines) if len(each) > row.longest)
        raise DataError(
            f"{where.format(done + number + 1)} has more than {row.longest:,} bytes; a line has "
            f"{row.holds}"
        )
    return lines


def _check_utf16(label: str, block: bytes) -> None:
    if block[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError(f"{label}: the text is UTF-16; save it as UTF-8")
