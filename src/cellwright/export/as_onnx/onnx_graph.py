"""Graphs of ONNX, written as one writes arithmetic.

A `Value` is the result of a node; adding and multiplying values adds nodes. Loops over time are
`Scan`, whose body is a graph inside the graph that may use all values around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from cellwright.base.optional import require

OPSET = 17
"""The version of the operators: one that runtimes of the last years know."""

IR_VERSION = 8
"""The version of the file's form that belongs to it."""

Shape = Sequence[int | str]
"""Sizes; a word stands for one that is free."""


@dataclass(frozen=True)
class Value:
    """The result of a node, or an input, of a graph."""

    graph: Graph
    name: str

    def __add__(self, other: Any) -> Value:
        return self._with("Add", other)

    def __sub__(self, other: Any) -> Value:
        return self._with("Sub", other)

    def __mul__(self, other: Any) -> Value:
        return self._with("Mul", other)

    def __truediv__(self, other: Any) -> Value:
        return self._with("Div", other)

    def __matmul__(self, other: Any) -> Value:
        return self._with("MatMul", other)

    def _with(self, op: str, other: Any) -> Value:
        right = other if isinstance(other, Value) else self.graph.constant(np.float32(other))
        inner = max(self.graph, right.graph, key=lambda graph: graph.depth)
        return inner.add(op, self, right)


@dataclass(frozen=True)
class Typed:
    """A value with what has to be said of it where it enters or leaves a graph."""

    value: Value
    shape: Shape
    dtype: str = "float32"


