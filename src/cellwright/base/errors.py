"""Errors for people: what was wrong, where, and what would be right."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable
from pathlib import Path


class UserError(ValueError):
    """What the user gave is wrong: the message says what, where, and what would be right.

    The command line prints such an error as one line.
    """


class NotHereError(UserError):
    """Something that has a name, such as known data, is not on this machine.

    The message says how to get it.
    """


class FileError(UserError):
    """A file or folder cannot be made, read or written. The message names it and says why."""


def shown(value: object, limit: int = 60) -> str:
    """`value` as a short quotation for an error message.

    >>> shown("training.epochs", 8)
    "'training…'"
    """
    try:
        if isinstance(value, str):
            return repr(value if len(value) <= limit else f"{value[:limit]}…")
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or an integer too long to print
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit + 2 else text[:limit] + "…"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known word, or an empty string.

    >>> did_you_mean("sigmod", ["tanh", "sigmoid"])
    "; did you mean 'sigmoid'?"
    """
    near = difflib.get_close_matches(word[:100], list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def reason(error: OSError) -> str:
    """Why the system refused, in the middle of a sentence.

    >>> reason(OSError(28, "No space left on device"))
    'no space left on device'
    """
    text = error.strerror or str(error) or type(error).__name__
    return text[0].lower() + text[1:]


def refused(verb: str, path: Path, error: OSError) -> FileError:
    """The error for a file that the system did not let us write or read."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        why = "the disk is full: make room and try again"
    elif verb == "write" and error.errno == errno.ENOENT and not path.parent.is_dir():
        why = f"there is no folder {path.parent}"
    else:
        why = reason(error)
    return FileError(f"cannot {verb} {path}: {why}")
