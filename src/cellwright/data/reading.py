"""A text as words, a piece at a time, in memory that does not depend on lines or files.

Words are what is between white space, as Python's `str.split` sees it; every line, empty ones
included, ends with one `<eos>`. That is the convention of the papers: it gives the published
counts of Penn Treebank and WikiText. Carriage returns are white space, so Windows' line ends make
no difference, and a byte-order mark at the start is skipped. An `<eos>` that is written out in the
text is the same word as a line's end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from cellwright.base.errors import reason
from cellwright.data.errors import DataError
from cellwright.data.sources import Text
from cellwright.data.vocabulary import EOS

CHUNK_BYTES = 4 * 2**20
"""How much is read at once."""

MOST_WORD_BYTES = 2**16
"""The longest word. Longer ones are a sign that the text is not separated by spaces."""

_BOM = b"\xef\xbb\xbf"
_SPACES = (b" ", b"\n", b"\t", b"\r")


class Piece(NamedTuple):
    """Some words of a text, and the number of lines that end in it."""

    words: list[str]
    lines: int


def pieces(
    text: Text,
    update: Callable[[bytes], object] = lambda block: None,
    chunk_bytes: int = CHUNK_BYTES,
) -> Iterator[Piece]:
    """Read a text from start to end; `update` is given every byte of it, as for a checksum."""
    try:
        with text.open() as stream:
            reader = _Reader(text.label)
            while block := stream.read(chunk_bytes):
                update(block)
                yield reader.piece(block)
            yield reader.rest()
    except OSError as error:
        raise DataError(f"{text.label}: {reason(error)}") from None


class _Reader:
    """Cuts blocks where a word ends and keeps what is left for the next."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.kept = b""
        self.offset = 0  # of `kept`, in the file
        self.lines = 0
        self.inside_line = False

    def piece(self, block: bytes) -> Piece:
        data = self.kept + block
        if self.offset == 0 and data.startswith(_BOM):
            data = data[len(_BOM) :]
            self.offset = len(_BOM)
        end = 1 + max(data.rfind(space) for space in _SPACES)
        self.kept = data[end:]
        if len(self.kept) > MOST_WORD_BYTES:
            raise self._too_long(data)
        found = self._read(data[:end])
        self.offset += end
        return found

    def rest(self) -> Piece:
        if not self.kept and not self.inside_line:
            return Piece([], 0)
        return self._read(self.kept + b"\n")

    def _read(self, data: bytes) -> Piece:
        if not data:
            return Piece([], 0)
        self._check_words(data)
        try:
            words = data.decode("utf-8").replace("\n", f" {EOS} ").split()
        except UnicodeDecodeError as error:
            raise self._not_utf8(data, error) from None
        lines = data.count(b"\n")
        self.lines += lines
        self.inside_line = not data.endswith(b"\n")
        return Piece(words, lines)

    def _check_words(self, data: bytes) -> None:
        # A word beyond the limit fills at least one of these windows, and nearly always a
        # window's first few bytes show that there is none.
        window = MOST_WORD_BYTES // 2
        for start in range(0, len(data), window):
            part = data[start : start + window]
            if b" " not in part and b"\n" not in part and len(part) == window:
                if max(map(len, data.split()), default=0) > MOST_WORD_BYTES:
                    raise self._too_long(data)
                return

    def _too_long(self, data: bytes) -> DataError:
        line = self.lines + 1
        for row in data.split(b"\n"):
            if max(map(len, row.split()), default=0) > MOST_WORD_BYTES:
                break
            line += 1
        return DataError(
            f"{self.label}: line {line:,} has a word of more than {MOST_WORD_BYTES:,} bytes; "
            "words have to be separated by spaces"
        )

    def _not_utf8(self, data: bytes, error: UnicodeDecodeError) -> DataError:
        if self.offset == 0 and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return DataError(f"{self.label}: the text is UTF-16; save it as UTF-8")
        line = self.lines + data.count(b"\n", 0, error.start) + 1
        return DataError(
            f"{self.label}: not UTF-8 at byte {self.offset + error.start:,} (line {line:,}, byte "
            f"value 0x{data[error.start]:02x}); save the text as UTF-8"
        )
