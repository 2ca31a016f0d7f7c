"""Recurrent layers as graphs of ONNX: `Recurrent` in a loop of the runtime's own.

Products with x are had for all steps before the loop. What an operation means is read from the
table of operations, with values of a graph in the place of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cellwright.cell import Cell, Node
from cellwright.engine import Recurrent
from cellwright.engine.state import StateShape
from cellwright.engine.weights import LayerWeights
from cellwright.export.as_onnx.onnx_graph import Graph, Typed, Value
from cellwright.export.as_onnx.onnx_step import Step, steps_back
from cellwright.export.model_parts import state_shape
from cellwright.export.refusal import exportable


@dataclass(frozen=True)
class Rows:
    """The sequences of a batch: how long they are, and which steps are inside of them.

    Attributes:
        lengths: (batch,).
        inside: (steps, batch, 1), whether a step is before a sequence's end.
        batch: the word for the size of the batch.
    """

    lengths: Value
    inside: Value
    batch: str = "batch"

    @classmethod
    def of(cls, graph: Graph, lengths: Value, x: Value, batch: str = "batch") -> Rows:
        """Those of x, (steps, batch, …)."""
        last = graph.squeezed(graph.size(x, 0), 0)
        zero, one = (graph.constant(np.int64(number)) for number in (0, 1))
        steps = graph.unsqueezed(graph.add("Range", zero, last, one), 1)
        inside = graph.add("Less", steps, graph.unsqueezed(lengths, 0))
        return cls(lengths, graph.unsqueezed(inside, 2), batch)


def state_sizes(rnn: Recurrent, batch: str = "batch") -> list[list[int | str]]:
    """Their sizes, with a word for that of the batch."""
    marked = state_shape(rnn).sizes(-1)
    return [[batch if size == -1 else size for size in sizes] for sizes in marked]


def zero_state(graph: Graph, rnn: Recurrent, x: Value) -> list[Value]:
    """The state before the first step, for as many rows as x has."""
    found = []
    for sizes in state_shape(rnn).sizes(-1):
        parts = [graph.size(x, 1) if size == -1 else graph.integers(size) for size in sizes]
        found.append(graph.add("ConstantOfShape", graph.concat(parts, 0)))
    return found


def recurrent(
    graph: Graph, rnn: Recurrent, x: Value, rows: Rows, state: Sequence[Value]
) -> tuple[Value, list[Value]]:
    """All layers of a network.

    Args:
        graph: where they go.
        rnn: the network.
        x: (steps, batch, input), whatever the network says.
        rows: of x.
        state: the tensors of the state before the first step.

    Returns:
        (steps, batch, directions · hidden), zeros behind each sequence's end, and the new state.
    """
    cell, shape = exportable(rnn.cell), state_shape(rnn)
    zero = graph.constant(np.float32(0))
    x = graph.add("Where", rows.inside, x, zero)
    if rnn.projection is not None:
        x = x @ graph.weight(rnn.projection.weight, "projection", transposed=True)
    finals: list[list[Value]] = []
    past: list[list[Value]] = []
    for layer in range(shape.layers):
        outputs = []
        past.append([])
        for direction in range(shape.directions):
            seen = _turned(graph, x, rows) if direction else x
            before = _past_input(graph, shape, state, layer, direction)
            if before is not None:
                seen = graph.concat([before, seen], 0)
                past[-1].append(_last_inputs(graph, seen, shape.input_history, rows))
            weights = rnn._modules[f"layer{layer}{'_reverse' * direction}"]
            assert isinstance(weights, LayerWeights)
            one = _Layer(graph, cell, weights, shape.hidden_size, shape.input_sizes[layer], rows)
            initial = _initial(graph, shape, state, layer * shape.directions + direction)
            output, final = one.run(seen, initial)
            outputs.append(_turned(graph, output, rows) if direction else output)
            finals.append(final)
        x = graph.concat(outputs, 2)
    return x, _joined(graph, shape, finals, past)


def _turned(graph: Graph, x: Value, rows: Rows) -> Value:
    """Each sequence from its end to its start."""
    return graph.add("ReverseSequence", x, rows.lengths, time_axis=0, batch_axis=1)


class _Layer:
    """One layer in one direction."""

    def __init__(
        self,
        graph: Graph,
        cell: Cell,
        weights: LayerWeights,
        hidden: int,
        width: int,
        rows: Rows,
    ) -> None:
        self.graph, self.cell, self.rows = graph, cell, rows
        self.weights, self.biases = weights.weights(), weights.biases()
        self.sizes = {"hidden": hidden, "input": width}

    def run(self, x: Value, initial: Sequence[Value]) -> tuple[Value, list[Value]]:
        """All steps of x, whose first steps are past ones where the cell looks back."""
        graph, cell, batch = self.graph, self.cell, self.rows.batch
        states = [Typed(value, (batch, self.sizes["hidden"])) for value in initial]
        scanned = [Typed(self.rows.inside, (batch, 1), "bool")]
        products = {}
        for node in cell.nodes:
            if node.op == "linear" and any(steps_back(name) is not None for name in node.inputs):
                products[node.name] = len(scanned)
                shape = (batch, self.sizes[node.width])
                scanned.append(Typed(self._product(node, x), shape))
        seen = {}
        for name in self._read_elsewhere():
            seen[name] = len(scanned)
            scanned.append(Typed(self._shifted(x, name), (batch, self.sizes["input"])))

        def body(
            inner: Graph, known: list[Value], now: list[Value]
        ) -> tuple[list[Value], list[Typed]]:
            inputs = {name: now[number] for name, number in seen.items()}
            step = Step(self, inner, known, inputs, {n: now[at] for n, at in products.items()})
            values = step.values()
            inside, history = now[0], cell.state_history
            zero = inner.constant(np.float32(0))
            output = inner.add("Where", inside, values[cell.output], zero)
            new = []
            for number, name in enumerate(cell.states):
                before = known[number * history : (number + 1) * history]
                for fresh, old in zip([values[name], *before[:-1]], before, strict=True):
                    new.append(inner.add("Where", inside, fresh, old))
            return new, [Typed(output, (batch, self.sizes["hidden"]))]

        finals, [outputs] = graph.scan(states, scanned, body)
        return outputs, finals

    def _product(self, node: Node, x: Value) -> Value:
        """All of a linear that depends on x alone, for all steps; with its bias."""
        total = None
        for position, name in enumerate(node.inputs):
            if steps_back(name) is not None:
                product = self._shifted(x, name) @ self.matrix(node, position)
                total = product if total is None else total + product
        assert total is not None
        return total + self.bias(node) if node.bias else total

    def _shifted(self, x: Value, name: str) -> Value:
        """x as many steps back as an input says, for all steps."""
        back, history = steps_back(name), self.cell.input_history
        assert back is not None
        if not history:
            return x
        graph = self.graph
        start = graph.integers(history - back)
        end = graph.add("Add", graph.size(self.rows.inside, 0), start)
        return graph.sliced(x, start, end, 0)

    def _read_elsewhere(self) -> list[str]:
        """The inputs x that something else than a linear reads; one if something is as wide."""
        names = {
            name
            for node in self.cell.nodes
            if node.op != "linear"
            for name in node.inputs
            if steps_back(name) is not None
        }
        wide = any(
            node.op in ("zero", "vector") and self.cell.width(node.name) == "input"
            for node in self.cell.nodes
        )
        return sorted(names | {"x"} if wide else names)

    def matrix(self, node: Node, position: int) -> Value:
        """A linear's matrix, (columns, rows)."""
        return self.graph.weight(self.weights[node.name, position], "weight", transposed=True)

    def bias(self, node: Node) -> Value:
        """A linear's bias, or a vector."""
        return self.graph.weight(self.biases[node.name], "bias")


