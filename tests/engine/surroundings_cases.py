"""What the tests of traces, transforms and odd tensors share."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from support import on
from torch import Tensor
from torch.func import grad, jacrev, jvp, vmap
from torch.utils.checkpoint import checkpoint

from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent, native_backend

STEPS, BATCH, WIDTH = 5, 3, 4

marks = [
    pytest.mark.skipif(not native_backend.available(), reason="the core is not built"),
    pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
    pytest.mark.filterwarnings("ignore:the native backend does not serve"),
]


def network(cell: str = "lstm", **options: Any) -> Recurrent:
    torch.manual_seed(0)
    return Recurrent(zoo[cell], WIDTH, 6, **options)


def numbers(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(
        *shape or (STEPS, BATCH, WIDTH), generator=torch.Generator().manual_seed(seed)
    )


X, OTHER = numbers(), numbers(seed=2)


def on_torch(module: Recurrent, *arguments: Any, **options: Any) -> Any:
    """What a copy of the module on the torch backend gives."""
    return on(copy.deepcopy(module), "torch")(*arguments, **options)


def near(found: Tensor, expected: Tensor, atol: float = 1e-5) -> bool:
    assert found.dtype == expected.dtype
    return torch.allclose(found, expected, rtol=1e-4, atol=atol)


def by_vmap(function: Callable[[Tensor], Tensor]) -> Tensor:
    return vmap(function)(torch.stack([X, OTHER]))


def by_grad(function: Callable[[Tensor], Tensor]) -> Tensor:
    return grad(lambda x: function(x).square().sum())(OTHER)


def by_jvp(function: Callable[[Tensor], Tensor]) -> Tensor:
    return jvp(function, (OTHER,), (X,))[1]


def by_jacrev(function: Callable[[Tensor], Tensor]) -> Tensor:
    return jacrev(lambda x: function(x).sum((0, 1)))(OTHER)


def by_dual_numbers(function: Callable[[Tensor], Tensor]) -> Tensor:
    with torch.no_grad(), forward_ad.dual_level():
        return forward_ad.unpack_dual(function(forward_ad.make_dual(OTHER, X))).tangent


def by_many_gradients(function: Callable[[Tensor], Tensor]) -> Tensor:
    x = OTHER.clone().requires_grad_()
    y = function(x)
    many = torch.stack([torch.ones_like(y), torch.full_like(y, 2.0), y.detach().cos()])
    return torch.autograd.grad(y, x, many, is_grads_batched=True)[0]


def by_functionalize(function: Callable[[Tensor], Tensor]) -> Tensor:
    return torch.func.functionalize(function)(OTHER)


def by_checkpoint(function: Callable[[Tensor], Tensor]) -> Tensor:
    x = OTHER.clone().requires_grad_()
    y = checkpoint(function, x, use_reentrant=False)
    return torch.autograd.grad(y.sum(), x)[0]


WAYS = [
    by_vmap, by_grad, by_jvp, by_jacrev, by_dual_numbers, by_many_gradients, by_functionalize,
    by_checkpoint,
]  # fmt: skip
