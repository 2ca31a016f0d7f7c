"""Gradients: clipping against torch's, and where torch's gives up; the step that follows."""

import math

import pytest
import torch
from torch import nn

from cellwright.training.gradients import Gradients, gradients_of
from cellwright.training.optimizers import descend


def gradients(*values):
    return [torch.tensor(value) for value in values]


def norm_of(found):
    return Gradients.of(0.0, found).norm


def clipped(found, most):
    """Where a step of SGD with rate 1 leaves weights of zero, turned round."""
    weights = [nn.Parameter(torch.zeros(len(gradient))) for gradient in found]
    descend(torch.optim.SGD(weights), weights, Gradients.of(0.0, found), rate=1.0, clip=most)
    return [-weight.detach() for weight in weights]


@pytest.mark.parametrize("most", [0.25, 4.9, 5.1, 100.0])
def test_as_torch(most):
    assert norm_of(gradients([3.0, 0.0], [-4.0])) == pytest.approx(5.0)
    theirs = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1))]
    for parameter, gradient in zip(theirs, gradients([3.0, 0.0], [-4.0]), strict=True):
        parameter.grad = gradient
    nn.utils.clip_grad_norm_(theirs, most)
    for one, other in zip(clipped(gradients([3.0, 0.0], [-4.0]), most), theirs, strict=True):
        assert torch.allclose(one, other.grad, atol=1e-5)


def test_no_limit_and_no_gradients():
    assert [part.tolist() for part in clipped(gradients([3.0, -4.0]), None)] == [[3.0, -4.0]]
    assert norm_of([]) == 0.0


def test_squares_beyond_single_precision():
    large = gradients([3e30], [-4e30, 0.0])
    assert norm_of(large) == pytest.approx(5e30)
    one, other = clipped(large, 0.25)
    assert torch.allclose(one, torch.tensor([0.15]))
    assert torch.allclose(other, torch.tensor([-0.2, 0.0]))


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_infinite_gradients_are_told(bad):
    assert not math.isfinite(norm_of(gradients([1.0, bad], [3e30])))


def test_a_parameter_without_gradient_stays():
    """Weight decay does not move it either, and the next step knows nothing of this one."""
    weights = [nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))]
    optimizer = torch.optim.SGD(weights, lr=9.0, weight_decay=0.5)
    gradients = Gradients.of(0.0, [torch.ones(2), None])
    descend(optimizer, weights, gradients, rate=0.1, clip=0.5 * math.sqrt(2))
    assert weights[0].tolist() == pytest.approx([1 - 0.1 * (0.5 + 0.5)] * 2)
    assert weights[1].tolist() == [1.0, 1.0]
    assert all(weight.grad is None for weight in weights)


def test_gradients_of_a_loss():
    weights = [nn.Parameter(torch.tensor([2.0, 0.0])), nn.Parameter(torch.ones(3))]
    found = gradients_of(weights[0].square().sum(), weights)
    assert (found.loss, found.norm) == (4.0, 4.0)
    assert [None if value is None else value.tolist() for value in found.values] == [
        [4.0, 0.0],
        None,
    ]
    nothing = gradients_of(torch.tensor(1.5), weights)
    assert nothing == Gradients(1.5, [None, None], 0.0)
