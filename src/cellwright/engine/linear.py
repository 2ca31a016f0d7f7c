"""Products outside of cells, on the core: linear layers, and products of batches for attention.

The last bits of torch's own products may differ with the number of threads, and from process to
process. Here they do not, and neither do those of the gradients. Where the core cannot serve, or
torch does more than to compute, torch's own products stand in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cellwright.engine import linear_operators, native_product
from cellwright.engine.native_job import NoMemoryError
from cellwright.engine.torch_gradients import torch_gradients, wanted_of_torch


class Linear(nn.Linear):
    """`nn.Linear`, with the same bits in every run and for any number of threads."""

    def forward(self, input: Tensor, backend: str = "auto") -> Tensor:
        """W·x + b; with the backend "torch", by torch."""
        if backend == "torch":
            return F.linear(input, self.weight, self.bias)
        return linear(input, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x·Wᵀ + b over the last dimension of x, as `torch.nn.functional.linear`.

    >>> x, weight, bias = torch.randn(5, 2, 3), torch.randn(4, 3), torch.randn(4)
    >>> torch.allclose(linear(x, weight, bias), F.linear(x, weight, bias), atol=1e-6)
    True
    """
    given = [x, weight] if bias is None else [x, weight, bias]
    if native_product.serves(given) and _fits(x, weight, bias) and x.numel() and weight.numel():
        return _served(_linear, _Linear, F.linear, given)
    if linear_operators.serves(given) and _fits(x, weight, bias):
        recorded: Tensor = torch.ops.cellwright.linear(x, weight, bias)
        return recorded
    return F.linear(x, weight, bias)


def bmm(a: Tensor, b: Tensor) -> Tensor:
    """The products of two batches of matrices, as `torch.bmm`.

    >>> a, b = torch.randn(3, 2, 5), torch.randn(3, 5, 4)
    >>> torch.allclose(bmm(a, b), torch.bmm(a, b), atol=1e-6)
    True
    """
    fits = a.dim() == b.dim() == 3 and a.shape[0] == b.shape[0] and a.shape[2] == b.shape[1]
    if native_product.serves([a, b]) and fits and a.numel() and b.numel():
        return _served(native_product.product, _Bmm, torch.bmm, [a, b])
    return torch.bmm(a, b)


def _fits(x: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    """Whether there is such a product; torch has the errors."""
    return (
        weight.dim() == 2
        and x.dim() > 0
        and x.shape[-1] == weight.shape[1]
        and (bias is None or bias.shape == weight.shape[:1])
    )


def _served(
    core: Callable[..., Tensor],
    function: type[torch.autograd.Function],
    by_torch: Callable[..., Tensor],
    given: Sequence[Tensor],
) -> Tensor:
    with suppress(NoMemoryError):
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given):
            learning: Tensor = function.apply(*given)  # type: ignore[no-untyped-call]
            return learning
        return core(*given)
    return by_torch(*given)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    if x.dim() == 2:
        return native_product.product(x, weight.t(), bias)
    found = native_product.product(x.reshape(-1, x.shape[-1]), weight.t(), bias)
    return found.view(*x.shape[:-1], -1)


def _linear_gradients(
    gradient: Tensor, given: Sequence[Tensor], needed: Sequence[bool]
) -> list[Tensor | None]:
    x, weight = given[:2]
    gradient = gradient.reshape(-1, gradient.shape[-1])
    found: list[Tensor | None] = [None] * len(given)
    if needed[0]:
        found[0] = native_product.product(gradient, weight).view(x.shape)
    if any(needed[1:]):
        both = native_product.product_and_sums(gradient, x.reshape(-1, x.shape[-1]))
        found[1:] = (
            tensor if need else None for tensor, need in zip(both, needed[1:], strict=False)
        )
    return found


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> Tensor:
        ctx.save_for_backward(*given)
        return _linear(*given)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        given, needed = ctx.saved_tensors, ctx.needs_input_grad
        if wanted_of_torch([gradient]):
            return _by_torch(F.linear, given, needed, gradient)
        return tuple(_linear_gradients(gradient, given, needed))


class _Bmm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(a, b)
        return native_product.product(a, b)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        a, b = ctx.saved_tensors
        needed = ctx.needs_input_grad
        if wanted_of_torch([gradient]):
            return _by_torch(torch.bmm, (a, b), needed, gradient)
        d_a = native_product.product(gradient, b.transpose(1, 2)) if needed[0] else None
        d_b = native_product.product(a.transpose(1, 2), gradient) if needed[1] else None
        return d_a, d_b


def _by_torch(
    function: Callable[..., Tensor],
    given: Sequence[Tensor],
    needed: Sequence[bool],
    gradient: Tensor,
) -> tuple[Tensor | None, ...]:
    return tuple(torch_gradients(lambda tensors: [function(*tensors)], given, needed, [gradient]))


linear_operators.define(linear, _linear_gradients)
