"""JSON documents out of files, folders and zip files, one value at a time, every size bounded.

Zip files are read in memory and never unpacked to disk. What is wrong with one document is an
error in its place, so that a whole release is not lost for one bad file.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from cellwright.base.errors import FileError
from cellwright.base.regular_files import open_regular
from cellwright.base.zip_files import (
    STARTS,
    Bounds,
    open_zip,
    points_outside,
    read_bounded,
    read_member,
    visible_members,
)
from cellwright.bench.errors import BenchError

MOST_BYTES = 512 * 2**20
"""The largest file, or member of a zip file, that is read. All of the release's logs in one list
would be a quarter of it."""

MOST_ZIP_BYTES = 4096 * 2**20
"""The most that the members of one zip file may come to."""

MOST_DOCUMENTS = 500_000
"""The most files in one folder or zip file."""

ENDING = ".json"

_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True)
class Document:
    """A JSON value, or why there is none, and where it was found."""

    label: str
    value: Any = None
    error: str | None = None


def documents(paths: Sequence[str | Path]) -> Iterator[Document]:
    """Every JSON value in files, folders and zip files; the elements of a list one by one.

    Raises:
        BenchError: a path is not there, or has no JSON in it at all.
    """
    for path in map(Path, paths):
        try:
            if path.is_dir():
                yield from _folder(path)
            else:
                yield from _file(path, str(path), named=True)
        except OSError as error:
            raise BenchError(f"{path}: {(error.strerror or str(error)).lower()}") from None
        except ValueError as error:  # a null character in the name
            if isinstance(error, BenchError):
                raise
            raise BenchError(f"{str(path)!r} is not a file name") from None


def _folder(folder: Path) -> Iterator[Document]:
    found = 0
    for place, subfolders, names in os.walk(folder, onerror=_raise):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            wanted = name.lower().endswith((ENDING, ".zip")) and not name.startswith(".")
            if not wanted or not path.is_file():
                continue
            found += 1
            if found > MOST_DOCUMENTS:
                raise BenchError(f"{folder}: more than {MOST_DOCUMENTS:,} files")
            try:
                yield from _file(path, str(path))
            except BenchError as error:
                yield Document(str(path), error=str(error).removeprefix(f"{path}: "))
            except OSError as error:
                yield Document(str(path), error=(error.strerror or str(error)).lower())
    if not found:
        raise BenchError(f"{folder}: the folder has no {ENDING} or .zip files")


def _file(path: Path, label: str, named: bool = False) -> Iterator[Document]:
    # What a user names may be a pipe, as <(…) is; what lies in a folder may not.
    with path.open("rb") if named else open_regular(path) as stream:
        start = stream.read(4)
        if start in STARTS or path.suffix.lower() == ".zip":
            yield from _zip(stream, label)
            return
        try:
            data = start + read_bounded(stream, MOST_BYTES)
        except FileError as error:
            raise BenchError(f"{label}: {error}") from None
    yield from _values(label, data)


def _zip(stream: IO[bytes], label: str) -> Iterator[Document]:
    bounds = Bounds(MOST_BYTES, MOST_ZIP_BYTES, MOST_DOCUMENTS)
    try:
        archive = open_zip(stream)
    except FileError as error:
        raise BenchError(f"{label}: {error}") from None
    with archive:
        try:
            members = visible_members(archive, [ENDING], bounds)
        except FileError as error:
            raise BenchError(f"{label}: {error}") from None
        for info in sorted(members, key=lambda info: info.filename):
            yield from _member(archive, info, f"{label}:{info.filename}", bounds)


def _member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, label: str, bounds: Bounds
) -> Iterator[Document]:
    if points_outside(info.filename):
        yield Document(label, error="its name points outside the zip file")
        return
    try:
        data = read_member(archive, info, bounds)
    except FileError as error:
        yield Document(label, error=str(error))
        return
    yield from _values(label, data)


def _values(label: str, data: bytes) -> Iterator[Document]:
    """The JSON value of a text; of a list its elements, parsed as they are asked for.

    So a list of all architectures of a release needs no more memory than its text, and the
    elements before a damaged place are not lost.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield Document(label, error=f"not a text: byte {error.start} is not UTF-8")
        return
    place = _skip(text, 0)
    if text[place : place + 1] != "[":
        found, end = _parsed(label, text, place)
        if found.error is None and _skip(text, end) != len(text):
            found = Document(label, error=_where("not JSON: more text behind its end", text, end))
        yield found
        return
    yield from _elements(label, text, place + 1)


def _elements(label: str, text: str, place: int) -> Iterator[Document]:
    place = _skip(text, place)
    if text[place : place + 1] == "]":
        yield Document(label, error="the list is empty")
        return
    for number in itertools.count(1):
        found, place = _parsed(f"{label}#{number}", text, place)
        yield found
        if found.error is not None:  # nobody knows where the next element would begin
            return
        place = _skip(text, place)
        if text[place : place + 1] == "]":
            return
        if text[place : place + 1] != ",":
            problem = _where("not JSON: the list does not go on with ',' or ']'", text, place)
            yield Document(f"{label}#{number + 1}", error=problem)
            return
        place = _skip(text, place + 1)


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise BenchError("a key stands twice in one object")
    return data


# It takes NaN and Infinity, which Python's json writes for losses.
_DECODER = json.JSONDecoder(object_pairs_hook=_no_repeats)


def _parsed(label: str, text: str, place: int) -> tuple[Document, int]:
    try:
        value, end = _DECODER.raw_decode(text, place)
    except RecursionError:
        return Document(label, error="not JSON that a log has: nested too deeply"), place
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}"
        return Document(label, error=problem), place
    except ValueError as error:  # a key twice, an integer of thousands of digits
        return Document(label, error=f"not JSON: {error}"), place
    return Document(label, value), end


def _where(problem: str, text: str, place: int) -> str:
    line = text.count("\n", 0, place) + 1
    return f"{problem} at line {line}, column {place - text.rfind(chr(10), 0, place)}"


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _raise(error: OSError) -> None:
    raise error
