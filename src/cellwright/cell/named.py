"""A cell by what people call it: a name of the zoo, or a file."""

from __future__ import annotations

from pathlib import Path

from cellwright.base.errors import UserError, did_you_mean, refused, shown
from cellwright.base.regular_files import read_regular
from cellwright.cell.cell import Cell
from cellwright.cell.formats import read, recognize
from cellwright.cell.zoo import zoo


def named_cell(name: str | Path) -> Cell:
    """A cell, by its name in the zoo, or from a file in any of the formats.

    >>> named_cell("gru").name
    'gru'

    Raises:
        UserError: there is no such cell, or the file has none or several.
    """
    if str(name) in zoo:
        return zoo[str(name)]
    path = Path(name).expanduser()
    try:
        if not path.is_file():
            hint = did_you_mean(str(name), zoo)
            raise UserError(
                f"there is no cell {shown(str(name))}{hint or '; cw.zoo has those with names'}, "
                "and no file of that name"
            )
        text = read_regular(path).decode("utf-8-sig", "replace")
    except OSError as error:
        raise refused("read", path, error) from None
    found = list(read(text))
    if len(found) != 1:
        raise UserError(f"{path} has {len(found)} cells, and one is wanted")
    return found[0]


def said_cell(said: str) -> Cell:
    """A cell as settings say it: by name, by file, or whole, as text in any of the formats.

    Raises:
        UserError: it is none of these, or several cells.
    """
    try:
        recognize(said)
    except UserError:
        return named_cell(said)
    found = list(read(said))
    if len(found) != 1:
        raise UserError(f"{shown(said)} has {len(found)} cells, and one is wanted")
    return found[0]
