"""The one error that everything about corpora raises on bad input."""

from __future__ import annotations

from collections.abc import Callable

from cellwright.cell.errors import UserError

Progress = Callable[[str, int, int], None]
"""Called during long work with what is being done, how many bytes are done, and how many there
are (0 where that is not known)."""


class DataError(UserError):
    """A corpus, or a file of one, cannot be found, read, fetched or kept.

    The message names the file and says what to do.
    """


def reason(error: OSError) -> str:
    """Why the system refused, in the middle of a sentence.

    >>> reason(OSError(28, "No space left on device"))
    'no space left on device'
    """
    text = error.strerror or str(error) or type(error).__name__
    return text[0].lower() + text[1:]
