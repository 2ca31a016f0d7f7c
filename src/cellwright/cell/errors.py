"""The errors for bad input: `UserError`, and `CellError` for everything about cells."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(ValueError):
    """What the user gave is wrong: the message says what, where, and what would be right.

    The command line prints such an error as one line.
    """


class CellError(UserError):
    """A cell, or a text that should describe one, is not valid.

    The message names the node (or the line) and says what would be right.
    """


def shown(value: object, limit: int = 60) -> str:
    """`value` as a short quotation for an error message."""
    try:
        text = repr(value[:limit] if isinstance(value, str) else value)
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
