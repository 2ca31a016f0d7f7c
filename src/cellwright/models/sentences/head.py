"""From one vector of an example to its label or score."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cellwright.engine.linear import Linear


class Head(nn.Module):
    """A layer, and a projection to labels or to one score.

    Args:
        width: of what it reads.
        hidden: of the layer.
        labels: how many there are; 0 for a score.
        activation: of the layer.
        dropout_input: on what it reads.
        dropout_projection: before the projection.
        norm: whether a layer norm follows the activation.
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        labels: int,
        activation: Callable[[Tensor], Tensor],
        *,
        dropout_input: float = 0.0,
        dropout_projection: float = 0.0,
        norm: bool = False,
    ) -> None:
        super().__init__()
        self.feed_forward = Linear(width, hidden)
        self.norm = LayerNorm(hidden) if norm else nn.Identity()
        self.projection = Linear(hidden, labels or 1)
        self._is_score, self._activation = not labels, activation
        self._dropout_input, self._dropout_projection = dropout_input, dropout_projection

    def forward(self, x: Tensor) -> Tensor:
        """(examples, labels), or (examples,) scores."""
        x = F.dropout(x, self._dropout_input, self.training)
        x = self.norm(self._activation(self.feed_forward(x)))
        said: Tensor = self.projection(F.dropout(x, self._dropout_projection, self.training))
        return said.squeeze(1) if self._is_score else said


class LayerNorm(nn.Module):
    """A layer norm with weights. The last bits of torch's own gradient differ with the threads.

    Args:
        width: of what it reads.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        """Rows of mean 0 and deviation 1, scaled and moved."""
        return F.layer_norm(x, x.shape[-1:]) * self.weight + self.bias
