"""One time step of a cell as lines of PyTorch.

What each operation means is read from the table of operations, with pieces of source text in the
place of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.cell import Cell, Node
from cellwright.cell.draw.formulas import operation
from cellwright.cell.names import parse_input
from cellwright.cell.ops import LEAKY_SLOPE, Kind
from cellwright.export.as_python.identifiers import identifiers, input_identifier

_SUM, _PRODUCT, _ATOM = 1, 2, 3
"""How tightly the parts of an expression hold together."""


@dataclass(frozen=True)
class Expression:
    """A piece of source text; arithmetic with it gives longer ones."""

    text: str
    holds: int = _ATOM

    def __add__(self, other: Any) -> Expression:
        return self._with("+", other, _SUM)

    def __sub__(self, other: Any) -> Expression:
        return self._with("-", other, _SUM)

    def __mul__(self, other: Any) -> Expression:
        return self._with("*", other, _PRODUCT)

    def __truediv__(self, other: Any) -> Expression:
        return self._with("/", other, _PRODUCT)

    def _with(self, sign: str, other: Any, holds: int) -> Expression:
        right = other if isinstance(other, Expression) else Expression(repr(other))
        left = self.text if self.holds >= holds else f"({self.text})"
        text = right.text if right.holds > holds else f"({right.text})"
        return Expression(f"{left} {sign} {text}", holds)


class _Functions:
    """The functions that the table of operations asks for, as calls of torch."""

    def __getattr__(self, name: str) -> Any:
        def call(*inputs: Expression) -> Expression:
            return Expression(f"torch.{name}({', '.join(each.text for each in inputs)})")

        return call

    def leaky_relu(self, a: Expression) -> Expression:
        return Expression(f"F.leaky_relu({a.text}, {LEAKY_SLOPE})")


class Names:
    """What the nodes, inputs and weights of a cell are called in an exported file."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        states = range(len(cell.states))
        inputs = {input_identifier(name) for name in cell.inputs} | {"x"}
        inputs |= {f"{new}h{state}" for new in ("", "new_") for state in states}
        self._nodes = identifiers([node.name for node in cell.nodes], inputs | {"bank"})
        keys = [key for node in cell.nodes for key in node.keys or ()]
        self._keys = identifiers(keys)

    def value(self, name: str) -> str:
        """The variable that holds a node's or an input's value."""
        return self._nodes.get(name) or input_identifier(name)

    def weight(self, node: Node, position: int) -> tuple[str, str]:
        """Where the matrix of a linear's input is: the holder and the name in it."""
        if node.keys is not None:
            return "bank", self._keys[node.keys[position]]
        name = node.inputs[position]
        again = node.inputs[: position + 1].count(name)
        return self._nodes[node.name], f"weight_{self.value(name)}" + (
            f"_{again}" if again > 1 else ""
        )

    def engine_weight(self, node: Node, position: int) -> str:
        """What `Recurrent` calls the same matrix within a layer."""
        if node.keys is not None:
            return f"bank.{node.keys[position]}"
        name = node.inputs[position]
        again = node.inputs[: position + 1].count(name)
        return f"{node.name}.weight_{name}" + (f"_{again}" if again > 1 else "")

    def bias(self, node: Node) -> tuple[str, str]:
        """Where a linear's bias is, or a vector."""
        return self._nodes[node.name], "bias"


def arguments(cell: Cell) -> list[str]:
    """The inputs that a step has to be given, as the cell names them: those that it reads, and one
    of each width that something is as wide as."""
    wanted = set(cell.inputs)
    for node in cell.nodes:
        if node.op in ("zero", "vector"):
            wanted.add("x" if cell.width(node.name) == "input" else "h0")
    order = {name: parse_input(name) for name in wanted}
    return sorted(wanted, key=lambda name: order[name].order)  # type: ignore[union-attr]


def step_lines(cell: Cell, names: Names) -> list[str]:
    """A line for each node."""
    return [_line(node, names) for node in cell.nodes]


def _line(node: Node, names: Names) -> str:
    line = f"{names.value(node.name)} = {_value(node, names)}"
    if node.op == "blend":
        line += f"  # {operation(node)}"
    return line


def _value(node: Node, names: Names) -> str:
    if node.op == "linear":
        return _linear(node, names)
    if node.spec.kind is Kind.LINEAR or node.op == "zero":
        like = "x" if names.cell.width(node.name) == "input" else "h0"
        if node.op == "zero":
            return f"torch.zeros_like({like})"
        return f"self.{'.'.join(names.bias(node))}.expand_as({like})"
    assert node.spec.meaning is not None
    inputs: Sequence[Expression] = [Expression(names.value(name)) for name in node.inputs]
    result: Expression = node.spec.meaning(_Functions(), inputs)
    return result.text


def _linear(node: Node, names: Names) -> str:
    terms = []
    for position, name in enumerate(node.inputs):
        weight = f"self.{'.'.join(names.weight(node, position))}"
        bias = f", self.{'.'.join(names.bias(node))}" if node.bias and not position else ""
        terms.append(f"F.linear({names.value(name)}, {weight}{bias})")
    return " + ".join(terms)
