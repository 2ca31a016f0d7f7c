"""The cells that a search begins with: given, or by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cellwright.base.errors import did_you_mean, shown
from cellwright.cell import Cell
from cellwright.spaces import Space
from cellwright.spaces.settings import SettingError
from cellwright.spaces.space import require


def initial_cells(
    title: str, space: Space, initial: Any
) -> tuple[tuple[Cell | str, ...], tuple[Cell, ...]]:
    """The setting as a tuple, and the cells that it means.

    Args:
        title: of the method, for messages.
        space: that has to contain them.
        initial: cells, or names of `space.known()`.
    """
    if isinstance(initial, Cell | str) or not isinstance(initial, Iterable):
        raise SettingError(f"{title}: initial must be a list, not {shown(initial)}")
    given = tuple(initial)
    known = space.known() if any(isinstance(cell, str) for cell in given) else {}
    found = []
    for cell in given:
        if isinstance(cell, str):
            if cell not in known:
                hint = did_you_mean(cell, known) or f"; it knows {', '.join(known) or 'none'}"
                raise SettingError(
                    f"{title}: initial has {cell!r}, which {space.title} does not know{hint}"
                )
            cell = known[cell]
        if not isinstance(cell, Cell):
            raise SettingError(f"{title}: initial must be cells, not {shown(cell)}")
        require(space, cell)
        found.append(cell)
    return given, tuple(found)
