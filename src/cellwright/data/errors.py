"""The one error that everything about corpora raises on bad input."""

from __future__ import annotations

from cellwright.base.errors import NotHereError, UserError


class DataError(UserError):
    """A corpus, or a file of one, cannot be found, read, fetched or kept.

    The message names the file and says what to do.
    """


class DataNotHereError(DataError, NotHereError):
    """Known data is not on this machine."""
