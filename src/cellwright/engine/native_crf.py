"""The linear-chain CRF on the C++ core: CPU, float32.

What is forbidden has the score −∞ here, in `transitions`, `start` and `end`.
"""

from __future__ import annotations

from torch import Tensor

from cellwright.engine import surroundings
from cellwright.engine.crf_checks import check_tags
from cellwright.engine.native_backend import _native, threads_for
from cellwright.engine.native_job import NoMemoryError
from cellwright.engine.native_memory import address

_PASSES = 4  # products with the transitions for each step: two messages, pairs, exponentials


def refusal(tensors: tuple[Tensor, ...]) -> str | None:
    """Why the core cannot compute with these tensors, or None if it can."""
    if _native is None:
        return "the core could not be built on this machine"
    reason = surroundings.transformed() or surroundings.unfit(tensors)
    if reason is None and not surroundings.ordinary(tensors):
        return "it computes with numbers in memory"
    return reason


def run(
    scores: Tensor,
    tags: Tensor | None,
    lengths: Tensor,
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    wanted: tuple[bool, ...],
) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    """Each sentence's log partition, less the score of `tags` if they are given.

    And its gradients by scores, transitions, start and end where wanted: those of transitions,
    start and end are kept apart by sentence.
    """
    assert _native is not None
    batch, steps, count = scores.shape
    results = scores.new_empty(batch)
    shapes = ((batch, steps, count), (batch, count, count), (batch, count), (batch, count))
    gradients = tuple(
        scores.new_empty(shape) if want else None
        for shape, want in zip(shapes, wanted, strict=True)
    )
    given = _in_memory(scores, lengths, transitions, start, end)
    right = None if tags is None else tags.contiguous()
    served = _native.crf(
        batch=batch,
        steps=steps,
        tags=count,
        scores=given[0].data_ptr(),
        targets=address(right),
        lengths=given[1].data_ptr(),
        transitions=given[2].data_ptr(),
        start=given[3].data_ptr(),
        end=given[4].data_ptr(),
        results=results.data_ptr(),
        d_scores=address(gradients[0]),
        d_transitions=address(gradients[1]),
        d_start=address(gradients[2]),
        d_end=address(gradients[3]),
        threads=threads_for(_PASSES * batch * steps * count * count),
    )
    if right is not None and not served:
        check_tags(right, scores, lengths, None)  # which says what is wrong
    return results, gradients


def weighted_sum(weights: Tensor, table: Tensor) -> Tensor:
    """Σ weights[b]·table[b], added up in the order of b whatever the number of threads."""
    assert _native is not None
    weights, table = _in_memory(weights, table)
    sums = table.new_empty(table.shape[1:])
    _native.add_weighted_rows(
        rows=len(table),
        columns=sums.numel(),
        weights=weights.data_ptr(),
        table=table.data_ptr(),
        sums=sums.data_ptr(),
    )
    return sums


def best_paths(
    scores: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor, n: int
) -> tuple[Tensor, Tensor]:
    """The n best paths, (batch, n, steps), and their scores, (batch, n)."""
    assert _native is not None
    batch, steps, count = scores.shape
    paths = lengths.new_empty(batch, n, steps)
    path_scores = scores.new_empty(batch, n)
    given = _in_memory(scores, lengths, transitions, start, end)
    _native.crf_decode(
        batch=batch,
        steps=steps,
        tags=count,
        count=n,
        scores=given[0].data_ptr(),
        lengths=given[1].data_ptr(),
        transitions=given[2].data_ptr(),
        start=given[3].data_ptr(),
        end=given[4].data_ptr(),
        paths=paths.data_ptr(),
        path_scores=path_scores.data_ptr(),
        threads=threads_for(n * batch * steps * count * count),
    )
    return paths, path_scores


def _in_memory(*tensors: Tensor) -> list[Tensor]:
    dense = [tensor.contiguous() for tensor in tensors]
    if not all(tensor.data_ptr() for tensor in dense):
        raise NoMemoryError
    return dense