def _initial(graph: Graph, shape: StateShape, state: Sequence[Value], at: int) -> list[Value]:
    """A layer's states before the first step, for each of them nearest step first."""
    found = []
    for number in range(shape.states):
        found.append(graph.taken(state[number], at))
        if shape.state_history > 1:
            older = graph.taken(state[shape.states + number], at)
            found += [graph.taken(older, back) for back in range(shape.state_history - 1)]
    return found


def _past_input(
    graph: Graph, shape: StateShape, state: Sequence[Value], layer: int, direction: int
) -> Value | None:
    """A layer's past inputs, oldest first."""
    if not shape.input_history:
        return None
    first = shape.states * (2 if shape.state_history > 1 else 1)
    return _flipped(graph, graph.taken(state[first + layer], direction), shape.input_history)


def _flipped(graph: Graph, value: Value, count: int) -> Value:
    """The `count` entries of the first axis in the other order."""
    return graph.add("Gather", value, graph.integers(*reversed(range(count))), axis=0)


def _last_inputs(graph: Graph, x: Value, count: int, rows: Rows) -> Value:
    """Each row's last `count` steps, nearest first, of x with `count` steps in front."""
    steps = graph.unsqueezed(graph.integers(*reversed(range(count))), 1)
    index = graph.unsqueezed(steps + graph.unsqueezed(rows.lengths, 0), 2)
    sizes = [graph.integers(count), graph.size(x, 1), graph.size(x, 2)]
    index = graph.add("Expand", index, graph.concat(sizes, 0))
    return graph.add("GatherElements", x, index, axis=0)


def _joined(
    graph: Graph, shape: StateShape, finals: list[list[Value]], past: list[list[Value]]
) -> list[Value]:
    """The state from each layer-and-direction's final states, and each layer's past inputs."""
    history = shape.state_history
    found = [
        _stacked(graph, [final[number * history] for final in finals])
        for number in range(shape.states)
    ]
    if history > 1:
        for number in range(shape.states):
            older = [final[number * history + 1 : (number + 1) * history] for final in finals]
            found.append(_stacked(graph, [_stacked(graph, each) for each in older]))
    if shape.input_history:
        found += [_stacked(graph, layer) for layer in past]
    return found


def _stacked(graph: Graph, values: Sequence[Value]) -> Value:
    return graph.concat([graph.unsqueezed(value, 0) for value in values], 0)
