"""Cross-entropy over a large vocabulary, straight from the hidden vectors.

The scores of all words at all positions, T·B·V numbers, are never held at once: rows are taken
in chunks, and the gradients of a chunk are made while its scores are at hand. On the native
core the result is the same in every run and for any number of threads. Where torch does more than
to compute (traces, graphs, transforms, gradients of gradients), it gets the plain formula.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from cellwright.engine import bfloat16, native_cross_entropy, surroundings
from cellwright.engine.native_job import NoMemoryError
from cellwright.engine.torch_gradients import torch_gradients, wanted_of_torch

CHUNK_SCORES = 1 << 22
"""How many scores the torch path holds at once."""


def linear_cross_entropy(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    precision: str = "float32",
) -> Tensor:
    """The mean of −log softmax(W·h + b)[target] over all rows, in nats.

    Args:
        hidden: (rows, width).
        weight: (words, width).
        bias: (words,), or None.
        targets: (rows,), the numbers of the right words.
        precision: of what the products multiply (`cellwright.engine.bfloat16`).

    >>> torch.manual_seed(0)  # doctest: +ELLIPSIS
    <torch._C.Generator object at ...>
    >>> h, w, right = torch.randn(4, 3), torch.randn(7, 3), torch.tensor([0, 6, 2, 2])
    >>> ours = linear_cross_entropy(h, w, None, right)
    >>> torch.allclose(ours, torch.nn.functional.cross_entropy(h @ w.t(), right))
    True
    """
    bfloat16.checked_precision(precision)
    if not _check(hidden, weight, bias, targets):
        return _formula(hidden, weight, bias, targets, precision).mean()
    if not torch.is_grad_enabled():
        return token_losses(hidden, weight, bias, targets, precision).mean()
    mean: Tensor = _MeanLoss.apply(hidden, weight, bias, targets, precision)  # type: ignore[no-untyped-call]
    return mean


def token_losses(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    precision: str = "float32",
) -> Tensor:
    """−log softmax(W·h + b)[target] of each row, without gradients."""
    bfloat16.checked_precision(precision)
    usual = _check(hidden, weight, bias, targets)
    with torch.no_grad():
        if not usual:
            return _formula(hidden, weight, bias, targets, precision)
        nothing = (False, False, False)
        return _losses_and_gradients(hidden, weight, bias, targets, nothing, precision)[0]


def _check(hidden: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor) -> bool:
    """Look for what is wrong; False where torch has to get the formula and its own checks.

    That is where it does more than to compute, or where tensors are unusual.
    """
    if hidden.dim() != 2 or weight.dim() != 2 or hidden.shape[1] != weight.shape[1]:
        raise ValueError(
            "hidden must be (rows, width) and weight (words, width), "
            f"not {tuple(hidden.shape)} and {tuple(weight.shape)}"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"bias must be ({weight.shape[0]},), not {tuple(bias.shape)}")
    if targets.shape != hidden.shape[:1]:
        raise ValueError(f"targets must be ({hidden.shape[0]},), not {tuple(targets.shape)}")
    if targets.dtype != torch.long:
        raise ValueError(f"targets must be torch.long, not {targets.dtype}")
    if targets.device != hidden.device:
        raise ValueError(f"targets must be on {hidden.device} as hidden is, not {targets.device}")
    if not len(targets):
        raise ValueError("there are no rows: a mean over nothing is not a number")
    tensors = (hidden, weight, targets) if bias is None else (hidden, weight, bias, targets)
    if surroundings.transformed() is not None or not surroundings.ordinary(tensors):
        return False
    least, most = torch.aminmax(targets)
    if int(least) < 0 or int(most) >= weight.shape[0]:
        raise ValueError(f"a target is outside of the {weight.shape[0]} words")
    return True


def _formula(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, precision: str
) -> Tensor:
    if precision == "bfloat16":
        scores = bfloat16.product(bfloat16.rounded(hidden), bfloat16.rounded(weight))
        scores = scores if bias is None else scores + bias
    else:
        scores = F.linear(hidden, weight, bias)
    return F.cross_entropy(scores, targets, reduction="none")


class _MeanLoss(torch.autograd.Function):
    """Makes the gradients along with the loss, while the scores are at hand."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        precision: str,
    ) -> Tensor:
        wanted = tuple(ctx.needs_input_grad[:3])
        ctx.precision = precision
        losses, ctx.gradients = _losses_and_gradients(
            hidden, weight, bias, targets, wanted, precision
        )
        ctx.save_for_backward(hidden, weight, bias, targets)
        return losses.mean()

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight, bias, targets = ctx.saved_tensors
        wanted = tuple(ctx.needs_input_grad[:3])
        if wanted_of_torch([upstream]):
            found = _gradients_by_formula(
                hidden, weight, bias, targets, wanted, upstream, ctx.precision
            )
            return (*found, None, None)
        # The first pass gives its gradients away uncopied; another one makes them anew.
        gradients, ctx.gradients = ctx.gradients, None
        if gradients is None:
            gradients = _losses_and_gradients(hidden, weight, bias, targets, wanted, ctx.precision)[
                1
            ]
        if float(upstream) != 1.0:
            for gradient in gradients:
                if gradient is not None:
                    gradient.mul_(upstream)
        return (*gradients, None, None)


