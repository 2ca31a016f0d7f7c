"""What cannot be exported, and why."""

from __future__ import annotations

from cellwright.base.errors import UserError
from cellwright.cell import Cell


class ExportError(UserError):
    """Something cannot be exported. The message says why, and what could be."""


def exportable(cell: Cell) -> Cell:
    """The cell as the engine runs it: without what feeds neither a state nor the output.

    Raises:
        ExportError: it is a supernet.
    """
    live = cell.simplified()
    if live.is_supernet:
        kinds = sorted({node.op for node in live.nodes if not node.spec.finished})
        raise ExportError(
            f"the cell {cell.name or cell.id} is a supernet ({', '.join(kinds)}), which only a "
            "search can run: derive a cell from it and export that"
        )
    return live
