"""What commands read item by item, of any size, and write as it comes: `tag` and `predict`."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, TypeVar

import typer

from cellwright.base.errors import FileError, refused
from cellwright.base.files import write_named
from cellwright.cli.output import encoded, harmless, printable, say, stderr, stdout
from cellwright.cli.work_bar import work_bar

if TYPE_CHECKING:
    from cellwright.base.progress import Progress

Item = TypeVar("Item")

Out = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write into this file.")
]


@dataclass(frozen=True)
class ItemStream:
    """A file that is read, and where what is made of its items goes.

    Args:
        stream: its bytes.
        file: its name; - is standard input.
        out: the file that is written; None for standard output.
    """

    stream: BinaryIO
    file: str
    out: Path | None

    @property
    def name(self) -> str:
        """What is read, for messages."""
        return "standard input" if self.file == "-" else self.file

    @property
    def typed(self) -> bool:
        """Whether somebody types it, and waits for an answer to each line."""
        return self.stream.isatty()

    @property
    def window(self) -> int | None:
        """Items that are read before the first is answered; None for many."""
        return 1 if self.typed else None

    @property
    def printed(self) -> bool:
        """Whether results go to a terminal."""
        return self.out is None and sys.stdout.isatty()

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Show how far work is; where a bar would be in the way of results, lines at most."""
        if self.typed or self.printed:
            yield _notes()
        else:
            with work_bar(of_bytes=self._size is not None) as tell:
                yield tell

    def told(self, items: Iterable[Item], doing: str, tell: Progress) -> Iterator[Item]:
        """The items; `tell` is told how far they are, unless they are on the screen."""
        if self.typed or self.printed:
            yield from items
            return
        size = self._size
        for number, item in enumerate(items, 1):
            yield item
            if size is not None:
                tell(f"{doing} {self.file}", self.stream.tell(), size)
            else:
                tell(doing, number, 0)

    def write(self, texts: Iterable[str]) -> None:
        """Write texts as they come; into a file all of them, or none."""
        if self.out is not None:
            write_named(self.out, (encoded(text) for text in texts))
            return
        printed, typed = self.printed, self.typed
        for text in texts:
            sys.stdout.buffer.write(encoded(harmless(text) if printed else text))
            if typed:
                sys.stdout.flush()
        sys.stdout.flush()

    def refused(self, error: OSError) -> FileError:
        """The error if it cannot be read on."""
        return refused("read", Path(self.name), error)

    @property
    def _size(self) -> int | None:
        """Of a file; None of a pipe, or a terminal."""
        try:
            status = os.fstat(self.stream.fileno())
        except (OSError, ValueError):
            return None
        return status.st_size if stat.S_ISREG(status.st_mode) else None


@contextmanager
def item_stream(file: str, out: Path | None) -> Iterator[ItemStream]:
    """Open a file that a user has named, or standard input; at the end, name what was written."""
    with _opened(file) as stream:
        yield ItemStream(stream, file, out)
    if out is not None:
        stdout().print(printable(str(out)), soft_wrap=True)


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        if sys.stdin is None:
            raise FileError("standard input is closed")
        yield sys.stdin.buffer
        return
    try:
        stream = open(file, "rb")  # noqa: SIM115
    except OSError as error:
        raise refused("read", Path(file), error) from None
    with stream:
        yield stream


def _notes() -> Progress:
    """Says a line for each long work."""
    told: set[str] = set()

    def tell(what: str, done: int, total: int) -> None:
        if what not in told:
            told.add(what)
            say(f"{what} …", "dim", stderr())

    return tell
