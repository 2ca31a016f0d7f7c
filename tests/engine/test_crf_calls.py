"""How the CRF is called: wrong arguments, odd tensors, and where torch does more than compute."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from crf_cases import Case, assert_near, both, case, gradients, native
from torch import Tensor
from torch.func import grad, vmap

from cellwright.engine.crf import (
    Allowed,
    crf_log_partition,
    crf_loss,
    marginals,
    n_best,
    viterbi,
)


def change(**parts: Callable[[Tensor], object]) -> Callable[[Case], Case]:
    """A case of which some parts are something else."""
    return lambda given: given._replace(
        **{name: make(getattr(given, name)) for name, make in parts.items()}
    )


CHAINS = {
    "two dimensions": (change(scores=lambda t: t[0]), "scores must be"),
    "no tags": (change(scores=lambda t: t[:, :, :0]), "at least one tag"),
    "whole scores": (change(scores=lambda t: t.long()), "floating dtype, not torch.int64"),
    "small transitions": (change(transitions=lambda t: t[1:]), r"transitions must be \(4, 4\)"),
    "a long start": (change(start=lambda t: t.repeat(2)), r"start must be \(4,\) .* not \(8,\)"),
    "an end of rows": (change(end=lambda t: t.unsqueeze(0)), r"end must be \(4,\)"),
    "another dtype": (change(end=lambda t: t.double()), "end must be torch.float32 on cpu"),
    "another device": (change(start=lambda t: t.to("meta")), "on cpu as scores are, not .* meta"),
    "few lengths": (change(lengths=lambda t: t[1:]), "lengths must be 3 integers"),
    "one length": (change(lengths=lambda t: t[0]), "lengths must be 3 integers"),
    "lengths of floats": (change(lengths=lambda t: t.float()), "not \\(3,\\) of torch.float32"),
    "too long": (change(lengths=lambda t: t + 5), "from 0 to 5, the number of steps, not 10"),
    "below zero": (change(lengths=lambda t: t - 9), "from 0 to 5, the number of steps, not -"),
}
TAGS = {
    "few tags": (change(tags=lambda t: t[:, 1:]), r"tags must be \(3, 5\)"),
    "tags of another dtype": (change(tags=lambda t: t.int()), "torch.long on cpu"),
    "too high": (change(tags=lambda t: t * 0 + 4), "tags has 4 in sentence 0 at step 0"),
    "too low": (change(tags=lambda t: t - 4), "outside of the 4 tags"),
}


@both
@pytest.mark.parametrize("name", CHAINS)
def test_wrong_chains(name, backend):
    make, message = CHAINS[name]
    given = make(case(3, 5, 4, shortest=1))
    with pytest.raises(ValueError, match=message):
        crf_loss(*given, backend=backend)
    for function in (crf_log_partition, marginals, viterbi):
        with pytest.raises(ValueError, match=message):
            function(*given.chain, backend=backend)


@both
@pytest.mark.parametrize("name", TAGS)
def test_wrong_tags(name, backend):
    make, message = TAGS[name]
    with pytest.raises(ValueError, match=message):
        crf_loss(*make(case(3, 5, 4, shortest=1)), backend=backend)


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        (Allowed(torch.ones(4, 4)), "allowed of transitions must be torch.bool"),
        (Allowed(torch.ones(3, 4, dtype=torch.bool)), r"allowed of transitions must be \(4, 4\)"),
        (
            Allowed(torch.ones(4, 4, dtype=torch.bool), ends=torch.ones(3, dtype=torch.bool)),
            r"allowed of end must be \(4,\)",
        ),
    ],
)
def test_wrong_masks(allowed, message):
    with pytest.raises(ValueError, match=message):
        viterbi(*case(3, 5, 4).chain, allowed=allowed)


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_a_number_of_paths_is_whole_and_at_least_one(n):
    with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
        n_best(*case(3, 5, 4).chain, n)


def test_backends_that_are_not_there():
    with pytest.raises(ValueError, match="one of auto, native, torch, not 'cuda'"):
        crf_loss(*case(3, 5, 4), backend="cuda")


@native
def test_what_the_core_cannot_serve():
    doubles = case(3, 5, 4).double()
    for call in (
        lambda **o: crf_loss(*doubles, **o),
        lambda **o: marginals(*doubles.chain, **o),
        lambda **o: viterbi(*doubles.chain, **o).scores,
    ):
        with pytest.raises(RuntimeError, match=r"float32, not torch.float64"):
            call(backend="native")
        assert call(backend="auto").dtype == torch.float64


# -- odd tensors ---------------------------------------------------------------------------


@both
def test_strided_tensors_and_lists_of_lengths(backend):
    given = case(4, 6, 5)
    odd = Case(
        given.scores.transpose(0, 1).contiguous().transpose(0, 1),
        given.tags.t().contiguous().t(),
        torch.stack([given.lengths, given.lengths], dim=1)[:, 0],
        given.transitions.t().contiguous().t(),
        given.start.repeat_interleave(2)[::2],
        given.end.expand(3, 5).t()[:, 1],
    )
    for found, wanted in zip(gradients(odd, backend), gradients(given, backend), strict=True):
        assert torch.equal(found, wanted)
    lengths = given.lengths
    for same in (lengths.tolist(), lengths.int(), lengths.to(torch.uint8)):
        assert torch.equal(
            crf_loss(*given._replace(lengths=same), backend=backend),
            crf_loss(*given, backend=backend),
        )


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_dtypes_stay_theirs(dtype):
    given = case(4, 6, 5)
    other = Case(*(t.to(dtype) if t.is_floating_point() else t for t in given))
    found = crf_loss(*other)
    assert found.dtype == dtype
    assert_near(found, crf_loss(*given).double(), 2e-2)


def test_zeros_without_memory_and_autocast():
    given = case(4, 6, 5)
    wanted = crf_loss(*given._replace(start=torch.zeros(5)), backend="torch")
    found = crf_loss(*given._replace(start=torch._efficientzerotensor(5)))
    assert torch.allclose(found, wanted)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.allclose(crf_loss(*given), crf_loss(*given, backend="torch"))


# -- gradients -----------------------------------------------------------------------------


@both
@pytest.mark.parametrize("wanted", ["scores", "transitions", "start", "end"])
def test_only_wanted_gradients(wanted, backend):
    given = case(4, 6, 5)
    names = ["scores", "transitions", "start", "end"]
    leaf = getattr(given, wanted).clone().requires_grad_()
    losses = crf_loss(*given._replace(**{wanted: leaf}), backend=backend)
    (torch.linspace(0.5, 2.0, 4) * losses).sum().backward()
    assert_near(leaf.grad, gradients(given, "torch")[1 + names.index(wanted)].double())


@both
def test_no_gradients_where_none_are_wanted(backend):
    given = case(4, 6, 5)
    leaf = given.scores.requires_grad_()
    assert not marginals(*given.chain, backend=backend).requires_grad
    assert not viterbi(*given.chain, backend=backend).scores.requires_grad
    with torch.no_grad():
        silent = crf_loss(*given, backend=backend)
    assert not silent.requires_grad
    loud = crf_loss(*given, backend=backend)
    assert loud.requires_grad
    assert torch.equal(silent, loud)
    assert leaf.grad is None


@native
def test_second_backward_and_gradients_of_gradients():
    given = case(4, 6, 5)
    leaf = given.transitions.requires_grad_()
    loss = crf_loss(*given, backend="native").sum()
    loss.backward(retain_graph=True)
    once = leaf.grad.clone()
    loss.backward()
    assert torch.equal(leaf.grad, 2 * once)
    results = []
    for backend in ("native", "torch"):
        [first] = torch.autograd.grad(
            crf_loss(*given, backend=backend).sum(), leaf, create_graph=True
        )
        results.append(torch.autograd.grad(first.square().sum(), leaf)[0])
    assert torch.allclose(*results, atol=1e-5)


# -- where torch does more than compute ----------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_a_trace_takes_other_numbers():
    first, other = case(3, 4, 5), case(3, 4, 5, seed=8)
    traced = torch.jit.trace(lambda *given: crf_loss(*given), tuple(first))
    assert torch.allclose(traced(*other), crf_loss(*other), atol=1e-5)


def test_transforms():
    given = case(3, 4, 5)

    def mean(scores: Tensor) -> Tensor:
        return crf_loss(scores, *given[1:]).mean()

    leaf = given.scores.clone().requires_grad_()
    [wanted] = torch.autograd.grad(mean(leaf), leaf)
    assert torch.allclose(grad(mean)(given.scores), wanted, atol=1e-6)
    two = torch.stack([given.scores, 2 * given.scores])
    assert torch.allclose(vmap(mean)(two), torch.stack([mean(scores) for scores in two]))


@native
def test_a_transform_is_not_for_the_core():
    given = case(3, 4, 5)
    with pytest.raises(RuntimeError, match=r"does not serve this call .a transform"):
        grad(lambda scores: crf_loss(scores, *given[1:], backend="native").sum())(given.scores)
