"""What a backend is asked to do: run one layer in one direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor

from cellwright.cell import Cell
from cellwright.engine.kept_weights import KeptWeights


class LayerCall(NamedTuple):
    """One layer, one direction, all time steps.

    Args:
        cell: a simplified cell.
        x: (history + steps, batch, input); past inputs stand in front, oldest first.
        x_for_linears: the same through dropout; `x` itself where there is none.
        hidden_size: how wide states are.
        initial: for each state, its values at the last steps before the first, nearest first; None
            for zeros.
        weights: by linear and input's position.
        biases: by linear or vector.
        mask_hidden: (batch, hidden), on hidden-wide operands of linears.
        mask_input: (batch, input), on input-wide operands of linears other than x itself.
        theta: for each `mix`, by its name.
        active: how many rows are at work at each step, never growing; None if always all. Where
            numbers may not be looked at, each row's length: (batch).
        cell_text: the cell as JSON, for graphs that are to be run without this object.
        kept: where the core may leave the weights as it has them in memory, for later calls.
        precision: of what the cell's matrix products multiply (`cellwright.engine.bfloat16`).
        backwards: whether x was turned round for this direction.
    """

    cell: Cell
    x: Tensor
    x_for_linears: Tensor
    hidden_size: int
    initial: list[Tensor] | None
    weights: Mapping[tuple[str, int], Tensor]
    biases: Mapping[str, Tensor]
    mask_hidden: Tensor | None
    mask_input: Tensor | None
    theta: Mapping[str, Tensor]
    active: list[int] | Tensor | None
    cell_text: str = ""
    kept: KeptWeights | None = None
    precision: str = "float32"
    backwards: bool = False

    @property
    def steps(self) -> int:
        """The number of time steps."""
        return self.x.shape[0] - self.cell.input_history

    def states_before(self) -> list[Tensor]:
        """The initial states as tensors, whether they were given or not."""
        if self.initial is not None:
            return self.initial
        count = len(self.cell.states) * self.cell.state_history
        return [self.x.new_zeros(self.x.shape[1], self.hidden_size) for _ in range(count)]


class LayerResult(NamedTuple):
    """The outputs (steps, batch, hidden), and the last states in the order of `initial`, each of
    them (1, batch, hidden).

    Of a layer in both directions, outputs stand side by side, at the steps of their x, and states
    one after the other: (steps, batch, 2 hidden) and (2, batch, hidden).
    """

    output: Tensor
    final: list[Tensor]
