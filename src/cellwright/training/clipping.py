"""Gradient norms and clipping that survive very large gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


@torch.no_grad()
def gradient_norm(gradients: Sequence[Tensor]) -> float:
    """The norm of all gradients together.

    Cells of relus can have finite gradients whose squares are too large for float32. Their norm
    is then taken in double precision, where `torch.nn.utils.clip_grad_norm_` finds an infinite
    one and sets all gradients to zero.
    """
    if not gradients:
        return 0.0
    norm = float(torch.linalg.vector_norm(torch.stack(torch._foreach_norm(list(gradients)))))
    if math.isinf(norm):
        norm = math.sqrt(sum(float(g.double().square().sum()) for g in gradients))
    return norm


def share_within(norm: float, most: float | None) -> float:
    """What gradients of that norm are multiplied by, so that it is at most `most`."""
    return 1.0 if most is None or not math.isfinite(norm) or norm <= most else most / norm
