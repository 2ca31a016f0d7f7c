"""The cross-entropy over a vocabulary against torch's, and what may not change it."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.engine import native_backend, native_cross_entropy
from cellwright.engine.cross_entropy import _in_chunks, linear_cross_entropy, token_losses

native = pytest.mark.skipif(not native_backend.available(), reason="the core is not built")


def problem(rows, width, words, seed=0, spread=1.0):
    generator = torch.Generator().manual_seed(seed)
    hidden = spread * torch.randn(rows, width, generator=generator)
    weight = torch.randn(words, width, generator=generator)
    bias = torch.randn(words, generator=generator)
    targets = torch.randint(words, (rows,), generator=generator)
    return hidden, weight, bias, targets


def expected(hidden, weight, bias, targets):
    leaves = [t.detach().double().requires_grad_() for t in (hidden, weight, bias)]
    scores = leaves[0] @ leaves[1].t() + leaves[2]
    losses = F.cross_entropy(scores, targets, reduction="none")
    losses.mean().backward()
    return losses.detach(), [leaf.grad for leaf in leaves]


def assert_near(found, wanted, tolerance=2e-5, least=1e-2):
    scale = wanted.abs().max().clamp_min(least)
    assert float((found.double() - wanted).abs().max() / scale) < tolerance


@settings(deadline=None, max_examples=60)
@given(
    rows=st.sampled_from([1, 2, 9, 125, 127, 252, 253, 511]),
    width=st.sampled_from([1, 3, 16, 47, 48, 50, 96]),
    words=st.sampled_from([1, 2, 8, 15, 49, 256, 257, 512, 1025]),
    seed=st.integers(0, 1000),
)
def test_equals_torch(rows, width, words, seed):
    hidden, weight, bias, targets = problem(rows, width, words, seed)
    losses, gradients = expected(hidden, weight, bias, targets)
    leaves = [t.requires_grad_() for t in (hidden, weight, bias)]
    mean = linear_cross_entropy(*leaves, targets)
    mean.backward()
    assert_near(mean.detach(), losses.mean())
    assert_near(token_losses(*leaves, targets), losses)
    for leaf, gradient in zip(leaves, gradients, strict=True):
        # A probability near 1, less 1, has few digits left; torch's in float32 are 3e-6 off.
        assert_near(leaf.grad, gradient, least=max(1e-2, 0.2 / rows))


def test_torch_path_in_several_chunks(monkeypatch):
    monkeypatch.setattr("cellwright.engine.cross_entropy.CHUNK_SCORES", 100)
    tensors = [t.double() if t.is_floating_point() else t for t in problem(13, 5, 31)]
    losses, gradients = expected(*tensors)
    found, ours = _in_chunks(*tensors, (True, True, True))
    assert torch.allclose(found, losses)
    for gradient, wanted in zip(ours, gradients, strict=True):
        assert torch.allclose(gradient, wanted)


def test_double_precision_gradcheck():
    hidden, weight, bias, targets = problem(4, 3, 6)
    leaves = [t.double().requires_grad_() for t in (hidden, weight, bias)]
    assert torch.autograd.gradcheck(lambda h, w, b: linear_cross_entropy(h, w, b, targets), leaves)


def test_upstream_gradient_scales():
    hidden, weight, bias, targets = problem(7, 5, 11)
    weight.requires_grad_()
    linear_cross_entropy(hidden, weight, bias, targets).backward()
    once = weight.grad.clone()
    weight.grad = None
    (3 * linear_cross_entropy(hidden, weight, bias, targets)).backward()
    assert torch.allclose(weight.grad, 3 * once)


@pytest.mark.parametrize("wanted", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)])
def test_only_wanted_gradients(wanted):
    *leaves, targets = problem(300, 20, 70)
    _, gradients = expected(*leaves, targets)
    for leaf, want in zip(leaves, wanted, strict=True):
        leaf.requires_grad_(bool(want))
    mean = linear_cross_entropy(*leaves, targets)
    assert mean.requires_grad is any(wanted)
    if any(wanted):
        mean.backward()
    for leaf, want, gradient in zip(leaves, wanted, gradients, strict=True):
        if want:
            assert_near(leaf.grad, gradient)
        else:
            assert leaf.grad is None


def test_without_bias():
    hidden, weight, _, targets = problem(5, 4, 9)
    wanted = F.cross_entropy(hidden @ weight.t(), targets)
    assert torch.allclose(linear_cross_entropy(hidden, weight, None, targets), wanted)


@native
def test_same_bits_for_any_number_of_threads():
    arguments = problem(700, 90, 3000)
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3, 5, 2):
            torch.set_num_threads(threads)
            losses, gradients = native_cross_entropy.run(*arguments, (True, True, True))
            results.append((losses, *gradients))
    finally:
        torch.set_num_threads(before)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


@native
def test_every_instruction_set():
    core = native_backend._native
    arguments = problem(260, 50, 300)
    losses, gradients = expected(*arguments[:3], arguments[3])
    try:
        for name in core.instruction_sets():
            core.use_instruction_set(name)
            found, ours = native_cross_entropy.run(*arguments, (True, True, True))
            assert_near(found, losses)
            for gradient, wanted in zip(ours, gradients, strict=True):
                assert_near(gradient, wanted)
    finally:
        core.use_instruction_set(core.instruction_sets()[0])


@pytest.mark.parametrize("spread", [100.0, 1e4])
def test_far_scores_stay_finite(spread):
    hidden, weight, bias, targets = problem(50, 30, 200, spread=spread)
    losses, gradients = expected(hidden, weight, bias, targets)
    hidden.requires_grad_()
    assert_near(token_losses(hidden, weight, bias, targets), losses, 1e-4)
    linear_cross_entropy(hidden, weight, bias, targets).backward()
    assert_near(hidden.grad, gradients[0], 1e-3)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_and_infinity_show_in_their_row_only(bad):
    hidden, weight, bias, targets = problem(5, 4, 9)
    hidden[2, 1] = bad
    losses = token_losses(hidden, weight, bias, targets)
    assert not torch.isfinite(losses[2])
    assert torch.isfinite(losses[[0, 1, 3, 4]]).all()


def test_strided_inputs():
    hidden, weight, bias, targets = problem(12, 8, 20)
    wanted = token_losses(hidden, weight, bias, targets)
    wide = torch.zeros(12, 16)
    wide[:, ::2] = hidden
    assert torch.equal(
        token_losses(wide[:, ::2], weight.t().contiguous().t(), bias, targets), wanted
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, w, b, t: (h[0], w, b, t), "hidden must be"),
        (lambda h, w, b, t: (h, w[:, 1:], b, t), "hidden must be"),
        (lambda h, w, b, t: (h, w, b[1:], t), "bias must be"),
        (lambda h, w, b, t: (h, w, b, t[1:]), "targets must be"),
        (lambda h, w, b, t: (h, w, b, t.float()), "torch.long"),
        (lambda h, w, b, t: (h, w, b, t + len(w)), "outside"),
        (lambda h, w, b, t: (h, w, b, t - len(w)), "outside"),
        (lambda h, w, b, t: (h[:0], w, b, t[:0]), "no rows"),
    ],
)
def test_wrong_arguments(change, message):
    for function in (linear_cross_entropy, token_losses):
        with pytest.raises(ValueError, match=message):
            function(*change(*problem(5, 4, 9)))


def test_second_backward():
    hidden, weight, bias, targets = problem(5, 4, 9)
    mean = linear_cross_entropy(hidden.requires_grad_(), weight, bias, targets)
    mean.backward(retain_graph=True)
    once = hidden.grad.clone()
    mean.backward()
    assert torch.equal(hidden.grad, 2 * once)
