"""Token files: found whole and up to date, or made anew.

The token files of a corpus are a folder that appears whole: it is written under a temporary name,
synced, and renamed. Whatever is found later is checked against `corpus.json`: version, sizes,
checksums, and whether the text has changed since.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import FileError, reason
from cellwright.base.files import remove, write_whole
from cellwright.base.half_made import sweep_abandoned, whole_folder
from cellwright.base.locks import exclusive
from cellwright.base.progress import Progress
from cellwright.base.regular_files import open_regular, read_regular
from cellwright.data import places
from cellwright.data.errors import DataError
from cellwright.data.prepare import DTYPE, Metadata, Read, prepare, sampled_checksum
from cellwright.data.sources import PARTS, Source, Text

_MOST_VOCABULARY = 2**30

_RACY_NS = 2 * 10**9
"""A file that was written this shortly before it was read may have been written again since,
without a change of its time: file systems count time in steps."""


@dataclass(frozen=True)
class Entry:
    """Token files that passed every check; `why` says why they had to be made, if they had."""

    folder: Path
    metadata: Metadata
    tokens: Mapping[str, NDArray[np.int32]]
    vocabulary: bytes
    why: str | None = None


_Found = TypeVar("_Found")
_Read = TypeVar("_Read", bound=Read)


class StaleError(Exception):
    """These token files cannot be used; the message says why."""


def peek(source: Source) -> Entry | None:
    """The token files of a corpus if they are there and good."""
    sweep_leftovers()
    try:
        return _check(_folder(source), source)
    except StaleError:
        return None


def fetch(source: Source, progress: Progress | None = None) -> Entry:
    """The token files of a corpus, made if need be."""
    folder = _folder(source)
    entry, why = made_once(
        folder,
        source.name,
        lambda: _check(folder, source),
        lambda new: prepare(source, new, progress),
        progress,
    )
    return replace(entry, why=why)


def made_once(
    folder: Path,
    name: str,
    check: Callable[[], _Found],
    make: Callable[[Path], None],
    progress: Progress | None = None,
) -> tuple[_Found, str | None]:
    """What is kept in a folder, made if need be, and why it had to be, if it had.

    Args:
        folder: where it is kept.
        name: of the data, for messages.
        check: gives what is there, or raises a `StaleError`.
        make: fills a new folder, which then takes the other's place.
        progress: told that another process is being waited for.
    """
    sweep_leftovers()
    with contextlib.suppress(StaleError):
        return check(), None
    parent = folder.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with exclusive(parent / f"{folder.name}.lock", progress) as alone:
            try:
                return check(), None  # another process has made it while we waited
            except StaleError as stale:
                why = str(stale)
            if alone:
                _sweep(folder)
            with whole_folder(folder) as new:
                make(new)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = (
            "make room, or set CELLWRIGHT_CACHE to another folder"
            if full
            else ("set CELLWRIGHT_CACHE to a folder that can be written to")
        )
        raise DataError(
            f"cannot keep the tokens of {name} in {parent}: {reason(error)}; {what}"
        ) from None
    try:
        return check(), why
    except StaleError as stale:
        raise DataError(f"{folder}: {stale} right after it was written; try again") from None


def sweep_leftovers() -> None:
    """Remove what processes that were killed have left of other corpora: it may be gigabytes."""
    for place in (places.tokens_folder(), places.corpora_folder()):
        sweep_abandoned(place)


def _folder(source: Source) -> Path:
    return places.tokens_folder() / source.key


def _sweep(folder: Path) -> None:
    """Remove what a process left that was killed while it wrote."""
    for leftover in folder.parent.glob(f".{folder.name}.*"):
        remove(leftover)


def _check(folder: Path, source: Source) -> Entry:
    try:
        metadata = Metadata.from_json(read_regular(folder / "corpus.json"))
        vocabulary = read_regular(folder / "vocabulary.tsv", _MOST_VOCABULARY)
        tokens = {part: mapped(folder / f"{part}.bin") for part in PARTS}
    except FileNotFoundError as error:
        there = folder.exists()
        raise StaleError(f"{error.filename} is missing" if there else "not prepared yet") from None
    except OSError as error:
        raise StaleError(f"{error.filename}: {reason(error)}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise StaleError("made by another version, or damaged") from None
    if hashlib.sha256(vocabulary).hexdigest() != metadata.vocabulary_sha256:
        raise StaleError("vocabulary.tsv is damaged")
    for part, ids in tokens.items():
        kept = metadata.parts[part]
        found = checksum_of(ids)
        if len(ids) != kept.tokens or found != kept.checksum:
            raise StaleError(f"{part}.bin is damaged")
    return Entry(folder, _check_texts(folder, metadata, source), tokens, vocabulary)


def _check_texts(folder: Path, metadata: Metadata, source: Source) -> Metadata:
    parts = still_read(source.texts, metadata.parts)
    if parts == metadata.parts:
        return metadata
    renewed = replace(metadata, parts=parts)
    with contextlib.suppress(FileError):  # else the hashes are taken again next time
        write_whole(folder / "corpus.json", renewed.to_json())
    return renewed


def still_read(texts: Mapping[str, Text], kept: Mapping[str, _Read]) -> dict[str, _Read]:
    """Are the texts still those that were read? Cheap while size and time stand; else by hash.

    Returns what is to be kept about them now.

    Raises:
        StaleError: one has changed.
    """
    parts = dict(kept)
    for part, text in texts.items():
        known = parts[part]
        try:
            stamp = text.stamp()
            if stamp.size != known.size:
                raise StaleError(f"{text.label} has changed")
            if stamp.mtime_ns == known.mtime_ns < known.checked_ns - _RACY_NS:
                continue
            now = time.time_ns()
            if _sha256(text) != known.sha256:
                raise StaleError(f"{text.label} has changed")
        except OSError as error:
            raise DataError(f"{text.label}: {reason(error)}") from None
        parts[part] = replace(known, mtime_ns=stamp.mtime_ns, checked_ns=now)
    return parts


def mapped(path: Path, dtype: np.dtype[Any] = DTYPE) -> NDArray[Any]:
    """A file of numbers, mapped into memory.

    Raises:
        StaleError: it has none, or a part of one.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
    if size == 0 or size % dtype.itemsize:
        raise StaleError(f"{path.name} is damaged")
    return np.memmap(path, dtype=dtype, mode="r")


def checksum_of(numbers: NDArray[Any]) -> str:
    """The sampled checksum of an array."""
    data = numbers.view(np.uint8)
    return sampled_checksum(lambda at, size: data[at : at + size].tobytes(), numbers.nbytes)


def _sha256(text: Text) -> str:
    digest = hashlib.sha256()
    with text.open() as stream:
        while block := stream.read(2**20):
            digest.update(block)
    return digest.hexdigest()
