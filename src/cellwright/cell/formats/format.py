"""What a text format is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cellwright.cell.cell import Cell


@dataclass(frozen=True)
class Format:
    """One text format for cells.

    Args:
        name: what people call it.
        description: one line.
        example: a text in it.
        read: the cells in a text, or a `CellError`.
        write: a cell as text, or a `CellError` that names the node that does not fit.
        recognizes: whether a text looks like this format; quick, and never raises.
    """

    name: str
    description: str
    example: str
    read: Callable[[str], list[Cell]]
    write: Callable[[Cell], str]
    recognizes: Callable[[str], bool]
