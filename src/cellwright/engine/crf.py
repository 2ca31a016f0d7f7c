"""The linear-chain CRF: losses, partition, posteriors, and the best paths of tagged sentences.

The score of a path y is start[y₁] + Σ scores[t, y_t] + Σ transitions[y_{t−1}, y_t] + end[y_n]; its
probability is e^score over the sum of that for all paths (Lafferty et al., 2001). A sentence
without steps has one path, the empty one, of score 0.

What `allowed` forbids has probability 0 exactly and a gradient of 0. A sentence that is left
without any path, and tags that are not allowed, are errors: they have no loss.

On the native core a batch costs one pass forward and one back, and gradients are made along with
the losses; results are the same in every run and for any number of threads. The CRFs that there are
for torch, such as pytorch-crf, take a handful of small operations for each step, whose overhead is
most of their time (benchmarks/crf.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cellwright.engine import native_crf, torch_crf
from cellwright.engine.crf_checks import (
    Allowed,
    check_chain,
    check_paths,
    check_tags,
    check_tags_shape,
    checked_lengths,
)
from cellwright.engine.native_job import NoMemoryError
from cellwright.engine.torch_gradients import torch_gradients, wanted_of_torch

__all__ = [
    "Allowed",
    "Paths",
    "crf_log_partition",
    "crf_loss",
    "marginals",
    "n_best",
    "viterbi",
]


class Paths(NamedTuple):
    """Tags of paths, −1 behind their ends, and the paths' scores."""

    tags: Tensor
    scores: Tensor


def crf_loss(
    scores: Tensor,
    tags: Tensor,
    lengths: Tensor | Sequence[int],
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    *,
    allowed: Allowed | None = None,
    backend: str = "auto",
) -> Tensor:
    """−log p(tags) of each sentence, (batch,), in nats, with gradients by all scores.

    Args:
        scores: (batch, steps, tags), of each tag at each step.
        tags: (batch, steps), the right tags; what lies behind a sentence's end does not count.
        lengths: (batch,), how many steps each sentence has.
        transitions: (tags, tags), [from, to].
        start: (tags,), of the first tag.
        end: (tags,), of the last tag.
        allowed: which tags may follow each other, begin and end; None for all.
        backend: "native", "torch", or "auto" for native where it can serve.

    >>> scores = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]])
    >>> transitions, ends = torch.zeros(2, 2), torch.zeros(2)
    >>> crf_loss(scores, torch.tensor([[0, 1]]), [2], transitions, ends, ends)
    tensor([0.4402])
    """
    check_chain(scores, transitions, start, end, allowed, backend)
    lengths = checked_lengths(lengths, scores)
    check_tags_shape(tags, scores)
    return _partition((scores, transitions, start, end), tags, lengths, allowed, backend)


def crf_log_partition(
    scores: Tensor,
    lengths: Tensor | Sequence[int],
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    *,
    allowed: Allowed | None = None,
    backend: str = "auto",
) -> Tensor:
    """log Σ e^score over all paths of each sentence, (batch,), with gradients by all scores.

    Arguments are those of `crf_loss`.
    """
    check_chain(scores, transitions, start, end, allowed, backend)
    lengths = checked_lengths(lengths, scores)
    return _partition((scores, transitions, start, end), None, lengths, allowed, backend)


def marginals(
    scores: Tensor,
    lengths: Tensor | Sequence[int],
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    *,
    allowed: Allowed | None = None,
    backend: str = "auto",
) -> Tensor:
    """The probability of each tag at each step, (batch, steps, tags), without gradients.

    It is 0 behind a sentence's end. Arguments are those of `crf_loss`.
    """
    check_chain(scores, transitions, start, end, allowed, backend)
    lengths = checked_lengths(lengths, scores)
    with torch.no_grad():
        chain = (scores, *_forbidding(transitions, start, end, allowed))
        if _native_serves(chain, backend):
            try:
                totals, found = native_crf.run(
                    chain[0], None, lengths, *chain[1:], (True, False, False, False)
                )
                check_paths(totals, lengths)
                assert found[0] is not None
                return found[0]
            except NoMemoryError as error:
                _refuse_if_native(backend, error)
        check_paths(torch_crf.log_partition(chain[0], lengths, *chain[1:]), lengths)
        return torch_crf.marginals(chain[0], lengths, *chain[1:])


def viterbi(
    scores: Tensor,
    lengths: Tensor | Sequence[int],
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    *,
    allowed: Allowed | None = None,
    backend: str = "auto",
) -> Paths:
    """The best path of each sentence: tags (batch, steps), −1 behind its end, and scores (batch,).

    Of paths that are equally good, the one whose last tag is lowest is taken, then that whose last
    but one is, and so on. Arguments are those of `crf_loss`.

    >>> scores = torch.tensor([[[1.0, 0.0], [0.0, 2.0]], [[0.0, 1.0], [0.0, 0.0]]])
    >>> transitions, ends = torch.zeros(2, 2), torch.zeros(2)
    >>> viterbi(scores, [2, 1], transitions, ends, ends)
    Paths(tags=tensor([[ 0,  1],
            [ 1, -1]]), scores=tensor([3., 1.]))
    """
    best = n_best(scores, lengths, transitions, start, end, 1, allowed=allowed, backend=backend)
    return Paths(best.tags.squeeze(1), best.scores.squeeze(1))


