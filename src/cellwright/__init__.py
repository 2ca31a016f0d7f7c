"""Find, train, compare and run recurrent cells for language."""

from cellwright.cell import Cell, CellError, Node

__all__ = ["Cell", "CellError", "Node"]
