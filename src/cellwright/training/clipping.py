"""Gradient clipping that survives very large gradients."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import nn


@torch.no_grad()
def clip_gradients(parameters: Iterable[nn.Parameter], most: float | None) -> float:
    """Scale all gradients so that their norm is at most `most`; the norm that they had.

    Cells of relus can have finite gradients whose squares are too large for float32. Their norm
    is then taken in double precision, where `torch.nn.utils.clip_grad_norm_` finds an infinite
    one and sets all gradients to zero.
    """
    gradients = [p.grad for p in parameters if p.grad is not None]
    if not gradients:
        return 0.0
    norm = float(torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients))))
    if math.isinf(norm):
        norm = math.sqrt(sum(float(g.double().square().sum()) for g in gradients))
    if most is not None and math.isfinite(norm) and norm > most:
        torch._foreach_mul_(gradients, most / norm)
    return norm
