"""What the core's operators are given: a layer's tensors in lists, and the cell as JSON."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cellwright.cell import Cell
from cellwright.cell.ops import Kind
from cellwright.engine.bfloat16 import checked_precision
from cellwright.engine.layer import LayerCall
from cellwright.engine.native_job import Arguments
from cellwright.engine.ragged import Ragged
from cellwright.engine.torch_backend import rows_at_work


class NamedCell:
    """A cell, and the names of what it is given in lists."""

    def __init__(self, text: str) -> None:
        self.cell = Cell.from_json(text)
        linears = [node for node in self.cell.nodes if node.spec.kind is Kind.LINEAR]
        self.weights = [(node.name, i) for node in linears for i in range(len(node.inputs))]
        self.biases = [node.name for node in linears if node.bias]
        mixes = [node for node in self.cell.nodes if node.op == "mix"]
        self.thetas = {node.theta_name: len(node.inputs) for node in mixes}


@lru_cache(maxsize=256)
def known_cell(text: str) -> NamedCell:
    """The cell that a text says, read once; its programs are kept with it."""
    return NamedCell(text)


class Operands(NamedTuple):
    """The arguments that all three operators begin with."""

    text: str
    x: Tensor
    x_for_linears: Tensor | None
    initial: list[Tensor]
    weights: list[Tensor]
    biases: list[Tensor]
    theta: list[Tensor]
    mask_hidden: Tensor | None
    mask_input: Tensor | None
    lengths: Tensor | None
    precision: str = "float32"

    @property
    def parts(self) -> Arguments:
        """Those that have gradients."""
        x = [self.x] if self.x_for_linears is None else [self.x, self.x_for_linears]
        return Arguments(x, self.initial, self.weights, self.biases, self.theta)

    def with_parts(self, parts: Arguments) -> Operands:
        """The same call of other tensors."""
        x, x_for_linears = parts.x if len(parts.x) == 2 else (parts.x[0], None)
        return Operands(self.text, x, x_for_linears, *parts[1:], *self[7:])

    def check(self) -> None:
        """What the core's own checks do not see: a graph may be run with other tensors."""
        (ahead, batch, width), hidden = self.x.shape, self.initial[0].shape[1]
        cell = known_cell(self.text).cell
        wanted: list[tuple[str, Tensor | None, tuple[int, ...]]] = [
            *(("a state", state, (batch, hidden)) for state in self.initial),
            ("x_for_linears", self.x_for_linears, tuple(self.x.shape)),
            ("mask_hidden", self.mask_hidden, (batch, hidden)),
            ("mask_input", self.mask_input, (batch, width)),
        ]
        if len(self.initial) != len(cell.states) * cell.state_history:
            raise RuntimeError("cellwright::layer expects a tensor for each state of its cell")
        for name, tensor, shape in wanted:
            if tensor is not None and (tensor.shape != shape or tensor.dtype != self.x.dtype):
                raise RuntimeError(
                    f"cellwright::layer expects {name} of {shape} and {self.x.dtype}, "
                    f"got {tuple(tensor.shape)} and {tensor.dtype}"
                )
        checked_precision(self.precision)
        if self.lengths is not None and (self.lengths.shape, self.lengths.dtype) != (
            (batch,),
            torch.int64,
        ):
            raise RuntimeError("cellwright::layer expects a length of torch.int64 for each row")
        if ahead <= cell.input_history:
            raise RuntimeError("cellwright::layer expects at least one step")

    @property
    def call(self) -> LayerCall:
        """What a backend is asked to do."""
        known = known_cell(self.text)
        return LayerCall(
            cell=known.cell,
            x=self.x,
            x_for_linears=self.x if self.x_for_linears is None else self.x_for_linears,
            hidden_size=self.initial[0].shape[1],
            initial=self.initial,
            weights=dict(zip(known.weights, self.weights, strict=True)),
            biases=dict(zip(known.biases, self.biases, strict=True)),
            mask_hidden=self.mask_hidden,
            mask_input=self.mask_input,
            theta=dict(zip(known.thetas, self.theta, strict=True)),
            active=self.lengths,
            cell_text=self.text,
            precision=self.precision,
        )


class SortedRows:
    """Operands with their rows in the order that the core wants, longest first."""

    def __init__(self, operands: Operands) -> None:
        operands.check()
        self.ragged: Ragged | None = None
        if operands.lengths is not None:
            steps = operands.x.shape[0] - known_cell(operands.text).cell.input_history
            self.ragged = Ragged.of_lengths(operands.lengths, steps)
            if self.ragged.active is None:  # all are as long as the batch
                self.ragged = None
        self.operands = operands

    @cached_property
    def call(self) -> LayerCall:
        """The call, its rows in order."""
        if self.ragged is None:
            return self.operands._replace(lengths=None).call
        given = self.operands
        call = given._replace(
            x=self.ordered(given.x, 1),
            x_for_linears=self.ordered(given.x_for_linears, 1),
            initial=[self.ordered(state, 0) for state in given.initial],
            mask_hidden=self.ordered(given.mask_hidden, 0),
            mask_input=self.ordered(given.mask_input, 0),
        ).call
        return call._replace(active=self.ragged.active)

    def ordered(self, tensor: Any, dim: int) -> Any:
        """A tensor of the caller's rows, if there is one, as the core wants it."""
        if tensor is None or self.ragged is None:
            return tensor
        return tensor.index_select(dim, self.ragged.order)

    def undone(self, tensor: Tensor, dim: int) -> Tensor:
        """A tensor of the core's rows, as the caller has them."""
        return tensor if self.ragged is None else tensor.index_select(dim, self.ragged.undo)

    def without_ended(self, x: Tensor) -> Tensor:
        """x, with zeros where rows have ended: the core leaves their memory as it was."""
        if self.ragged is None:
            return x
        ahead = x.shape[0] - self.ragged.steps
        ended = ~rows_at_work(self.ragged.lengths, self.ragged.steps)
        x[ahead:].masked_fill_(ended.unsqueeze(2), 0.0)
        return x
