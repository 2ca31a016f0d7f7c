"""What running raises on bad input, bad files and full disks."""

from __future__ import annotations

from pathlib import Path

from cellwright.base.errors import FileError, UserError


class RunError(FileError):
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
