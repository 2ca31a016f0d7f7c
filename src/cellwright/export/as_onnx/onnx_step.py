"""One time step of a cell as nodes of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from cellwright.cell import Cell, Node
from cellwright.cell.names import parse_input
from cellwright.cell.ops import LEAKY_SLOPE
from cellwright.export.as_onnx.onnx_graph import Graph, Value


class Weights(Protocol):
    """The weights of a layer, as values of a graph."""

    @property
    def cell(self) -> Cell:
        """Whose they are."""

    def matrix(self, node: Node, position: int) -> Value:
        """A linear's matrix, (columns, rows)."""

    def bias(self, node: Node) -> Value:
        """A linear's bias, or a vector."""


def steps_back(name: str) -> int | None:
    """How many steps back an input reads x; None for all that is not x."""
    known = parse_input(name)
    return known.back if known is not None and known.state is None else None


class Step:
    """The values of one time step."""

    def __init__(
        self,
        layer: Weights,
        graph: Graph,
        states: Sequence[Value],
        inputs: dict[str, Value],
        products: dict[str, Value],
    ) -> None:
        self.layer, self.graph, self.cell = layer, graph, layer.cell
        self.states, self.products = states, products
        self.known: dict[str, Value] = dict(inputs)
        self.functions = _Functions(graph)

    def values(self) -> dict[str, Value]:
        for node in self.cell.nodes:
            self.known[node.name] = self._compute(node)
        return self.known

    def _value(self, name: str) -> Value:
        if name not in self.known:
            known = parse_input(name)
            assert known is not None
            assert known.state is not None
            at = known.state * self.cell.state_history + known.back - 1
            self.known[name] = self.states[at]
        return self.known[name]

    def _compute(self, node: Node) -> Value:
        if node.op == "linear":
            return self._linear(node)
        if node.op in ("zero", "vector"):
            wide = self.cell.width(node.name) == "input"
            like = self.graph.add("Shape", self.known["x"] if wide else self.states[0])
            if node.op == "zero":
                return self.graph.add("ConstantOfShape", like)
            return self.graph.add("Expand", self.layer.bias(node), like)
        assert node.spec.meaning is not None
        inputs = [self._value(name) for name in node.inputs]
        result: Value = node.spec.meaning(self.functions, inputs)
        return result

    def _linear(self, node: Node) -> Value:
        total = self.products.get(node.name)
        for position, name in enumerate(node.inputs):
            if steps_back(name) is not None:
                continue
            product = self._value(name) @ self.layer.matrix(node, position)
            if total is None and node.bias:
                total = self.layer.bias(node)
            total = product if total is None else product + total
        assert total is not None
        return total


class _Functions:
    """The functions that the table of operations asks for, as nodes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def tanh(self, a: Value) -> Value:
        return self.graph.add("Tanh", a)

    def sigmoid(self, a: Value) -> Value:
        return self.graph.add("Sigmoid", a)

    def relu(self, a: Value) -> Value:
        return self.graph.add("Relu", a)

    def leaky_relu(self, a: Value) -> Value:
        return self.graph.add("LeakyRelu", a, alpha=LEAKY_SLOPE)

    def exp(self, a: Value) -> Value:
        return self.graph.add("Exp", a)

    def maximum(self, a: Value, b: Value) -> Value:
        return self.graph.add("Max", a, b)

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(f"ONNX graphs have no {name} yet")
