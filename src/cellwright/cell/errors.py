"""`CellError`, for everything about cells that is wrong."""

from __future__ import annotations

from cellwright.base.errors import UserError


class CellError(UserError):
    """A cell, or a text that should describe one, is not valid.

    The message names the node (or the line) and says what would be right.
    """
