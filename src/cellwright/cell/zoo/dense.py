"""What most cells are made of: an activation of a linear."""

from __future__ import annotations

from cellwright.cell.cell import Node


def dense(name: str, activation: str, *inputs: str) -> list[Node]:
    """`name` = activation(`name_s`), where `name_s` is a linear over the inputs, with a bias."""
    return [Node(f"{name}_s", "linear", inputs), Node(name, activation, (f"{name}_s",))]
