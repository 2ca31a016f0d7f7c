"""The cross-entropy over a vocabulary on the C++ core: CPU, float32."""

from __future__ import annotations

import torch
from torch import Tensor

from cellwright.engine.native_backend import _native, threads_for


def serves(hidden: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    """Whether these tensors are of the kind that the core computes with."""
    tensors = (hidden, weight) if bias is None else (hidden, weight, bias)
    return _native is not None and all(
        tensor.is_cpu and tensor.dtype is torch.float32 for tensor in tensors
    )


def run(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    wanted: tuple[bool, ...],
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
    _native.cross_entropy(
        rows=rows,
        width=width,
        words=words,
        hidden=hidden.data_ptr(),
        weight=weight.data_ptr(),
        bias=_address(bias),
        targets=targets.data_ptr(),
        losses=losses.data_ptr(),
        d_hidden=_address(gradients[0]),
        d_weight=_address(gradients[1]),
        d_bias=_address(gradients[2]),
        threads=threads_for(rows * width * words),
    )
    return losses, gradients


def _address(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()
