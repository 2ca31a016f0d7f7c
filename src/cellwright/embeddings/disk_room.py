"""Whether there is room on the disk for what is to be kept, which is asked before it is computed.

`CELLWRIGHT_CACHE_LIMIT`, such as `20GB`, bounds what all embeddings keep together. With or without
it, a part of the disk stays free.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from cellwright.base.amounts import memory
from cellwright.base.errors import shown
from cellwright.data import places
from cellwright.embeddings.errors import EmbeddingError

LIMIT = "CELLWRIGHT_CACHE_LIMIT"

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}

_STAYS_FREE, _SHARE = 10**9, 20
"""So many bytes stay free, or one part of so many of a small disk."""


def check_room(needed: int, half: bool = False) -> None:
    """Say so if features would take more of the disk than they may.

    Args:
        needed: bytes that are to be written.
        half: whether all of them are in half precision already.

    Raises:
        EmbeddingError: there is too little room. The message has the numbers, and what to do.
    """
    if not needed:
        return
    folder = places.embeddings_folder()
    less = "" if half else ", or keep them in half precision (half = true)"
    begin = f"features of {memory(needed)} are not computed, for they could not be kept in {folder}"
    limit = cache_limit()
    if limit is not None and (there := _taken(folder)) + needed > limit:
        raise EmbeddingError(
            f"{begin}: {memory(there)} are there, and {LIMIT} is {memory(limit)}; remove what is "
            f"not needed from there or raise the limit{less}"
        )
    disk = shutil.disk_usage(_nearest(folder))
    margin = min(_STAYS_FREE, disk.total // _SHARE)
    if needed + margin > disk.free:
        raise EmbeddingError(
            f"{begin}: {memory(disk.free)} of the disk are free, of which {memory(margin)} are "
            f"to stay so; make room or set CELLWRIGHT_CACHE to a folder on another disk{less}"
        )


def cache_limit() -> int | None:
    """The bytes that `CELLWRIGHT_CACHE_LIMIT` allows; None if it is not set.

    Raises:
        EmbeddingError: it is no amount.
    """
    text = os.environ.get(LIMIT, "").strip()
    if not text:
        return None
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise EmbeddingError(f"{LIMIT} should be an amount such as 20GB, not {shown(text)}")
    return int(float(found[1]) * _UNITS[found[2].lower()])


def _taken(folder: Path) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_size
            except OSError:  # another process has just removed it
                continue
    return total


def _nearest(folder: Path) -> Path:
    """The folder, or the first above it that is there."""
    return next(each for each in (folder, *folder.parents) if each.exists())
