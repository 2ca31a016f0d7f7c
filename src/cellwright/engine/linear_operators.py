"""A linear layer on the core as an operator of torch, for graphs; see `operators`.

`cellwright::linear` is `torch.nn.functional.linear`, and `cellwright::linear_gradients` its
backward pass. Both have the bits of eager mode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from cellwright.engine import native_backend, native_product, surroundings
from cellwright.engine.torch_gradients import torch_gradients, wanted_of_torch


def serves(given: list[Tensor]) -> bool:
    """Whether torch records operations here, and the core will serve this one."""
    return (
        surroundings.takes_operators()
        and native_backend.available()
        and surroundings.unfit_for_graph(given) is None
    )


def define(
    forward: Callable[..., Tensor],
    gradients: Callable[[Tensor, list[Tensor], list[bool]], list[Tensor | None]],
) -> None:
    """Make the operators, of what computes them at once."""

    def linear(*given: Tensor | None) -> Tensor:
        with torch.no_grad():
            return forward(*given)

    def linear_gradients(
        gradient: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None, needed: list[bool]
    ) -> list[Tensor]:
        with torch.no_grad():
            given = [x, weight] if bias is None else [x, weight, bias]
            if gradient.numel() and x.numel() and native_product.serves([gradient, *given]):
                found = gradients(gradient, given, needed)
            else:
                found = torch_gradients(_by_torch, given, needed, [gradient])
            return [tensor for tensor in found if tensor is not None]

    operands = "Tensor x, Tensor weight, Tensor? bias"
    _define(f"linear({operands}) -> Tensor", linear, _shape)
    _define(
        f"linear_gradients(Tensor gradient, {operands}, bool[] needed) -> Tensor[]",
        linear_gradients,
        _gradient_shapes,
    )
    _library.impl("linear", _with_gradients, "Autograd")  # type: ignore[no-untyped-call]
    _library.impl("linear", F.linear, "FuncTorchBatchedDecomposition")  # type: ignore[no-untyped-call]


def _shape(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


def _gradient_shapes(
    gradient: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None, needed: list[bool]
) -> list[Tensor]:
    pairs = zip((x, weight, bias), needed, strict=False)
    return [tensor.new_empty(tensor.shape) for tensor, need in pairs if need and tensor is not None]


def _by_torch(given: list[Tensor]) -> list[Tensor]:
    return [F.linear(*given)]


class _Recorded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> Tensor:
        ctx.save_for_backward(*given)
        with torch._C._AutoDispatchBelowAutograd():
            found: Tensor = torch.ops.cellwright.linear(*given[:2], given[2] if given[2:] else None)
        return found

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        given, needed = list(ctx.saved_tensors), list(ctx.needs_input_grad)
        # What stands for a tensor while a graph is recorded is no reason for torch.
        if wanted_of_torch([gradient] if type(gradient) is Tensor else []):
            return tuple(torch_gradients(_by_torch, given, needed, [gradient]))
        found = iter(
            torch.ops.cellwright.linear_gradients(
                gradient, *given[:2], given[2] if given[2:] else None, needed
            )
        )
        return tuple(next(found) if need else None for need in needed)


def _with_gradients(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    given = [x, weight] if bias is None else [x, weight, bias]
    if surroundings.needs_torch():
        return F.linear(x, weight, bias)
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given):
        learning: Tensor = _Recorded.apply(*given)  # type: ignore[no-untyped-call]
        return learning
    with torch._C._AutoDispatchBelowAutograd():
        found: Tensor = torch.ops.cellwright.linear(x, weight, bias)
    return found


_library = torch.library.Library("cellwright", "FRAGMENT")  # type: ignore[no-untyped-call]


def _define(schema: str, kernel: Any, shapes: Any) -> None:
    name = schema.partition("(")[0]
    _library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))  # type: ignore[no-untyped-call]
    _library.impl(name, kernel, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
    torch.library.register_fake(f"cellwright::{name}", shapes, lib=_library)
