"""What a backend is asked to do: run one layer in one direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from cellwright.cell import Cell
from cellwright.engine.kept_weights import KeptWeights


@dataclass(frozen=True)
class LayerCall:
    """One layer, one direction, all time steps.

    Args:
        cell: a simplified cell.
        x: (history + steps, batch, input); past inputs stand in front, oldest first.
        x_for_linears: the same through dropout; `x` itself where there is none.
        initial: for each state, its values at the last steps before the first, nearest first.
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
    """

    cell: Cell
    x: Tensor
    x_for_linears: Tensor
    initial: list[Tensor]
    weights: Mapping[tuple[str, int], Tensor]
    biases: Mapping[str, Tensor]
    mask_hidden: Tensor | None
    mask_input: Tensor | None
    theta: Mapping[str, Tensor]
    active: list[int] | Tensor | None
    cell_text: str = ""
    kept: KeptWeights | None = None
    precision: str = "float32"

    @property
    def steps(self) -> int:
        """The number of time steps."""
        return self.x.shape[0] - self.cell.input_history

    @property
    def hidden_size(self) -> int:
        """How wide states are."""
        return self.initial[0].shape[1]


@dataclass(frozen=True)
class LayerResult:
    """The outputs (steps, batch, hidden), and the last states in the order of `initial`."""

    output: Tensor
    final: list[Tensor]
