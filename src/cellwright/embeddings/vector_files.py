"""Files of word vectors, as GloVe, word2vec and fastText publish them, read as a stream.

| form | looks like |
|---|---|
| GloVe text | a line for each word: the word and its numbers, between spaces |
| word2vec text, fastText `.vec` | the same, after a line with the number of words and of numbers |
| word2vec binary | that line, then each word, a space, and its numbers as 32-bit floats |

What a file is, is told by its content, and so is whether it is gzipped. Words are bytes here: some
files have words that are no UTF-8. Of two rows with the same word the first one counts, for whoever
reads them in order. A word may have spaces in it (GloVe 840B has some), so numbers are counted from
the right.

Every row has to have the right number of numbers. The numbers themselves are only looked at in rows
that somebody wants: that is what makes reading quick.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import reason, shown
from cellwright.base.progress import Progress
from cellwright.base.regular_files import open_regular
from cellwright.embeddings.errors import EmbeddingError

MOST_ROW_BYTES = 2**20
"""The longest row, of about 80,000 numbers. What has a longer one is no file of vectors."""

MOST_NUMBERS = 50_000
"""The most numbers of a word."""

_BLOCK_BYTES = 2**22
_BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"\s*(\d{1,15})[ \t]+(\d{1,15})\s*")
_NOT_IN_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")

_OTHER_KINDS = (
    (b"PK\x03\x04", "a zip archive: unpack it, and give the file of vectors in it"),
    (b"BZh", "compressed with bzip2: unpack it first"),
    (b"\xfd7zXZ", "compressed with xz: unpack it first"),
    (b"\xba\x16\x4f\x2f", "a fastText model: give the file .vec that belongs to it"),
    (b"\x80", "a pickle, which may run any code and is not read: save the vectors as text"),
    (b"\xff\xfe", "UTF-16 text: save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text: save it as UTF-8"),
)


class Row(NamedTuple):
    """A word and its numbers, not looked at yet, with the number of its line (or, in a binary file,
    of its word)."""

    number: int
    word: bytes
    data: bytes


@dataclass
class VectorFile:
    """An opened file of vectors: the numbers of each word, and its rows."""

    path: Path
    size: int
    binary: bool
    rows: Iterator[Row]

    def values(self, row: Row) -> NDArray[np.float32]:
        """The numbers of a row.

        Raises:
            EmbeddingError: they are no numbers, or not finite.
        """
        if self.binary:
            found = np.frombuffer(row.data, "<f4").astype(np.float32)
        else:
            try:
                with np.errstate(over="ignore"):
                    found = np.array(row.data.split(), dtype=np.bytes_).astype(np.float32)
            except ValueError:
                wrong = next(field for field in row.data.split() if not _is_number(field))
                self.fail(row.number, f"{_quoted(wrong)} is no number")
        if len(found) != self.size:
            self.fail(row.number, f"{len(found)} numbers, where {self.size} belong")
        if not np.isfinite(found).all():
            self.fail(row.number, f"the word {_quoted(row.word)} has a number that is not finite")
        return found

    def fail(self, number: int, what: str) -> NoReturn:
        """Say what is wrong with a row."""
        raise _wrong(self.path, self.binary, number, what)


@contextmanager
def open_vectors(path: Path, progress: Progress | None = None) -> Iterator[VectorFile]:
    """A file of vectors, whose rows can be read once, from the first to the last.

    Raises:
        EmbeddingError: it is not there, is something else, or, while rows are read, is damaged.
    """
    try:
        with open_regular(path) as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
            yield _opened(path, _Blocks(path, stream, raw, progress))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise EmbeddingError(
            f"{path}: the gzip file is damaged or cut off ({error}); fetch it again"
        ) from None
    except OSError as error:
        raise EmbeddingError(f"{path}: {reason(error)}") from None


class _Blocks:
    """The bytes of a file, a block at a time."""

    def __init__(
        self, path: Path, stream: BinaryIO, raw: BinaryIO, progress: Progress | None
    ) -> None:
        self.stream, self.raw, self.progress = stream, raw, progress
        self.label = f"reading {path.name}"
        self.total = os.fstat(raw.fileno()).st_size

    def next(self) -> bytes:
        """The next block; empty at the end."""
        block = self.stream.read(_BLOCK_BYTES)
        if self.progress is not None:
            self.progress(self.label, self.raw.tell(), self.total)
        return block


def _opened(path: Path, blocks: _Blocks) -> VectorFile:
    start = blocks.next()
    for magic, what in _OTHER_KINDS:
        if start.startswith(magic):
            raise EmbeddingError(f"{path}: is {what}")
    start = start.removeprefix(_BOM)
    if not start.strip():
        raise EmbeddingError(
            f"{path}: is empty; it should have a word and its numbers in each line"
        )
    first, _, rest = start.partition(b"\n")
    header = _HEADER.fullmatch(first[:100])
    if header is None:
        if _NOT_IN_TEXT.search(start[:MOST_ROW_BYTES]):
            raise EmbeddingError(
                f"{path}: is no text, and no binary file of word2vec either, which begins with a "
                "line that has the number of words and of numbers"
            )
        size = _size_of_first(path, first)
        rows = _text_rows(path, start, blocks, size, 0)
        return VectorFile(path, size, False, rows)
    count, size = int(header[1]), int(header[2])
    if not 1 <= size <= MOST_NUMBERS:
        raise _wrong(path, False, 1, f"says {size:,} numbers for each word; 1 to {MOST_NUMBERS:,}")
    binary = _looks_binary(rest, size)
    rows = (
        _binary_rows(path, rest, blocks, size) if binary
        else _text_rows(path, rest, blocks, size, 1)
    )  # fmt: skip
    return VectorFile(path, size, binary, _counted(path, rows, count))


def _size_of_first(path: Path, line: bytes) -> int:
    fields = line.split()
    if len(fields) < 2:
        raise _wrong(path, False, 1, "a word and its numbers should be here, between spaces")
    if len(fields) - 1 > MOST_NUMBERS:
        raise _wrong(path, False, 1, f"more than {MOST_NUMBERS:,} numbers")
    for field in fields[1:]:
        if not _is_number(field):
            raise _wrong(path, False, 1, f"{_quoted(field)} is no number; vectors are words, each "
                         "with its numbers, between spaces")  # fmt: skip
    return len(fields) - 1


def _looks_binary(start: bytes, size: int) -> bool:
    line = start[:MOST_ROW_BYTES].partition(b"\n")[0]
    fields = line.split()[1:]
    if len(fields) >= size and all(map(_is_number, fields[-size:])):
        return False
    return _NOT_IN_TEXT.search(start[: 64 + 8 * size]) is not None or not _is_utf8(line)


def _text_rows(path: Path, start: bytes, blocks: _Blocks, size: int, number: int) -> Iterator[Row]:
    """Rows of text, after `number` lines that were read before."""
    belong = f"where {size} belong" + (", as line 1 says" if number else "")
    tabs = b"\t" in start.partition(b"\n")[0]
    kept, block = b"", start
    while block or kept:
        lines = (kept + (block or b"\n")).split(b"\n")  # the last line need not end
        kept = lines.pop()
        for line in lines:
            number += 1
            line = line.rstrip(b" \r\t")
            if tabs:
                line = line.replace(b"\t", b" ")
            if line.count(b" ") == size:
                word, _, data = line.partition(b" ")
            elif line:
                word, data, numbers = _odd_row(line, size)
                if numbers != size:
                    raise _wrong(path, False, number, f"{numbers} numbers, {belong}")
            else:
                continue
            yield Row(number, word, data)
        if len(kept) > MOST_ROW_BYTES:
            what = f"more than {MOST_ROW_BYTES:,} bytes; a word and its numbers should be a line"
            raise _wrong(path, False, number + 1, what)
        block = blocks.next()


def _odd_row(line: bytes, size: int) -> tuple[bytes, bytes, int]:
    """The word, the numbers, and how many they are, of a row with more or fewer spaces than that:
    its word has spaces, there are two between numbers, or the numbers are too few or too many."""
    fields = line.split(b" ")
    if len(fields) <= size or not all(fields[-size:]):
        fields = line.split()
        return fields[0], b" ".join(fields[1:]), len(fields) - 1
    more = len(fields) > size + 1 and _is_number(fields[-size - 1])
    count = sum(map(_is_number, fields[1:])) if more else size
    return b" ".join(fields[:-size]), b" ".join(fields[-size:]), count


def _binary_rows(path: Path, start: bytes, blocks: _Blocks, size: int) -> Iterator[Row]:
    """Rows of a binary file. Some writers end each with a line feed, others do not."""
    data, at, number, width = start, 0, 0, 4 * size
    while True:
        space = data.find(b" ", at)
        end = space + 1 + width
        if space < 0 or end > len(data):
            block = blocks.next()
            if block:
                data, at = data[at:] + block, 0
                if len(data) > _BLOCK_BYTES + width + MOST_ROW_BYTES:
                    raise _wrong(path, True, number + 1, "has no end; the file is damaged")
                continue
            if data[at:].strip(b"\n"):
                raise _wrong(path, True, number + 1, "is cut off; the file is damaged")
            return
        number += 1
        word = data[at:space].lstrip(b"\n")
        if len(word) > 2**16:
            raise _wrong(path, True, number, "has no end; the file is damaged")
        yield Row(number, word, data[space + 1 : end])
        at = end


def _counted(path: Path, rows: Iterator[Row], count: int) -> Iterator[Row]:
    """Rows, which have to be as many as the first line says."""
    found = 0
    for row in rows:
        found += 1
        if found > count:
            break
        yield row
    if found != count:
        many = f"more than {count:,}" if found > count else f"{found:,}"
        raise EmbeddingError(
            f"{path}: line 1 says {count:,} words, and there are {many}: it is cut off or damaged"
        )


def _wrong(path: Path, binary: bool, number: int, what: str) -> EmbeddingError:
    return EmbeddingError(f"{path}: {'word' if binary else 'line'} {number:,}: {what}")


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _quoted(data: bytes) -> str:
    return shown(data.decode("utf-8", "replace"))
