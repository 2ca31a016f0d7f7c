"""Arrays that were computed once: kept in the cache folder, and mapped into memory from there.

A set of arrays is a folder that appears whole: one `.npy` file an array, and `arrays.json` with
their checksums. Its name is a hash of everything that the arrays depend on, so what is found there
is up to date by itself; damage is noticed by the checksums, and the arrays are made anew.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import reason
from cellwright.base.files import sync
from cellwright.base.half_made import sweep_abandoned, whole_folder
from cellwright.base.locks import exclusive
from cellwright.base.progress import Progress
from cellwright.base.regular_files import open_regular, read_regular
from cellwright.data import places
from cellwright.data.prepare import sampled_checksum, write_synced
from cellwright.embeddings.errors import EmbeddingError

FORMAT = "cellwright-arrays/1"
"""Changes when older ones no longer fit; they are then made anew."""

Arrays = dict[str, NDArray[Any]]


def key_of(parts: Iterable[str | bytes]) -> str:
    """A hash of everything that arrays depend on, part by part.

    >>> key_of(["ab", "c"]) == key_of(["a", "bc"])
    False
    """
    digest = hashlib.sha256(FORMAT.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:32]


def file_key(path: Path) -> str:
    """What tells a file from others and from what it was before: size, time, and samples of what
    is in it.

    Raises:
        OSError: it cannot be read.
    """
    with open_regular(path) as file:
        return f"{os.fstat(file.fileno()).st_mtime_ns} {_sampled(file)}"


def is_kept(kind: str, key: str) -> bool:
    """Whether the arrays of a key need not be made."""
    return _found(places.embeddings_folder() / kind / key) is not None


def kept(
    kind: str, key: str, make: Callable[[Path], object], progress: Progress | None = None
) -> Arrays:
    """The arrays of a key, found in the cache folder or made.

    Args:
        kind: what they are; a folder of that name has them.
        key: see `key_of`.
        make: writes them into a folder, each as NAME.npy.
        progress: told when another process is making the same.

    Raises:
        EmbeddingError: they cannot be kept.
    """
    parent = places.embeddings_folder() / kind
    folder = parent / key
    sweep_abandoned(parent)
    found = _found(folder)
    if found is not None:
        return found
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with exclusive(parent / f"{key}.lock", progress):
            found = _found(folder)  # another process may have made them while we waited
            if found is not None:
                return found
            with whole_folder(folder) as new:
                make(new)
                _seal(new)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "make room, or set CELLWRIGHT_CACHE to another folder" if full else (
            "set CELLWRIGHT_CACHE to a folder that can be written to"
        )  # fmt: skip
        raise EmbeddingError(f"cannot keep {kind} in {parent}: {reason(error)}; {what}") from None
    found = _found(folder)
    if found is None:
        raise EmbeddingError(f"{folder}: damaged right after it was written; try again")
    return found


def _seal(folder: Path) -> None:
    checksums = {}
    for path in sorted(folder.glob("*.npy")):
        with open(path, "rb+") as file:
            sync(file)
        checksums[path.stem] = _checksum(path)
    value = {"format": FORMAT, "arrays": checksums}
    write_synced(folder / "arrays.json", json.dumps(value, indent=2).encode() + b"\n")


def _found(folder: Path) -> Arrays | None:
    """Arrays that passed every check, or None."""
    try:
        value = json.loads(read_regular(folder / "arrays.json"))
        if value["format"] != FORMAT:
            return None
        arrays = {}
        for name, checksum in value["arrays"].items():
            path = folder / f"{Path(name).name}.npy"
            if _checksum(path) != checksum:
                return None
            arrays[name] = np.load(path, mmap_mode="r", allow_pickle=False)
        return arrays
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _checksum(path: Path) -> str:
    with open_regular(path) as file:
        return _sampled(file)


def _sampled(file: BinaryIO) -> str:
    """A checksum of a file's size and of samples of it."""

    def read(at: int, size: int) -> bytes:
        file.seek(at)
        return file.read(size)

    return sampled_checksum(read, os.fstat(file.fileno()).st_size)
