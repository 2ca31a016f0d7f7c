"""Gradients of a loss, and clipping that survives very large ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Gradients(NamedTuple):
    """A loss, its gradient by each parameter (None where it has none), and the gradient's norm."""

    loss: float
    values: list[Tensor | None]
    norm: float

    @classmethod
    def of(cls, loss: float, values: Sequence[Tensor | None]) -> Gradients:
        """With the norm of all values together."""
        return cls(loss, list(values), _norm([value for value in values if value is not None]))

    def share(self, most: float | None) -> float:
        """What the values are multiplied by, so that their norm is at most `most`."""
        if most is None or not math.isfinite(self.norm) or self.norm <= most:
            return 1.0
        return most / self.norm


def learned(model: nn.Module) -> list[nn.Parameter]:
    """The parameters of a model that training changes: not those that are frozen."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def gradients_of(loss: Tensor, parameters: Sequence[Tensor]) -> Gradients:
    """By backpropagation."""
    if not loss.requires_grad:  # it depends on none of them
        return Gradients(float(loss), [None] * len(parameters), 0.0)
    values = torch.autograd.grad(loss, list(parameters), allow_unused=True)
    return Gradients.of(float(loss.detach()), values)


@torch.no_grad()
def _norm(values: list[Tensor]) -> float:
    """The norm of all values together.

    Cells of relus can have finite gradients whose squares are too large for float32. Their norm
    is then taken in double precision, where `torch.nn.utils.clip_grad_norm_` finds an infinite
    one and sets all gradients to zero.
    """
    if not values:
        return 0.0
    norm = float(torch.linalg.vector_norm(torch.stack(torch._foreach_norm(values))))
    if math.isinf(norm):
        norm = math.sqrt(sum(float(value.double().square().sum()) for value in values))
    return norm
