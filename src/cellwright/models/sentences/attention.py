"""Attention across a pair: what each word finds in the other sentence."""

from __future__ import annotations

import torch
from torch import Tensor

from cellwright.engine.linear import bmm
from cellwright.engine.ragged import Ragged


def attended(words: Tensor, ragged: Ragged) -> Tensor:
    """For each word the mean of the other sentence's words, each as much as it is like it.

    Likeness is the product of their vectors; the shares are its softmax over the words that the
    other sentence has.

    Args:
        words: (words, width) of pairs: as many second sentences follow the first ones.
        ragged: which sentence each is from.
    """
    first, second = ragged.end(words).transpose(0, 1).chunk(2)
    alike = bmm(first, second.transpose(1, 2))
    alike = torch.cat([alike, alike.transpose(1, 2)])
    lengths = ragged.lengths.index_select(0, ragged.undo)
    lengths_of_other = torch.cat(lengths.chunk(2)[::-1])
    steps = torch.arange(ragged.steps, device="cpu")
    beyond = (steps >= lengths_of_other.unsqueeze(1)).unsqueeze(1).to(words.device)
    shares = _softmax(alike.masked_fill(beyond, -torch.inf))
    return ragged.begin(bmm(shares, torch.cat([second, first])).transpose(0, 1))


def _softmax(x: Tensor) -> Tensor:
    """Over the last dimension. The last bits of torch's own gradient differ with the threads."""
    powers = (x - x.detach().amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True)
