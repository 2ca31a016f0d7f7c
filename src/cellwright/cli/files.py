"""Options for pictures and tables that commands write, and what is said of their names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cellwright.base.endings import PICTURES, TABLES, EndingError, format_of

PictureFile = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="An SVG, PDF or PNG file.")
]
PaperSize = Annotated[
    str | None,
    typer.Option(
        "--size",
        metavar="SIZE",
        help="For a paper: column (3.3 inches wide), page (6.75), or a number of inches.",
    ),
]
Pdf = Annotated[
    str | None,
    typer.Option(
        "--pdf",
        metavar="SIZE",
        help="Pictures as PDF too, for a paper: column (3.3 inches wide), page (6.75), or a number "
        "of inches.",
    ),
]
TableFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the table into a .csv, .md or .tex file instead.",
    ),
]


def check_picture(path: Path, known: Sequence[str] = PICTURES) -> str:
    """The format of a picture; a mistake in its name is one of the command line."""
    return _checked(path, known, "picture")


def check_table(path: Path, known: Sequence[str] = TABLES) -> str:
    """The format of a table."""
    return _checked(path, known, "table")


def _checked(path: Path, known: Sequence[str], what: str) -> str:
    try:
        return format_of(path, known, what)
    except EndingError as error:
        raise typer.BadParameter(str(error)) from None
