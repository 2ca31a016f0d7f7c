"""Where commands find cells: zoo names, files, folders, zip files, standard input.

An argument becomes documents, and a document becomes cells. Zip files are read in memory and
never unpacked to disk; every size is bounded, since archives may be made to explode.
"""

from __future__ import annotations

import io
import os
import stat
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cellwright.base.errors import FileError
from cellwright.base.regular_files import open_regular
from cellwright.base.zip_files import (
    STARTS,
    Bounds,
    one_of,
    open_zip,
    read_bounded,
    read_member,
    visible_members,
)
from cellwright.cell import Cell, CellError

MOST_BYTES = 64 * 2**20
"""The largest file, or member of a zip file, that is read."""

MOST_ZIP_BYTES = 1024 * 2**20
"""The most that the members of one zip file may come to, as its directory states them."""

MOST_DOCUMENTS = 200_000
"""The most files in one folder or zip file."""

ENDINGS = (".json", ".txt", ".log")
"""Files that are read from folders and zip files; a file named on its own may end otherwise."""


@dataclass(frozen=True)
class Document:
    """A zoo cell, or a text that holds one or more cells."""

    label: str
    zoo_cell: Cell | None = None
    read: Callable[[], bytes] | None = None

    def text(self) -> bytes | None:
        """What the document says, or None for a zoo cell."""
        return None if self.read is None else self.read()

    def cells(self, format: str | None = None) -> list[Cell]:
        """Its cells. An error names the document."""
        from cellwright.cell import formats

        if self.zoo_cell is not None:
            return [self.zoo_cell]
        text = self.text()
        assert text is not None
        try:
            return formats.read(text, format)
        except CellError as error:
            raise CellError(f"{self.label}: {error}") from None


@dataclass(frozen=True)
class Loaded:
    """A cell and where it was found; `label` tells the cells of one document apart."""

    label: str
    cell: Cell

    @property
    def title(self) -> str:
        """What to call the cell in front of people."""
        return self.cell.name or self.label


def load(arguments: Iterable[str], format: str | None = None) -> list[Loaded]:
    """All cells that the arguments name, or the first error."""
    with opened(arguments) as documents:
        return [loaded for document in documents for loaded in cells_of(document, format)]


def cells_of(document: Document, format: str | None = None) -> list[Loaded]:
    """The cells of one document, numbered from 1 where it has several."""
    return numbered(document.label, document.cells(format))


def numbered(label: str, cells: Sequence[Cell]) -> list[Loaded]:
    """The cells under one label, or under one each where there are several."""
    if len(cells) == 1:
        return [Loaded(label, cells[0])]
    return [Loaded(f"{label}#{i}", cell) for i, cell in enumerate(cells, 1)]


@contextmanager
def opened(arguments: Iterable[str]) -> Iterator[list[Document]]:
    """The documents that the arguments name; zip files stay open while they are read."""
    with ExitStack() as stack:
        yield [document for name in arguments for document in _documents(name, stack)]


def _documents(name: str, stack: ExitStack) -> list[Document]:
    from cellwright.cell.zoo import zoo

    if name == "-":
        return _standard_input(stack)
    if name in zoo:
        return [Document(name, zoo_cell=zoo[name])]
    path = Path(name)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if not path.suffix and path.name == name:
            raise CellError(_unknown(name)) from None
        raise
    except ValueError:  # a null character
        raise CellError(f"{name!r} is not a file name") from None
    if stat.S_ISDIR(mode):
        return _folder(path, stack)
    return _file(path, stack)


def _unknown(name: str) -> str:
    from cellwright.cell.zoo import zoo

    try:
        zoo[name]
    except (KeyError, CellError) as error:
        return f"{error.args[0]} (and there is no file of that name)"
    return f"unknown cell {name!r}"


def _standard_input(stack: ExitStack) -> list[Document]:
    if sys.stdin is None:
        raise CellError("standard input is closed")
    data = _bounded(sys.stdin.buffer, "standard input")
    if data.startswith(STARTS):
        return _zip(io.BytesIO(data), "standard input", stack)
    return [Document("standard input", read=lambda: data)]


def _file(path: Path, stack: ExitStack) -> list[Document]:
    label = str(path)
    if not path.is_file():  # a pipe: it can be read only once, and not sought in
        with path.open("rb") as pipe:
            data = _bounded(pipe, label)
        return [Document(label, read=lambda: data)]
    try:
        with open_regular(path) as stream:
            is_zip = stream.read(4) in STARTS
        if is_zip or path.suffix.lower() == ".zip":
            return _zip(stack.enter_context(open_regular(path)), label, stack)
    except (CellError, OSError) as error:
        return [_unreadable(label, error)]

    def read() -> bytes:
        with open_regular(path) as stream:
            return _bounded(stream, label)

    return [Document(label, read=read)]


def _folder(path: Path, stack: ExitStack) -> list[Document]:
    found: list[Document] = []
    for folder, subfolders, names in os.walk(path, onerror=_raise):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            wanted = name.lower().endswith((*ENDINGS, ".zip")) and not name.startswith(".")
            if wanted and file.is_file():
                found += _file(file, stack)
        if len(found) > MOST_DOCUMENTS:
            raise CellError(f"{path}: more than {MOST_DOCUMENTS:,} files")
    if not found:
        raise CellError(f"{path}: the folder has no {one_of(*ENDINGS, '.zip')} files")
    return found


def _zip(stream: IO[bytes], label: str, stack: ExitStack) -> list[Document]:
    bounds = Bounds(MOST_BYTES, MOST_ZIP_BYTES, MOST_DOCUMENTS)
    try:
        archive = stack.enter_context(open_zip(stream))
        members = visible_members(archive, ENDINGS, bounds)
    except FileError as error:
        raise CellError(f"{label}: {error}") from None
    return [_member(archive, info, f"{label}:{info.filename}", bounds) for info in members]


def _member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, label: str, bounds: Bounds
) -> Document:
    def read() -> bytes:
        try:
            return read_member(archive, info, bounds)
        except FileError as error:
            raise CellError(f"{label}: {error}") from None

    return Document(label, read=read)


def _unreadable(label: str, error: CellError | OSError) -> Document:
    """A document that fails when it is its turn, so that a check goes on with the others."""

    def read() -> bytes:
        raise error

    return Document(label, read=read)


def _bounded(stream: IO[bytes], label: str) -> bytes:
    try:
        return read_bounded(stream, MOST_BYTES)
    except FileError as error:
        raise CellError(f"{label}: {error}") from None


def _raise(error: OSError) -> None:
    raise error
