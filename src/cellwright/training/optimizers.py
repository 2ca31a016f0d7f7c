"""Optimizers, and one step of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from cellwright.training.gradients import Gradients
from cellwright.training.settings import TrainingSettings


def make_optimizer(
    parameters: Iterable[nn.Parameter], settings: TrainingSettings
) -> torch.optim.Optimizer:
    """SGD or Adam over all weights."""
    kind = torch.optim.Adam if settings.optimizer == "adam" else torch.optim.SGD
    return kind(
        parameters,
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,  # one pass over the weights instead of five
    )


@torch.no_grad()
def descend(
    optimizer: torch.optim.Optimizer,
    parameters: Sequence[Tensor],
    gradients: Gradients,
    *,
    rate: float,
    clip: float | None = None,
) -> None:
    """One step with these gradients, whose norm is made `clip` where it is larger.

    A parameter without gradient does not move, not even by weight decay. The gradients are used up.
    """
    share = gradients.share(clip)
    there = [value for value in gradients.values if value is not None]
    if share != 1 and there:
        torch._foreach_mul_(there, share)
    for parameter, value in zip(parameters, gradients.values, strict=True):
        parameter.grad = value
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
