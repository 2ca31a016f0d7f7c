"""The CRF: what is forbidden, sentences of any length, and what lies behind their ends."""

from __future__ import annotations

import math

import pytest
import torch
from crf_cases import both, case, gradients, legal_tags, random_mask

from cellwright.engine.crf import (
    Allowed,
    crf_log_partition,
    crf_loss,
    marginals,
    n_best,
    viterbi,
)


@both
def test_what_is_forbidden_has_probability_and_gradient_zero(backend):
    allowed = random_mask(5, 2)
    given = legal_tags(case(6, 4, 5), allowed)
    _, d_scores, d_transitions, d_start, d_end = gradients(given, backend, allowed)
    assert torch.all(d_transitions[~allowed.transitions] == 0)
    assert torch.all(d_start[~allowed.starts] == 0)
    assert torch.all(d_end[~allowed.ends] == 0)
    assert torch.isfinite(d_scores).all()
    posteriors = marginals(*given.chain, allowed=allowed, backend=backend)
    some = given.lengths > 0
    assert torch.all(posteriors[some, 0][:, ~allowed.starts] == 0)
    there = torch.arange(4) < given.lengths.unsqueeze(1)
    assert torch.allclose(posteriors.sum(2), there.float())


@both
def test_no_path_at_all_is_an_error(backend):
    given = case(3, 4, 2, shortest=2)
    forward = Allowed(torch.tensor([[False, True], [False, False]]))  # 0, then 1, then nothing
    options = {"allowed": forward, "backend": backend}
    one = given._replace(lengths=torch.tensor([1, 2, 1]), tags=torch.tensor([[0, 1, 7, 7]] * 3))
    assert torch.isfinite(crf_loss(*one, **options)).all()
    longer = given._replace(lengths=torch.tensor([1, 3, 4]))
    for call in (crf_log_partition, viterbi, marginals, lambda *a, **o: n_best(*a, 2, **o)):
        with pytest.raises(ValueError, match=r"sentence 1 has no path: .* its 3 steps"):
            call(*longer.chain, **options)


@both
def test_right_tags_that_are_not_allowed_are_an_error(backend):
    given = case(2, 3, 3, shortest=3)._replace(tags=torch.tensor([[0, 0, 0], [0, 1, 2]]))
    mask = torch.ones(3, 3, dtype=torch.bool)
    mask[1, 2] = False
    with pytest.raises(ValueError, match="1 and then 2 in sentence 1 at step 2"):
        crf_loss(*given, allowed=Allowed(mask), backend=backend)
    everything, not_zero = mask | True, torch.tensor([False, True, True])
    with pytest.raises(ValueError, match="begins with 0 in sentence 0"):
        crf_loss(*given, allowed=Allowed(everything, starts=not_zero), backend=backend)
    with pytest.raises(ValueError, match="ends with 0 in sentence 0"):
        crf_loss(*given, allowed=Allowed(everything, ends=not_zero), backend=backend)


# -- lengths -------------------------------------------------------------------------------


@both
def test_what_lies_behind_the_end_does_not_matter(backend):
    given = case(5, 6, 4)
    beyond = torch.arange(6) >= given.lengths.unsqueeze(1)
    other = given._replace(
        scores=given.scores.masked_fill(beyond.unsqueeze(2), math.nan),
        tags=given.tags.masked_fill(beyond, -100),
    )
    for found, wanted in zip(gradients(other, backend), gradients(given, backend), strict=True):
        assert torch.equal(found, wanted)
    assert torch.equal(
        marginals(*other.chain, backend=backend), marginals(*given.chain, backend=backend)
    )
    assert torch.equal(
        viterbi(*other.chain, backend=backend).tags, viterbi(*given.chain, backend=backend).tags
    )


@both
def test_a_sentence_without_steps_has_one_path(backend):
    given = case(2, 3, 4)._replace(lengths=torch.tensor([0, 3]))
    losses, d_scores, *_ = gradients(given, backend)
    assert losses[0] == 0
    assert torch.all(d_scores[0] == 0)
    best = n_best(*given.chain, 2, backend=backend)
    assert best.scores[0].tolist() == [0, -math.inf]
    assert torch.all(best.tags[0] == -1)


@both
@pytest.mark.parametrize(("batch", "steps"), [(0, 3), (2, 0)])
def test_nothing_to_compute(batch, steps, backend):
    scores, tags = torch.zeros(batch, steps, 4), torch.zeros(batch, steps, dtype=torch.long)
    rest = (torch.zeros(4, 4), torch.zeros(4), torch.zeros(4))
    lengths = [0] * batch
    assert crf_loss(scores, tags, lengths, *rest, backend=backend).tolist() == [0.0] * batch
    assert marginals(scores, lengths, *rest, backend=backend).shape == scores.shape
    best = n_best(scores, lengths, *rest, 2, backend=backend)
    assert (best.tags.shape, best.scores.shape) == ((batch, 2, steps), (batch, 2))
