"""Formats by the ending of a file's name: the one place that says which there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cellwright.base.errors import UserError

PICTURES = ("svg", "pdf", "png")
"""Of pictures: SVG for pages and notebooks, PDF for papers, PNG for everything else."""

TABLES = ("csv", "md", "tex")
"""Of tables: CSV for programs, Markdown for notes, LaTeX for papers."""

PARQUET = "parquet"
"""Of tables that may be very long."""


class EndingError(UserError):
    """A file's name has an ending that says no format. The message names those there are."""


def format_of(path: Path, known: Sequence[str], what: str) -> str:
    """The format that a file's ending says.

    >>> format_of(Path("figure.PDF"), PICTURES, "picture")
    'pdf'

    Args:
        path: the file.
        known: the formats that it may have.
        what: what is written, for the error.

    Raises:
        EndingError: it says none of them.
    """
    found = path.suffix.lower().removeprefix(".")
    if found not in known:
        raise EndingError(f"{path}: a {what}'s name ends in {either(known)}")
    return found


def either(known: Sequence[str]) -> str:
    """Endings in a sentence.

    >>> either(PICTURES)
    '.svg, .pdf or .png'
    """
    *first, last = (f".{one}" for one in known)
    return f"{', '.join(first)} or {last}" if first else last
