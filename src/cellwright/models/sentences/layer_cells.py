"""Which cell each recurrent layer has: the one that is trained or searched, or one of its own.

Settings hold other cells as text, not by name or file, so that a run says all that it needs.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from cellwright.base.bounds import KEPT
from cellwright.base.errors import UserError, shown
from cellwright.cell import Cell
from cellwright.cell.named import said_cell

THE_CELL = "*"
"""Stands for the cell that is trained or searched."""


def _as_text(said: str, info: ValidationInfo) -> str:
    if said == THE_CELL:
        return said
    cell = said_cell(said)
    if info.context != KEPT:
        _check(cell, said)
    return cell.to_json(indent=None)


LayerCell = Annotated[str, AfterValidator(_as_text)]
"""`THE_CELL`, or the text of a cell, which may be given by name or file too."""


def cells_of_layers(said: tuple[str, ...], depth: int) -> list[Cell | None]:
    """For each of `depth` layers the cell that is its own, or None for the model's."""
    if not said:
        return [None] * depth
    return [None if text == THE_CELL else Cell.from_json(text) for text in said]


def _check(cell: Cell, said: str) -> None:
    from cellwright.cell.liveness import surely_dead

    if cell.is_supernet:
        raise UserError(f"{shown(said)} is a supernet, and only the searched cell, '*', can be one")
    reason = surely_dead(cell)
    if reason is not None:
        raise UserError(f"a model around {shown(said)} cannot learn: {reason}")
