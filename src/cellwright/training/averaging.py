"""Averaged SGD with the non-monotonic trigger (Merity et al. 2018, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn


class Average:
    """The running mean of a model's weights, from the step at which it was made."""

    def __init__(self, model: nn.Module) -> None:
        self.steps = 0
        self.tensors = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Take in the weights after a step. As in torch's ASGD, the first step is left out."""
        self.steps += 1
        for name, parameter in model.named_parameters():
            self.tensors[name].lerp_(parameter, 1 / max(1, self.steps - 1))

    @torch.no_grad()
    def exchange(self, model: nn.Module) -> None:
        """Put the mean into the model and the model's weights here; a second call undoes it."""
        for name, parameter in model.named_parameters():
            here = self.tensors[name].clone()
            self.tensors[name].copy_(parameter)
            parameter.copy_(here)

    def restore(self, tensors: Mapping[str, Tensor], steps: int) -> None:
        """Go on from an earlier mean."""
        self.tensors = {name: tensors[name].clone() for name in self.tensors}
        self.steps = steps


def should_average(valid: float, earlier: Sequence[float], after: int | None) -> bool:
    """Whether the newest validation loss is worse than the best of `after` epochs ago."""
    return after is not None and len(earlier) > after and valid > min(earlier[:-after])