class Graph:
    """A graph that grows.

    Args:
        outer: the graph that this is inside of, as the body of a loop.
    """

    def __init__(self, outer: Graph | None = None) -> None:
        self.onnx: Any = require("onnx", "an ONNX file", "export")
        self.root: Graph = self if outer is None else outer.root
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self._initializers: list[Any] = []
        self._known: dict[Any, tuple[Value, object]] = {}
        self._count = 0

    # -- values ----------------------------------------------------------------------------

    def named(self, hint: str) -> str:
        """A name that nothing else has."""
        self.root._count += 1
        return f"{hint}_{self.root._count}"

    def input(self, name: str, shape: Shape, dtype: str = "float32") -> Value:
        """An input of the graph."""
        self.inputs.append(self._info(name, shape, dtype))
        return Value(self, name)

    def output(self, name: str, typed: Typed) -> None:
        """Make a value an output of the graph, under a name."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [typed.value.name], [name]))
        self.outputs.append(self._info(name, typed.shape, typed.dtype))

    def constant(self, array: Any, hint: str = "constant") -> Value:
        """Numbers that are known; the same small ones are kept once."""
        found = np.asarray(array)
        if found.size > 16:
            return self._kept(found, hint)
        key = (found.tobytes(), found.shape, found.dtype.str)
        if key not in self.root._known:
            self.root._known[key] = (self._kept(found, hint), None)
        return self.root._known[key][0]

    def weight(self, tensor: Tensor, hint: str, *, transposed: bool = False) -> Value:
        """A weight, kept once however often it is used."""
        key = (tensor.data_ptr(), tuple(tensor.shape), transposed)
        if key not in self.root._known:
            array = tensor.detach().float().cpu().numpy()
            array = np.ascontiguousarray(array.T if transposed else array)
            self.root._known[key] = (self._kept(array, hint), tensor)
        return self.root._known[key][0]

    def integers(self, *numbers: int) -> Value:
        """A list of whole numbers."""
        return self.constant(np.array(numbers, np.int64))

    def _kept(self, array: NDArray[Any], hint: str) -> Value:
        name = self.named(hint)
        self.root._initializers.append(self.onnx.numpy_helper.from_array(array, name))
        return Value(self.root, name)

    # -- nodes -----------------------------------------------------------------------------

    def add(self, op: str, *inputs: Value, hint: str = "", **attributes: Any) -> Value:
        """A node with one result."""
        return self.several(op, *inputs, outputs=1, hint=hint, **attributes)[0]

    def several(
        self, op: str, *inputs: Value, outputs: int, hint: str = "", **attributes: Any
    ) -> list[Value]:
        """A node with several results."""
        names = [self.named(hint or op.lower()) for _ in range(outputs)]
        given = [value.name for value in inputs]
        self.nodes.append(self.onnx.helper.make_node(op, given, names, **attributes))
        return [Value(self, name) for name in names]

    def cast(self, value: Value, dtype: str) -> Value:
        """The same numbers of another type."""
        return self.add("Cast", value, to=self._dtype(dtype))

    def size(self, value: Value, axis: int) -> Value:
        """How long a value is along an axis, a list of one number."""
        return self.add("Gather", self.add("Shape", value), self.integers(axis), axis=0)

    def unsqueezed(self, value: Value, *axes: int) -> Value:
        """The same with axes of length 1."""
        return self.add("Unsqueeze", value, self.integers(*axes))

    def squeezed(self, value: Value, *axes: int) -> Value:
        """The same without axes of length 1."""
        return self.add("Squeeze", value, self.integers(*axes))

    def sliced(self, value: Value, start: Value, end: Value, axis: int) -> Value:
        """A part of a value along an axis; start and end are lists of one number."""
        return self.add("Slice", value, start, end, self.integers(axis))

    def concat(self, values: Sequence[Value], axis: int) -> Value:
        """Values one behind the other."""
        return values[0] if len(values) == 1 else self.add("Concat", *values, axis=axis)

    def taken(self, value: Value, number: int) -> Value:
        """One entry of the first axis, which is gone then."""
        return self.add("Gather", value, self.constant(np.int64(number)), axis=0)

    def scan(
        self,
        states: Sequence[Typed],
        scanned: Sequence[Typed],
        body: Callable[[Graph, list[Value], list[Value]], tuple[list[Value], list[Typed]]],
        *,
        backwards: bool = False,
    ) -> tuple[list[Value], list[Value]]:
        """A loop over the first axis of `scanned`.

        Args:
            states: what enters the first step; shapes are those of one step.
            scanned: of which each step sees one entry; shapes are those of an entry.
            body: from the graph of the body, the states and the entries to new states and to what a
                step hands out, with its shape.
            backwards: whether the last step comes first; results are in the order of the input.

        Returns:
            The last states, and what all steps handed out.
        """
        inner = Graph(self)
        known = [inner._entering(typed, "state") for typed in states]
        seen = [inner._entering(typed, "now") for typed in scanned]
        new, handed = body(inner, known, seen)
        leaving = [
            Typed(value, typed.shape, typed.dtype) for value, typed in zip(new, states, strict=True)
        ]
        for typed in (*leaving, *handed):
            inner.output(self.named("out"), typed)
        graph = self.onnx.helper.make_graph(
            inner.nodes, self.named("body"), inner.inputs, inner.outputs
        )
        directions: dict[str, Any] = {}
        if backwards:
            directions["scan_input_directions"] = [1] * len(scanned)
            if handed:
                directions["scan_output_directions"] = [1] * len(handed)
        results = self.several(
            "Scan",
            *(typed.value for typed in (*states, *scanned)),
            outputs=len(states) + len(handed),
            body=graph,
            num_scan_inputs=len(scanned),
            **directions,
        )
        return results[: len(states)], results[len(states) :]

    def _entering(self, typed: Typed, hint: str) -> Value:
        return self.input(self.named(hint), typed.shape, typed.dtype)

    # -- the file --------------------------------------------------------------------------

    def model(self, name: str, metadata: dict[str, str], version: str) -> Any:
        """The graph as a model, whose form was checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self._initializers)
        model = helper.make_model(
            graph,
            producer_name="cellwright",
            producer_version=version,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        helper.set_model_props(model, metadata)
        self.onnx.checker.check_model(model, full_check=True)
        return model

    def _info(self, name: str, shape: Shape, dtype: str) -> Any:
        return self.onnx.helper.make_tensor_value_info(name, self._dtype(dtype), list(shape))

    def _dtype(self, dtype: str) -> int:
        number: int = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return number
