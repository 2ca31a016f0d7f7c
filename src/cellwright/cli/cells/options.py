"""Arguments and options that several `cells` commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from cellwright.base.errors import did_you_mean
from cellwright.cell import CellError

_CELLS_HELP = "Names from the zoo, files, folders, zip files, or - for standard input."

Cells = Annotated[list[str], typer.Argument(metavar="CELL", help=_CELLS_HELP)]
InputSize = Annotated[
    int, typer.Option(metavar="N", min=1, max=1_000_000, help="How wide the input x is.")
]
HiddenSize = Annotated[
    int, typer.Option(metavar="N", min=1, max=1_000_000, help="How wide the states are.")
]
Simplify = Annotated[
    bool, typer.Option("--simplify", help="Remove dead nodes, fold identities and zeros first.")
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="FORMAT", help="The input's format. Default: recognised."),
]


def known_format(name: str | None) -> str | None:
    """The name of a format, or an error that says which there are."""
    from cellwright.cell.formats import FORMATS

    if name is not None and name not in FORMATS:
        hint = did_you_mean(name, FORMATS) or f"; the formats are {', '.join(FORMATS)}"
        raise typer.BadParameter(f"unknown format {name!r}{hint}")
    return name


def expressible_in(cell: object) -> list[str]:
    """The formats that can say this cell."""
    from cellwright.cell import Cell
    from cellwright.cell.formats import FORMATS, write

    assert isinstance(cell, Cell)
    names = []
    for name in FORMATS:
        try:
            write(cell, name)
        except CellError:
            continue
        names.append(name)
    return names
