"""What a cell costs: parameters, multiply-adds, depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellwright.cell.ops import Kind

if TYPE_CHECKING:
    from cellwright.cell.cell import Cell


def parameters(cell: Cell, input_size: int, hidden_size: int) -> int:
    """Trainable numbers of one layer. A weight that `keys` share counts once."""
    size = {"input": input_size, "hidden": hidden_size}
    total = 0
    named: dict[tuple[str, int, int], int] = {}
    for node in cell.nodes:
        if node.spec.kind is not Kind.LINEAR:
            continue
        rows = size[node.width]
        total += rows if node.bias else 0
        for position, name in enumerate(node.inputs):
            columns = size[cell.width(name)]
            if node.keys is None:
                total += rows * columns
            else:
                named[node.keys[position], rows, columns] = rows * columns
    return total + sum(named.values())


def multiply_adds(cell: Cell, input_size: int, hidden_size: int) -> int:
    """Multiply-adds of all matrix products for one row and one time step."""
    size = {"input": input_size, "hidden": hidden_size}
    return sum(
        size[node.width] * size[cell.width(name)]
        for node in cell.nodes
        if node.op == "linear"
        for name in node.inputs
    )


def depth(cell: Cell) -> int:
    """Operations on the longest path from an input to a state or the output."""
    level: dict[str, int] = {}
    for node in cell.nodes:
        level[node.name] = 1 + max((level.get(name, 0) for name in node.inputs), default=0)
    return max(level[name] for name in (*cell.states, cell.output))
