"""From the words of each sentence to one vector.

Words are those that `Ragged` keeps: what lies behind a sentence's end is neither read nor made.
Results and gradients do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cellwright.engine.ragged import Ragged


def largest(words: Tensor, ragged: Ragged, *, at_least_zero: bool = False) -> Tensor:
    """Of each feature the largest value that a sentence's words have, (sentences, width).

    Words that share a largest value share its gradient.

    Args:
        words: (words, width).
        ragged: which sentence each is from.
        at_least_zero: whether a 0 counts too.
    """
    found: Tensor = _Largest.apply(words, ragged)  # type: ignore[no-untyped-call]
    return found.clamp(min=0) if at_least_zero else found


def mean(words: Tensor, ragged: Ragged) -> Tensor:
    """The mean of each sentence's words, (sentences, width)."""
    sums = words.new_zeros(len(ragged.lengths), words.shape[1])
    sums = sums.index_add(0, ragged.word_rows.to(words.device), words)
    return sums / _lengths(ragged).to(words).unsqueeze(1)


def _lengths(ragged: Ragged) -> Tensor:
    """Of the sentences, in the caller's order."""
    return ragged.lengths.index_select(0, ragged.undo)


class _Largest(torch.autograd.Function):
    """The maximum step by step; torch's own ways need padding, or take longer."""

    @staticmethod
    def forward(ctx: Any, words: Tensor, ragged: Ragged) -> Tensor:
        counts: list[int] = ragged.sizes.tolist()
        best, start = words[: counts[0]].clone(), counts[0]
        for count in counts[1:]:
            at_work = best[:count]
            torch.maximum(at_work, words[start : start + count], out=at_work)
            start += count
        best = best.index_select(0, ragged.undo.to(words.device))
        ctx.save_for_backward(words, best, ragged.word_rows.to(words.device))
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        words, best, rows = ctx.saved_tensors
        reaches = (words == best.index_select(0, rows)).to(words.dtype)
        counts = torch.zeros_like(best).index_add_(0, rows, reaches)
        return reaches * (gradient / counts).index_select(0, rows), None
