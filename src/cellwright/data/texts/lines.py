"""The lines of a file of text, in memory that does not depend on the file's size.

Lines end as on any system. A byte-order mark is dropped, a file that ends in `.gz` is unpacked on
the way, and a line without end is cut.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from cellwright.base.errors import reason
from cellwright.base.regular_files import open_regular
from cellwright.data.errors import DataError

BLOCK_BYTES = 2**18
"""How much is read at once."""

LONGEST_LINE = 2**16
"""Characters of the longest line. A longer one is cut at a space and becomes several: some texts
are a single line of 100 MB, and have to be read and split all the same."""

_BOM = "\ufeff"


class NotTextError(Exception):
    """The file has a NUL: it is a program, a picture, an archive."""


class NotDecodedError(DataError):
    """The file is of another encoding. The message says where that shows."""


def check_encoding(name: str) -> str:
    """The encoding's usual name.

    Raises:
        DataError: there is no such encoding of text.
    """
    try:
        with contextlib.suppress(UnicodeError):  # one letter may be half a character
            b"a".decode(name)  # a LookupError for those that are of no text, such as base64
        codecs.getincrementaldecoder(name)
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise DataError(
            f"unknown encoding {name!r}; known are for example utf-8, utf-16, latin-1, cp1252, gbk"
        ) from None


def lines(path: Path, encoding: str, advance: Callable[[int], None]) -> Iterator[list[str]]:
    """The lines of a file that have anything in them, without their ends, a few at a time.

    Args:
        path: the file.
        encoding: of its text.
        advance: called with the number of bytes that were read, as they are on the disk.

    Raises:
        NotTextError: there is a NUL in it.
        NotDecodedError: it is not of this encoding.
        DataError: it cannot be read.
    """
    try:
        with open_regular(path) as file:
            yield from _cut(_texts(path, file, encoding, advance))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: the gzip file is damaged ({error})") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {reason(error)}") from None


def _texts(
    path: Path, file: BinaryIO, encoding: str, advance: Callable[[int], None]
) -> Iterator[str]:
    """Blocks of text with a newline at the ends of lines."""
    decoder = codecs.getincrementaldecoder(encoding)()
    newlines = io.IncrementalNewlineDecoder(None, translate=True)
    wide = encoding.startswith(("utf-16", "utf-32"))
    packed = path.name.lower().endswith(".gz")
    stream = gzip.GzipFile(fileobj=file) if packed else file
    fed = ended = at = 0
    first = True
    while True:
        block = stream.read(BLOCK_BYTES)
        advance(file.tell() - at)
        at = file.tell()
        fed += len(block)
        if first and not wide and block[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise NotDecodedError(f"{path}: the text is UTF-16, it seems; say --encoding utf-16")
        if not wide and b"\0" in block:
            raise NotTextError
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeError as error:
            raise _not_decoded(path, encoding, error, fed, ended) from None
        if "\0" in text:
            raise NotTextError
        if first and text:
            text, first = text.removeprefix(_BOM), False
        text = newlines.decode(text, final=not block)
        ended += text.count("\n")
        if text:
            yield text
        if not block:
            return


def _cut(texts: Iterator[str]) -> Iterator[list[str]]:
    kept = ""
    for text in texts:
        *whole, kept = (kept + text).split("\n")
        found = [piece for line in whole for piece in _pieces(line)]
        if len(kept) > LONGEST_LINE:
            *more, kept = _pieces(kept)
            found += more
        if found := [line for line in found if line and not line.isspace()]:
            yield found
    if kept and not kept.isspace():
        yield list(_pieces(kept))


def _pieces(line: str) -> Iterator[str]:
    """A line that is not too long, as it is; another in pieces."""
    while len(line) > LONGEST_LINE:
        end = 1 + max(line.rfind(space, 0, LONGEST_LINE) for space in " \t")
        end = end or LONGEST_LINE
        yield line[:end]
        line = line[end:]
    yield line


def _not_decoded(
    path: Path, encoding: str, error: UnicodeError, fed: int, ended: int
) -> NotDecodedError:
    change = "--encoding NAME reads another encoding, --skip-bad passes over such files"
    if not isinstance(error, UnicodeDecodeError):
        return NotDecodedError(f"{path}: not {encoding.upper()} ({error}); {change}")
    before = error.object[: error.start].decode(encoding, "replace")
    line = ended + before.count("\n") + 1
    at = fed - len(error.object) + error.start
    return NotDecodedError(
        f"{path}: not {encoding.upper()} at byte {at:,} (line {line:,}, byte value "
        f"0x{error.object[error.start]:02x}); {change}"
    )
