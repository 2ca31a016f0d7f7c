"""A cell: its picture, its formulas, its figures."""

from __future__ import annotations

from functools import lru_cache

from cellwright.cell import Cell
from cellwright.cell.draw.svg import render
from cellwright.cell.draw.text import formula_lines
from cellwright.studio.rows import Document

MOST_NODES = 2000
"""Larger cells are not drawn: to lay them out would take minutes."""

_WIDTH = 300


@lru_cache(maxsize=200)
def picture(text: str) -> str:
    """The drawing of a cell, from memory where it was drawn lately: a search shows the same cells
    again and again."""
    return render(Cell.from_json(text), legend=False)


def cell_document(cell: Cell) -> Document:
    """All that the page shows of a cell. The picture is SVG; names in it are escaped."""
    lines, explained = formula_lines(cell)
    return {
        "id": cell.id,
        "name": cell.name,
        "picture": picture(cell.to_json()) if len(cell.nodes) <= MOST_NODES else None,
        "formulas": [[name, formula] for name, formula in lines],
        "explained": explained,
        "json": cell.to_json(),
        "facts": [
            ["name", cell.name or "none"],
            ["id", cell.id],
            ["nodes", f"{len(cell.nodes):,}, depth {cell.depth:,}"],
            ["states", f"{len(cell.states):,}"],
            ["reads", ", ".join(cell.inputs)],
            [f"parameters at {_WIDTH} → {_WIDTH}", f"{cell.parameters(_WIDTH, _WIDTH):,}"],
        ],
    }