def _gradients_by_formula(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    wanted: tuple[bool, ...],
    upstream: Tensor,
    precision: str,
) -> list[Tensor | None]:
    def again(inputs: list[Tensor]) -> list[Tensor]:
        bias = inputs[2] if inputs[2:] else None
        return [_formula(inputs[0], inputs[1], bias, targets, precision).mean()]

    given = [hidden, weight] if bias is None else [hidden, weight, bias]
    found = torch_gradients(again, given, wanted[: len(given)], [upstream])
    return found if len(found) == 3 else [*found, None]


Gradients = tuple[Tensor | None, ...]


def _losses_and_gradients(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    wanted: tuple[bool, ...],
    precision: str,
) -> tuple[Tensor, Gradients]:
    """Each row's loss, and the gradients of their mean by hidden, weight and bias."""
    if native_cross_entropy.serves(hidden, weight, bias, precision):
        with suppress(NoMemoryError):
            return native_cross_entropy.run(hidden, weight, bias, targets, wanted, precision)
    return _in_chunks(hidden, weight, bias, targets, wanted, precision)


def _in_chunks(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    wanted: tuple[bool, ...],
    precision: str = "float32",
) -> tuple[Tensor, Gradients]:
    rows, words = len(hidden), len(weight)
    losses = hidden.new_empty(rows)
    d_hidden = torch.empty_like(hidden) if wanted[0] else None
    d_weight = torch.zeros_like(weight) if wanted[1] else None
    d_bias = torch.zeros_like(bias) if bias is not None and wanted[2] else None
    multiplied = bfloat16.rounded if precision == "bfloat16" else torch.Tensor.detach
    weight = multiplied(weight)
    step = max(1, CHUNK_SCORES // words)
    for first in range(0, rows, step):
        chunk = slice(first, first + step)
        h, right = multiplied(hidden[chunk]), targets[chunk].unsqueeze(1)
        scores = h @ weight.t()
        if bias is not None:
            scores += bias
        scores = scores.log_softmax(dim=1)
        losses[chunk] = -scores.gather(1, right).squeeze(1)
        if not any(wanted):
            continue
        d_scores = scores.exp_()
        d_scores.scatter_add_(1, right, d_scores.new_full((len(h), 1), -1.0))
        d_scores /= rows
        if d_bias is not None:
            d_bias += d_scores.sum(dim=0)
        d_scores = multiplied(d_scores)
        if d_hidden is not None:
            d_hidden[chunk] = d_scores @ weight
        if d_weight is not None:
            d_weight.addmm_(d_scores.t(), h)
    return losses, (d_hidden, d_weight, d_bias)
