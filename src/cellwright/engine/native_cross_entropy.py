"""The cross-entropy over a vocabulary on the C++ core: CPU, float32."""

from __future__ import annotations

import torch
from torch import Tensor

from cellwright.engine import native_backend, surroundings
from cellwright.engine.native_backend import _native, threads_for
from cellwright.engine.native_job import NoMemoryError
from cellwright.engine.native_memory import address


def serves(hidden: Tensor, weight: Tensor, bias: Tensor | None, precision: str) -> bool:
    """Whether the core computes with such tensors, in this precision."""
    tensors = (hidden, weight) if bias is None else (hidden, weight, bias)
    return native_backend.available(precision) and surroundings.unfit(tensors) is None


def run(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    wanted: tuple[bool, ...],
    precision: str = "float32",
) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    """Each row's loss, and the wanted gradients of their mean by hidden, weight and bias."""
    assert _native is not None
    hidden, weight, targets = hidden.contiguous(), weight.contiguous(), targets.contiguous()
    bias = None if bias is None else bias.contiguous()
    (rows, width), words = hidden.shape, len(weight)
    losses = hidden.new_empty(rows)
    gradients = tuple(
        torch.empty_like(tensor) if tensor is not None and want else None
        for tensor, want in zip((hidden, weight, bias), wanted, strict=True)
    )
    given = [tensor.data_ptr() for tensor in (hidden, weight, targets)]
    if 0 in given or (bias is not None and not bias.data_ptr()):
        raise NoMemoryError
    _native.cross_entropy(
        rows=rows,
        width=width,
        words=words,
        hidden=given[0],
        weight=given[1],
        bias=address(bias),
        targets=given[2],
        losses=losses.data_ptr(),
        d_hidden=address(gradients[0]),
        d_weight=address(gradients[1]),
        d_bias=address(gradients[2]),
        bfloat16=precision == "bfloat16",
        threads=threads_for(rows * width * words),
    )
    return losses, gradients
