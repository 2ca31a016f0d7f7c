"""The one error that everything about embeddings raises on bad input."""

from __future__ import annotations

from cellwright.base.errors import NotHereError, UserError


class EmbeddingError(UserError):
    """Vectors or a model cannot be found, read, used or kept.

    The message names the file and says what would be right.
    """


class EmbeddingNotHereError(EmbeddingError, NotHereError):
    """Known vectors, or a model with a name, are not on this machine."""
