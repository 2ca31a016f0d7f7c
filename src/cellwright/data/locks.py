"""One process at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from cellwright.data.errors import Progress

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def exclusive(path: Path, progress: Progress | None = None) -> Iterator[bool]:
    """Hold a lock file; the system lets go of it when the process ends, however it ends.

    Yields whether it is held: some file systems have no locks. What it guards is safe
    without it too (unique temporary names, then one rename): two processes then do the same work
    twice, and the last one's result stays.
    """
    with open(path, "ab") as file:
        yield _lock(file, progress)


def _lock(file: IO[bytes], progress: Progress | None) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if progress is not None:
            progress("waiting for another process", 0, 0)
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        return False
    return True
