"""The cell as data: graph, operations, zoo, formats, drawing.

Imports nothing of the layers above it, and no torch.
"""

from cellwright.cell.cell import Cell, Node, rename_nodes
from cellwright.cell.errors import CellError
from cellwright.cell.ops import OPS

__all__ = ["OPS", "Cell", "CellError", "Node", "rename_nodes"]
