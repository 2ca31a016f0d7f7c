"""The carried state of a `Recurrent`: its shape for the caller, and its parts per layer.

A cell with one state and no history has a tensor, as `nn.GRU`; every other cell has a
tuple: one tensor per state, as `nn.LSTM`, then, for cells that look further back,

- per state, its older values: (layers · directions, steps back − 1, batch, hidden),
- per layer, its past inputs: (directions, steps back, batch, width of the layer's input),

both with the nearest step first.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from cellwright.cell import Cell

State = Tensor | tuple[Tensor, ...]


@dataclass(frozen=True)
class StateShape:
    """What the state of one `Recurrent` looks like."""

    states: int
    state_history: int
    input_history: int
    layers: int
    directions: int
    hidden_size: int
    input_sizes: tuple[int, ...]

    @classmethod
    def of(
        cls, cell: Cell, layers: int, directions: int, hidden_size: int, input_sizes: list[int]
    ) -> StateShape:
        """The shape for a cell in a stack of layers."""
        return cls(
            len(cell.states), cell.state_history, cell.input_history,
            layers, directions, hidden_size, tuple(input_sizes),
        )  # fmt: skip

    @property
    def is_tensor(self) -> bool:
        """Whether the state is one tensor instead of a tuple."""
        return self.states == 1 and self.state_history == 1 and self.input_history == 0

    def sizes(self, batch: int) -> list[tuple[int, ...]]:
        """The sizes of all tensors of the state."""
        stack = self.layers * self.directions
        sizes: list[tuple[int, ...]] = [(stack, batch, self.hidden_size)] * self.states
        if self.state_history > 1:
            older = (stack, self.state_history - 1, batch, self.hidden_size)
            sizes += [older] * self.states
        if self.input_history:
            sizes += [
                (self.directions, self.input_history, batch, size) for size in self.input_sizes
            ]
        return sizes

    def zeros(self, batch: int, like: Tensor) -> list[Tensor]:
        """The state before the first step."""
        return [like.new_zeros(size) for size in self.sizes(batch)]

    def checked(self, state: State, batch: int, like: Tensor) -> list[Tensor]:
        """The tensors of a state that the caller gave, or the error `nn.LSTM` users know."""
        tensors = [state] if isinstance(state, Tensor) else list(state)
        sizes = self.sizes(batch)
        if len(tensors) != len(sizes):
            raise RuntimeError(
                f"Expected a state of {len(sizes)} tensors {sizes}, got {len(tensors)}"
            )
        for number, (tensor, size) in enumerate(zip(tensors, sizes, strict=True)):
            name = "hidden" if self.is_tensor else f"hidden[{number}]"
            if tuple(tensor.shape) != size:
                raise RuntimeError(f"Expected {name} size {size}, got {list(tensor.shape)}")
            if tensor.dtype != like.dtype:
                raise ValueError(f"{name} must have the type {like.dtype}, got type {tensor.dtype}")
        return tensors

    def initial(self, tensors: list[Tensor], layer: int, direction: int) -> list[Tensor]:
        """A layer's states, for each of them nearest step first."""
        at = layer * self.directions + direction
        result = []
        for state in range(self.states):
            result.append(tensors[state][at])
            if self.state_history > 1:
                result += tensors[self.states + state][at].unbind(0)
        return result

    def past_input(self, tensors: list[Tensor], layer: int, direction: int) -> Tensor | None:
        """A layer's past inputs, oldest first, or None for a cell that reads none."""
        if not self.input_history:
            return None
        first = self.states * (2 if self.state_history > 1 else 1)
        return tensors[first + layer][direction].flip(0)

    def joined(self, finals: list[list[Tensor]], past: list[list[Tensor]]) -> State:
        """The state from each layer's final states, and each layer's past inputs."""
        history = self.state_history
        tensors = [
            _joined([final[state * history] for final in finals]) for state in range(self.states)
        ]
        if history > 1:
            tensors += [
                torch.cat(
                    [torch.stack(f[state * history + 1 : (state + 1) * history], 1) for f in finals]
                )
                for state in range(self.states)
            ]
        if self.input_history:
            tensors += [torch.stack([one.flip(0) for one in layer]) for layer in past]
        return tensors[0] if self.is_tensor else tuple(tensors)

    def on_batch(self, tensors: list[Tensor], order: Tensor) -> list[Tensor]:
        """The same state with its rows in another order."""
        return [tensor.index_select(tensor.dim() - 2, order) for tensor in tensors]


def _joined(tensors: list[Tensor]) -> Tensor:
    """`torch.cat`, without the copy for one tensor."""
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors)
