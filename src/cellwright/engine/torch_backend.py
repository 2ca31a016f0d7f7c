"""The torch backend: a cell step by step in plain autograd. Any device, any dtype.

This is the oracle for everything faster, so it is short and follows the cell's own graph.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from cellwright.cell import Node
from cellwright.cell.names import parse_input
from cellwright.cell.ops import BATCH_NORMS, LEAKY_SLOPE, NORM_EPSILON
from cellwright.engine import bfloat16
from cellwright.engine.layer import LayerCall, LayerResult


def run(call: LayerCall) -> LayerResult:
    """Run one layer."""
    cell = call.cell
    if call.precision == "bfloat16":  # once for all steps
        rounded = {at: bfloat16.rounded(weight) for at, weight in call.weights.items()}
        call = call._replace(weights=rounded)
    history = cell.state_history
    before = call.states_before()
    states = [before[s * history : (s + 1) * history] for s in range(len(cell.states))]
    batch = call.x.shape[1]
    counts = mask = None
    if isinstance(call.active, Tensor):
        mask = rows_at_work(call.active, call.steps).to(call.x.device).unsqueeze(2)
    else:
        counts = call.active
    outputs = []
    for step in range(call.steps):
        rows = batch if counts is None else counts[step]
        values = _Step(call, states, step, rows).values()
        output = values[cell.output]
        if counts is not None and rows < batch:
            output = F.pad(output, (0, 0, 0, batch - rows))
        moved = [
            _moved_on(past, values[name], None if counts is None else rows)
            for past, name in zip(states, cell.states, strict=True)
        ]
        if mask is not None:
            output = output.masked_fill(~mask[step], 0.0)
            moved = [_where(mask[step], *pair) for pair in zip(moved, states, strict=True)]
        outputs.append(output)
        states = moved
    final = [value.unsqueeze(0) for past in states for value in past]
    return LayerResult(torch.stack(outputs), final)


def rows_at_work(lengths: Tensor, steps: int) -> Tensor:
    """Which rows of these lengths are at work at each step: (steps, batch)."""
    return lengths.unsqueeze(0) > torch.arange(steps, device=lengths.device).unsqueeze(1)


def _moved_on(past: list[Tensor], new: Tensor, rows: int | None) -> list[Tensor]:
    """A state's history one step later; rows behind the first `rows` have ended and keep theirs."""
    moved = [new, *(value[:rows] for value in past[:-1])]
    if rows is None or rows == past[0].shape[0]:
        return moved
    return [torch.cat([value, old[rows:]]) for value, old in zip(moved, past, strict=True)]


def _where(mask: Tensor, new: list[Tensor], old: list[Tensor]) -> list[Tensor]:
    return [torch.where(mask, *pair) for pair in zip(new, old, strict=True)]


class _Step:
    """The values of one time step, for the first `rows` rows."""

    def __init__(self, call: LayerCall, states: list[list[Tensor]], step: int, rows: int) -> None:
        self.call = call
        self.states = states
        self.now = step + call.cell.input_history
        self.step = step
        self.rows = rows
        self.known: dict[str, Tensor] = {}

    def values(self) -> dict[str, Tensor]:
        for node in self.call.cell.nodes:
            self.known[node.name] = self._compute(node)
        return self.known

    def _value(self, name: str) -> Tensor:
        known = parse_input(name)
        if known is None:
            return self.known[name]
        if known.state is None:
            return self.call.x[self.now - known.back][: self.rows]
        return self.states[known.state][known.back - 1][: self.rows]

    def _compute(self, node: Node) -> Tensor:
        if node.op == "linear":
            return self._linear(node)
        if node.op == "vector":
            return self.call.biases[node.name].expand(self.rows, -1)
        inputs = [self._value(name) for name in node.inputs]
        if node.op == "mix":
            theta = self.call.theta[node.theta_name]
            return sum(
                (t * a for t, a in zip(theta, inputs, strict=True)), start=theta.new_zeros(())
            )
        if node.op == "zero":
            return self.call.x.new_zeros(self.rows, self._width(node.name))
        if node.op in BATCH_NORMS:
            return standardised(inputs[0], *self._over_rows(inputs[0]), BATCH_NORMS[node.op])
        assert node.spec.meaning is not None
        result: Tensor = node.spec.meaning(_TORCH, inputs)
        return result

    def _over_rows(self, a: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of each feature over the rows that are at work."""
        if not isinstance(self.call.active, Tensor):
            return moments_of(a)
        at_work = (self.call.active > self.step).to(a).unsqueeze(1)
        share = at_work / at_work.sum().clamp(min=1)
        mean = (a * share).sum(0)
        return mean, ((a - mean).square() * share).sum(0)

    def _linear(self, node: Node) -> Tensor:
        total = self.call.biases[node.name] if node.bias else None
        for position, name in enumerate(node.inputs):
            product = self._product(self._operand(name), self.call.weights[node.name, position])
            total = product if total is None else product + total
        assert total is not None
        return total

    def _product(self, operand: Tensor, weight: Tensor) -> Tensor:
        if self.call.precision == "bfloat16":
            return bfloat16.product(bfloat16.rounded(operand), weight)
        return F.linear(operand, weight)

    def _operand(self, name: str) -> Tensor:
        """What a linear multiplies: the value behind its dropout mask."""
        known = parse_input(name)
        if known is not None and known.state is None:
            return self.call.x_for_linears[self.now - known.back][: self.rows]
        value = self._value(name)
        narrow = self.call.cell.width(name) == "input"
        mask = self.call.mask_input if narrow else self.call.mask_hidden
        return value if mask is None else value * mask[: self.rows]

    def _width(self, name: str) -> int:
        is_input = self.call.cell.width(name) == "input"
        return self.call.x.shape[2] if is_input else self.call.hidden_size


def moments_of(a: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of each feature over the rows."""
    mean = a.mean(0)
    return mean, (a - mean).square().mean(0)


def standardised(a: Tensor, mean: Tensor, variance: Tensor, epsilon: float) -> Tensor:
    """`a` less the mean, over the root of the variance and epsilon."""
    return (a - mean) * torch.rsqrt(variance + epsilon)


class _TorchArithmetic:
    """The functions that the table of operations asks for, on tensors."""

    tanh = staticmethod(torch.tanh)
    sigmoid = staticmethod(torch.sigmoid)
    relu = staticmethod(torch.relu)
    exp = staticmethod(torch.exp)
    maximum = staticmethod(torch.maximum)

    @staticmethod
    def leaky_relu(a: Tensor) -> Tensor:
        return F.leaky_relu(a, LEAKY_SLOPE)

    @staticmethod
    def zero(a: list[Tensor]) -> Tensor:
        return torch.zeros_like(a[0])

    @staticmethod
    def norm(a: Tensor) -> Tensor:
        return F.layer_norm(a, a.shape[-1:], eps=NORM_EPSILON)

    @staticmethod
    def batch_norm(a: Tensor, epsilon: float) -> Tensor:
        return standardised(a, *moments_of(a), epsilon)


_TORCH = _TorchArithmetic()
