"""Clipping against torch's, and where torch's gives up."""

import math

import pytest
import torch
from torch import nn

from cellwright.training.clipping import clip_gradients


def parameters(*gradients):
    found = []
    for gradient in gradients:
        parameter = nn.Parameter(torch.zeros(len(gradient)))
        parameter.grad = torch.tensor(gradient)
        found.append(parameter)
    return found


@pytest.mark.parametrize("most", [0.25, 4.9, 5.1, 100.0])
def test_as_torch(most):
    ours, theirs = parameters([3.0, 0.0], [-4.0]), parameters([3.0, 0.0], [-4.0])
    assert clip_gradients(ours, most) == pytest.approx(5.0)
    nn.utils.clip_grad_norm_(theirs, most)
    for one, other in zip(ours, theirs, strict=True):
        assert torch.allclose(one.grad, other.grad, atol=1e-5)


def test_no_limit_and_no_gradients():
    ours = parameters([3.0, -4.0])
    assert clip_gradients(ours, None) == pytest.approx(5.0)
    assert ours[0].grad.tolist() == [3.0, -4.0]
    assert clip_gradients([nn.Parameter(torch.zeros(2))], 1.0) == 0.0


def test_squares_beyond_single_precision():
    ours = parameters([3e30], [-4e30, 0.0])
    assert clip_gradients(ours, 0.25) == pytest.approx(5e30)
    assert torch.allclose(ours[0].grad, torch.tensor([0.15]))
    assert torch.allclose(ours[1].grad, torch.tensor([-0.2, 0.0]))


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_infinite_gradients_are_told(bad):
    norm = clip_gradients(parameters([1.0, bad]), 0.25)
    assert not math.isfinite(norm)
