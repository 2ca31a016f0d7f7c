"""Folders that appear whole: made under another name, and swept if who made them was killed."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from cellwright.base.files import ENDING, remove, sync_folder, temporary_name
from cellwright.base.locks import NAME, is_free, training_lock

_OPEN_MOVES = os.name == "posix"
"""Whether a folder with an open file in it can be renamed. On Windows it cannot, so there is no
lock in it, and its age alone tells that nobody makes it any more."""

_MAKING_SECONDS = 60 if _OPEN_MOVES else 86_400
"""A folder younger than this may just have been begun, and not have its lock yet."""


@contextlib.contextmanager
def half_made(target: Path) -> Iterator[Path]:
    """An empty folder beside `target`, to make in it what will be there.

    It is gone at the end, unless it was renamed. Until then its file `lock` is held: if this
    process is killed, the next one that makes something there, or looks there, removes it.

    Raises:
        OSError: it cannot be made.
    """
    sweep_abandoned(target.parent)
    temporary = temporary_name(target)
    temporary.mkdir()
    try:
        with training_lock(temporary) if _OPEN_MOVES else contextlib.nullcontext():
            yield temporary
    finally:
        remove(temporary)


@contextlib.contextmanager
def whole_folder(target: Path, *, replace: bool = True) -> Iterator[Path]:
    """A new folder to be filled, which takes the target's place if all goes well and goes away if
    not, with the folders above it that were made for it.

    Args:
        target: the folder that it will be.
        replace: in place of whatever is there; otherwise only of an empty folder.

    Raises:
        OSError: it cannot be made, or put there. What was there is as it was.
    """
    above = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    done = False
    try:
        with half_made(target) as temporary:
            new, old = temporary / "new", temporary / "old"
            new.mkdir()
            yield new
            sync_folder(new)
            if replace and os.path.lexists(target):
                os.rename(target, old)
            try:
                os.rename(new, target)
            except OSError:
                if os.path.lexists(old):
                    os.rename(old, target)
                raise
            done = True
            sync_folder(target.parent)
    finally:
        if not done:
            for folder in above:
                with contextlib.suppress(OSError):
                    folder.rmdir()


def is_abandoned(folder: Path) -> bool:
    """Whether a folder was being made by a process that was killed since."""
    if not fnmatch(folder.name, f".*{ENDING}"):
        return False
    if os.path.lexists(folder / NAME):
        return is_free(folder / NAME)
    try:
        return time.time() - folder.stat().st_mtime > _MAKING_SECONDS
    except OSError:
        return False


def sweep_abandoned(parent: Path) -> None:
    """Remove what processes left in a folder that were killed while they made something there."""
    with contextlib.suppress(OSError):
        for folder in parent.glob(f".*{ENDING}"):
            if folder.is_dir() and is_abandoned(folder):
                remove(folder)
