"""What running raises on bad input, bad files and full disks."""

from __future__ import annotations

import errno
from pathlib import Path

from cellwright.cell.errors import UserError
from cellwright.data.errors import reason


class RunError(UserError):
    """A run, or a file of one, cannot be made, read, written or continued.

    The message names the file and says what to do.
    """


class RecipeError(UserError):
    """A recipe cannot be found, or says something that it may not.

    The message names the file and the key, and the nearest right one.
    """


class Stopped(KeyboardInterrupt):
    """A run was asked to stop (Ctrl-C, or the signal TERM) and has saved where it was.

    It is a `KeyboardInterrupt`, so that a loop over many runs ends as well, and its message says
    how to go on.
    """

    def __init__(self, folder: Path, signal: int, go_on: str) -> None:
        super().__init__(f"stopped; '{go_on}' goes on from here")
        self.folder, self.signal = folder, signal


def refused(verb: str, path: Path, error: OSError) -> RunError:
    """The error for a file that the system did not let us write or read."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        why = "the disk is full: make room and try again"
    else:
        why = reason(error)
    return RunError(f"cannot {verb} {path}: {why}")
