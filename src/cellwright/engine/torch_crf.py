"""The linear-chain CRF in plain torch: any device and dtype. The native core is tested against it.

What is forbidden has the score −∞ here, in `transitions`, `start` and `end`. Tensors are as
`cellwright.engine.crf` has checked them, with `lengths` on the device of the scores.
"""

from __future__ import annotations

import torch
from torch import Tensor

PADDING = -1
"""What stands behind the end of a path."""


def log_partition(
    scores: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> Tensor:
    """log Σ e^score over all paths of each sentence; 0 for one without steps, −∞ for no path."""
    if scores.shape[1] == 0:
        return scores.new_zeros(len(scores))
    scores = _without_padding(scores, lengths)
    reached = start + scores[:, 0]
    for t in range(1, scores.shape[1]):
        after = _log_sum(reached.unsqueeze(2) + transitions) + scores[:, t]
        reached = torch.where((t < lengths).unsqueeze(1), after, reached)
    total = _log_sum((reached + end).unsqueeze(2)).squeeze(1)
    return torch.where(lengths > 0, total, torch.zeros_like(total))


def path_scores(
    scores: Tensor,
    tags: Tensor,
    lengths: Tensor,
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
) -> Tensor:
    """The score of one path of each sentence: (batch,)."""
    batch, steps, _ = scores.shape
    if steps == 0:
        return scores.new_zeros(batch)
    there = _steps(scores) < lengths.unsqueeze(1)
    tags = torch.where(there, tags, torch.zeros_like(tags))
    nothing = scores.new_zeros(())
    emitted = _without_padding(scores, lengths).gather(2, tags.unsqueeze(2)).squeeze(2)
    passed = torch.where(there[:, 1:], transitions[tags[:, :-1], tags[:, 1:]], nothing)
    last = tags.gather(1, (lengths - 1).clamp_min(0).unsqueeze(1)).squeeze(1)
    ends = torch.where(lengths > 0, start[tags[:, 0]] + end[last], nothing)
    return torch.where(there, emitted, nothing).sum(1) + passed.sum(1) + ends


def marginals(
    scores: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> Tensor:
    """The probability of each tag at each step: the gradient of the log partition."""
    with torch.enable_grad():
        leaf = scores.detach().requires_grad_()
        total = log_partition(leaf, lengths, transitions.detach(), start.detach(), end.detach())
        if not total.requires_grad:  # there are no steps
            return torch.zeros_like(scores)
        [found] = torch.autograd.grad(total.sum(), leaf)
    return found


def best_paths(
    scores: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor, n: int
) -> tuple[Tensor, Tensor]:
    """The n best paths, (batch, n, steps), and their scores, (batch, n), in double precision.

    A state is a tag and a rank: for each tag the n best paths that end there.
    """
    (batch, steps, tags), dtype = scores.shape, scores.dtype
    if scores.device.type != "mps":  # which has no double precision
        scores, transitions, start, end = (t.double() for t in (scores, transitions, start, end))
    nowhere = scores.new_full((batch, n), -torch.inf)
    nowhere[:, 0] = 0.0
    if steps == 0:
        return lengths.new_empty(batch, n, 0), nowhere.to(dtype)
    best = scores.new_full((batch, tags, n), -torch.inf)
    best[:, :, 0] = start + scores[:, 0]
    stay = torch.arange(tags * n, device=scores.device).expand(batch, -1)
    origins = []
    for t in range(1, steps):
        candidates = best.unsqueeze(3) + transitions.unsqueeze(1)  # (batch, from, rank, to)
        ordered, origin = _largest(candidates.flatten(1, 2), n)
        after = (ordered + scores[:, t].unsqueeze(1)).transpose(1, 2)
        here = (t < lengths).view(batch, 1)
        best = torch.where(here.unsqueeze(2), after, best)
        origins.append(torch.where(here, origin.transpose(1, 2).flatten(1), stay))
    found, state = _largest((best + end.unsqueeze(1)).flatten(1), n)
    path = [state // n]
    for origin in reversed(origins):
        state = origin.gather(1, state)
        path.append(state // n)
    found = torch.where((lengths > 0).unsqueeze(1), found, nowhere)
    there = _steps(scores).unsqueeze(1) < lengths.view(batch, 1, 1)
    there = there & ~found.isneginf().unsqueeze(2)
    return torch.stack(path[::-1], dim=2).masked_fill(~there, PADDING), found.to(dtype)


def _largest(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """The n largest along dim 1, best first, and where they are; of equal ones the first."""
    if n == 1:  # which needs no sorting
        value, place = x.max(dim=1, keepdim=True)
        return value, place
    value, place = x.sort(dim=1, descending=True, stable=True)
    return value[:, :n], place[:, :n]


def _log_sum(x: Tensor) -> Tensor:
    """log Σ e^x over dim 1. Torch's own gives −∞ for nothing but −∞ too, but then NaN gradients."""
    dead = x.isneginf().all(dim=1, keepdim=True)
    total = x.masked_fill(dead, 0.0).logsumexp(dim=1)
    return total.masked_fill(dead.squeeze(1), -torch.inf)


def _without_padding(scores: Tensor, lengths: Tensor) -> Tensor:
    beyond = _steps(scores) >= lengths.unsqueeze(1)
    return scores.masked_fill(beyond.unsqueeze(2), 0.0)


def _steps(scores: Tensor) -> Tensor:
    return torch.arange(scores.shape[1], device=scores.device).unsqueeze(0)