def n_best(
    scores: Tensor,
    lengths: Tensor | Sequence[int],
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    n: int,
    *,
    allowed: Allowed | None = None,
    backend: str = "auto",
) -> Paths:
    """The n best paths of each sentence, best first: tags (batch, n, steps), scores (batch, n).

    Where there are fewer than n, the rest has tags of −1 and scores of −∞. Sums are taken in double
    precision. Other arguments are those of `crf_loss`.
    """
    check_chain(scores, transitions, start, end, allowed, backend)
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n must be a whole number of at least 1, not {n!r}")
    lengths = checked_lengths(lengths, scores)
    with torch.no_grad():
        chain = (scores, *_forbidding(transitions, start, end, allowed))
        found = None
        if _native_serves(chain, backend):
            try:
                found = native_crf.best_paths(chain[0], lengths, *chain[1:], n)
            except NoMemoryError as error:
                _refuse_if_native(backend, error)
        if found is None:
            found = torch_crf.best_paths(chain[0], lengths, *chain[1:], n)
    check_paths(found[1][:, 0], lengths)
    return Paths(*found)


Chain = tuple[Tensor, Tensor, Tensor, Tensor]
"""Scores, transitions, start and end."""


def _forbidding(
    transitions: Tensor, start: Tensor, end: Tensor, allowed: Allowed | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Transitions, start and end with −∞ where something is not allowed."""
    if allowed is None:
        return transitions, start, end

    def masked(tensor: Tensor, mask: Tensor | None) -> Tensor:
        return tensor if mask is None else tensor.masked_fill(~mask, -torch.inf)

    return (
        masked(transitions, allowed.transitions),
        masked(start, allowed.starts),
        masked(end, allowed.ends),
    )


def _native_serves(chain: Chain, backend: str) -> bool:
    """Whether the core computes; an error if it has to, and cannot."""
    if backend == "torch" or not chain[0].numel():
        return False
    reason = native_crf.refusal(chain)
    if reason is not None:
        _refuse_if_native(backend, reason)
    return reason is None


def _refuse_if_native(backend: str, reason: object) -> None:
    if backend == "native":
        raise RuntimeError(
            f"the native core does not serve this call ({reason}): with backend='auto', torch does"
        )


def _partition(
    chain: Chain, tags: Tensor | None, lengths: Tensor, allowed: Allowed | None, backend: str
) -> Tensor:
    """Each sentence's log partition, less the score of its tags if they are given."""
    result: Tensor | None = None
    native = _native_serves(chain, backend)
    if tags is not None and (allowed is not None or not native):  # else the core looks at them
        check_tags(tags, chain[0], lengths, allowed)
    if native:
        try:
            if torch.is_grad_enabled():
                result = _Partition.apply(*chain, tags, lengths, allowed)  # type: ignore[no-untyped-call]
            else:
                result = _natively(chain, tags, lengths, allowed, (False,) * 4)[0]
        except NoMemoryError as error:
            _refuse_if_native(backend, error)
    if result is None:
        result = _formula(chain, tags, lengths, allowed)
    check_paths(result, lengths)
    return result


def _formula(chain: Chain, tags: Tensor | None, lengths: Tensor, allowed: Allowed | None) -> Tensor:
    scores, masked = chain[0], _forbidding(*chain[1:], allowed)
    total = torch_crf.log_partition(scores, lengths, *masked)
    return total if tags is None else total - torch_crf.path_scores(scores, tags, lengths, *masked)


def _natively(
    chain: Chain,
    tags: Tensor | None,
    lengths: Tensor,
    allowed: Allowed | None,
    wanted: tuple[bool, ...],
) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    masked = _forbidding(*chain[1:], allowed)
    return native_crf.run(chain[0], tags, lengths, *masked, wanted)


class _Partition(torch.autograd.Function):
    """Makes each sentence's gradients along with its result; the way back multiplies them."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        transitions: Tensor,
        start: Tensor,
        end: Tensor,
        tags: Tensor | None,
        lengths: Tensor,
        allowed: Allowed | None,
    ) -> Tensor:
        chain = (scores, transitions, start, end)
        wanted = tuple(ctx.needs_input_grad[:4])
        results, gradients = _natively(chain, tags, lengths, allowed, wanted)
        ctx.save_for_backward(*chain, tags, lengths, *gradients)
        ctx.allowed = allowed
        return results

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        *chain, tags, lengths, d_scores, d_transitions, d_start, d_end = ctx.saved_tensors
        found: list[Tensor | None]
        if wanted_of_torch([upstream]):

            def again(inputs: list[Tensor]) -> list[Tensor]:
                scores, transitions, start, end = inputs
                given = (scores, transitions, start, end)
                return [_formula(given, tags, lengths, ctx.allowed)]

            found = torch_gradients(again, chain, ctx.needs_input_grad[:4], [upstream])
        else:
            found = [None if d_scores is None else d_scores * upstream.view(-1, 1, 1)]
            for apart in (d_transitions, d_start, d_end):
                found.append(None if apart is None else native_crf.weighted_sum(upstream, apart))
        return (*found, None, None, None)
