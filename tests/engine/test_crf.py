"""The CRF: against all paths one by one, the native core against torch, and what may not matter."""

from __future__ import annotations

import math

import pytest
import torch
from crf_cases import (
    Case,
    all_paths,
    assert_near,
    best_first,
    both,
    case,
    gradients,
    legal_tags,
    native,
    random_mask,
    whole_numbers,
)
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from torch import Tensor

from cellwright.engine import native_backend
from cellwright.engine.crf import (
    Allowed,
    crf_log_partition,
    crf_loss,
    marginals,
    n_best,
    viterbi,
)
from effort import many

small = pytest.mark.parametrize(
    ("steps", "tags"), [(1, 1), (5, 1), (1, 4), (2, 2), (3, 4), (4, 3), (5, 2)]
)
masked = pytest.mark.parametrize("mask", [False, True], ids=["all allowed", "some forbidden"])


# -- against all paths ---------------------------------------------------------------------


def by_hand(given: Case, allowed: Allowed | None) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Log partitions, losses, and gradients as in `gradients`, from all paths one by one."""
    batch, steps, tags = given.scores.shape
    totals, losses = torch.zeros(2, batch, dtype=torch.double)
    found = [torch.zeros(t.shape, dtype=torch.double) for t in (given.scores, *given[3:])]
    posteriors = torch.zeros(batch, steps, tags, dtype=torch.double)
    for b, weight in enumerate(torch.linspace(0.5, 2.0, batch, dtype=torch.double).tolist()):
        right = tuple(given.tags[b, : int(given.lengths[b])].tolist())
        paths = dict(all_paths(given, b, allowed))
        totals[b] = torch.tensor(list(paths.values()), dtype=torch.double).logsumexp(0)
        losses[b] = totals[b] - paths[right]
        for path, score in paths.items():
            probability = math.exp(score - float(totals[b]))
            change = weight * (probability - (path == right))
            for t, tag in enumerate(path):
                posteriors[b, t, tag] += probability
                found[0][b, t, tag] += change
                if t:
                    found[1][path[t - 1], tag] += change
            if path:
                found[2][path[0]] += change
                found[3][path[-1]] += change
    return totals, posteriors, [losses, *found]


@both
@small
@masked
def test_equals_the_sum_over_all_paths(steps, tags, mask, backend):
    given, allowed = case(6, steps, tags, seed=steps), random_mask(tags, 3) if mask else None
    if allowed is not None:
        given = legal_tags(given, allowed)
    totals, posteriors, wanted = by_hand(given, allowed)
    options = {"allowed": allowed, "backend": backend}
    assert_near(crf_log_partition(*given.chain, **options), totals)
    assert_near(marginals(*given.chain, **options), posteriors)
    for found, right in zip(gradients(given, backend, allowed), wanted, strict=True):
        assert_near(found, right)


@both
@small
@masked
@pytest.mark.parametrize("make", [case, whole_numbers], ids=["different", "many equal"])
def test_best_paths_are_the_first_of_all_paths(steps, tags, mask, make, backend):
    given, allowed = make(6, steps, tags, seed=steps), random_mask(tags, 3) if mask else None
    options = {"allowed": allowed, "backend": backend}
    n = 7
    best, one = n_best(*given.chain, n, **options), viterbi(*given.chain, **options)
    assert torch.equal(one.tags, best.tags[:, 0])
    assert torch.equal(one.scores, best.scores[:, 0])
    for b, length in enumerate(given.lengths.tolist()):
        wanted = best_first(all_paths(given, b, allowed))[:n]
        found = best.tags[b, :, :length].tolist()
        assert found[: len(wanted)] == [list(path) for path, _ in wanted]
        assert best.scores[b, : len(wanted)].tolist() == pytest.approx([s for _, s in wanted], 1e-5)
        assert torch.all(best.tags[b, :, length:] == -1)
        assert torch.all(best.tags[b, len(wanted) :] == -1)
        assert torch.all(best.scores[b, len(wanted) :] == -math.inf)


# -- the native core against torch ---------------------------------------------------------


def assert_equals_torch(given: Case, allowed: Allowed | None = None, tolerance=1e-5) -> None:
    right = given.double()
    for found, wanted in zip(
        gradients(given, "native", allowed), gradients(right, "torch", allowed), strict=True
    ):
        assert_near(found, wanted, tolerance)
    for function in (crf_log_partition, marginals):
        found = function(*given.chain, allowed=allowed, backend="native")
        assert_near(found, function(*right.chain, allowed=allowed, backend="torch"), tolerance)
    for n in (1, 3):
        ours = n_best(*given.chain, n, allowed=allowed, backend="native")
        theirs = n_best(*given.chain, n, allowed=allowed, backend="torch")
        assert torch.equal(ours.tags, theirs.tags)
        assert torch.equal(ours.scores, theirs.scores)


@native
@settings(deadline=None, max_examples=many(12))
@drawn(
    batch=st.integers(1, 5),
    steps=st.sampled_from([1, 2, 3, 8]),
    tags=st.sampled_from([1, 2, 4, 5, 8, 15, 16, 17, 31, 33, 48, 60]),
    seed=st.integers(0, 1000),
    scale=st.sampled_from([0.0, 1.0, 30.0]),
    mask=st.booleans(),
)
def test_equals_torch(batch, steps, tags, seed, scale, mask):
    given = case(batch, steps, tags, seed, scale)
    allowed = None
    if mask:
        allowed = random_mask(tags, seed)
        given = given._replace(tags=torch.zeros_like(given.tags))
    assert_equals_torch(given, allowed)


@native
def test_every_instruction_set():
    core = native_backend._native
    try:
        for name in core.instruction_sets():
            core.use_instruction_set(name)
            assert_equals_torch(case(4, 5, 17))
    finally:
        core.use_instruction_set(core.instruction_sets()[0])


@native
def test_same_bits_for_any_number_of_threads():
    given = case(90, 20, 40)
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3, 5, 2):
            torch.set_num_threads(threads)
            best = n_best(*given.chain, 2, backend="native")
            results.append((*gradients(given, "native"), *best, marginals(*given.chain)))
    finally:
        torch.set_num_threads(before)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_gradcheck_in_double_precision():
    given, allowed = case(2, 3, 2).double(), random_mask(2, 1)
    for mask, right in ((None, given.tags), (allowed, legal_tags(given, allowed).tags)):
        leaves = [t.clone().requires_grad_() for t in (given.scores, *given[3:])]

        def losses(scores, *rest, mask=mask, right=right):
            return crf_loss(scores, right, given.lengths, *rest, allowed=mask)

        assert torch.autograd.gradcheck(losses, leaves)
        assert torch.autograd.gradgradcheck(losses, leaves)


@native
def test_finite_differences_of_the_core():
    given = case(3, 5, 17)
    _, d_scores, d_transitions, d_start, d_end = gradients(given, "native")
    weights = torch.linspace(0.5, 2.0, 3).double()
    generator = torch.Generator().manual_seed(5)
    for name, gradient in (
        ("scores", d_scores), ("transitions", d_transitions), ("start", d_start), ("end", d_end),
    ):  # fmt: skip
        direction = torch.randn(gradient.shape, generator=generator)
        ends = []
        for sign in (1, -1):
            moved = given._replace(**{name: getattr(given, name) + sign * 1e-2 * direction})
            ends.append((weights * crf_loss(*moved, backend="native").double()).sum())
        slope = float(ends[0] - ends[1]) / 2e-2
        assert slope == pytest.approx(float((gradient * direction).sum()), rel=1e-2, abs=1e-2)


# -- numbers that are hard to add ----------------------------------------------------------


@native
@pytest.mark.parametrize("scale", [100.0, 1e4, -1e4])
def test_far_scores(scale):
    assert_equals_torch(case(4, 8, 17, scale=scale), tolerance=3e-6)


@native
def test_transitions_of_minus_ten_thousand():
    """Flair's way to forbid: all to a start tag, and all from a stop tag."""
    given = case(3, 6, 19)
    given.transitions[:, 0] = given.transitions[18, :] = -10000.0
    tags = given.tags.clamp(1, 17)
    assert_equals_torch(given._replace(tags=tags))
    assert_equals_torch(given)  # also where the right path is one of those


