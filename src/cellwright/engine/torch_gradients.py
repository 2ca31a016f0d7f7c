"""Gradients that the core cannot give, by way of torch: the forward pass again, and autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def wanted_of_torch(gradients: Sequence[Tensor | None]) -> bool:
    """Whether the gradients that arrive are for torch.

    They are if those that come out will be differentiated again (create_graph=True), or if several
    come at once (vmap) and are no memory.
    """
    if torch.is_grad_enabled():
        return True
    try:
        return not all(gradient is None or gradient.data_ptr() for gradient in gradients)
    except RuntimeError:
        return True


def torch_gradients(
    function: Callable[[list[Tensor]], Sequence[Tensor]],
    arguments: Sequence[Tensor],
    needed: Sequence[bool],
    gradients: Sequence[Tensor | None],
) -> list[Tensor | None]:
    """The gradients of the arguments that are needed, from those of what `function` returns."""
    again = torch.is_grad_enabled()
    if again:
        # Aliases, because the arguments may depend on each other, and each is asked for alone.
        inputs = [tensor.view_as(tensor) for tensor in arguments]
    else:
        pairs = zip(arguments, needed, strict=True)
        inputs = [tensor.detach().requires_grad_(need) for tensor, need in pairs]
    with torch.enable_grad():
        results = function(inputs)
    reached = [
        (value, gradient)
        for value, gradient in zip(results, gradients, strict=True)
        if gradient is not None and value.requires_grad
    ]
    found = iter(
        torch.autograd.grad(
            [value for value, _ in reached],
            [tensor for tensor, need in zip(inputs, needed, strict=True) if need],
            [gradient for _, gradient in reached],
            create_graph=again,
            allow_unused=True,
        )
    )
    return [next(found) if need else None for need in needed]