@both
def test_a_far_better_tag_that_leads_nowhere(backend):
    """The only way on is from a tag e^-2000 times as likely as the best so far."""
    given = case(2, 4, 3, shortest=4)
    given.scores[:, 1] = torch.tensor([1000.0, -1000.0, 0.0])
    forbidden = torch.ones(3, 3, dtype=torch.bool)
    forbidden[0, :] = forbidden[2, :] = False
    forbidden[:, 1] = True
    tags = torch.tensor([[1, 1, 1, 2]] * 2)
    given = given._replace(tags=tags)
    for allowed in (Allowed(forbidden), None):
        chain = given
        if allowed is None:
            chain = given._replace(transitions=given.transitions.masked_fill(~forbidden, -10000.0))
        found = gradients(chain, backend, allowed)
        for ours, right in zip(found, gradients(chain.double(), "torch", allowed), strict=True):
            assert torch.isfinite(ours).all()
            assert_near(ours, right, 1e-5 if backend == "native" else 3e-4)  # torch adds up floats


@both
def test_a_score_of_infinity_forbids_as_well(backend):
    given = case(3, 4, 5, shortest=2)
    given.scores[:, :, 2] = -math.inf
    tags = given.tags.clone()
    tags[tags == 2] = 1
    found = gradients(given._replace(tags=tags), backend)
    assert all(torch.isfinite(tensor).all() for tensor in found)
    assert torch.all(found[1][:, :, 2] == 0)


@both
@pytest.mark.parametrize("tags", [1, 2, 17])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nan_and_infinity_show_in_their_sentence_only(tags, bad, backend):
    given = case(4, 5, tags, shortest=3)
    given.scores[2, 1, 0] = bad
    losses, d_scores, *_ = gradients(given, backend)
    for found in (losses, d_scores.sum((1, 2))):
        assert torch.isfinite(found).tolist() == [True, True, False, True]
    viterbi(*given.chain, backend=backend)
