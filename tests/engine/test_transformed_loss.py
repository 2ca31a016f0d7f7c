"""The cross-entropy where torch does more than to compute, and on odd tensors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from surroundings_cases import (
    BATCH,
    STEPS,
    WIDTH,
    by_dual_numbers,
    by_grad,
    by_jvp,
    by_many_gradients,
    by_vmap,
    marks,
    near,
    numbers,
)
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from cellwright.engine.cross_entropy import linear_cross_entropy, token_losses

pytestmark = marks


def words(seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    hidden, weight, bias = numbers(7, 5, seed=seed), numbers(9, 5, seed=5), numbers(9, seed=6)
    return hidden, weight, bias, torch.randint(9, (7,), generator=generator)


def formula(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    return nn.functional.cross_entropy(nn.functional.linear(hidden, weight, bias), targets)


def test_a_traced_loss_takes_other_numbers() -> None:
    traced = torch.jit.trace(lambda *given: linear_cross_entropy(*given), words())
    assert near(traced(*words(seed=3)), formula(*words(seed=3)))


def test_a_graph_of_the_loss() -> None:
    graph = make_fx(lambda *given: token_losses(*given))(*words())
    found = graph(*words(seed=3))
    assert near(found.mean(), formula(*words(seed=3)))


@pytest.mark.parametrize("way", [by_grad, by_jvp, by_vmap, by_dual_numbers, by_many_gradients])
def test_transforms_of_the_loss(way: Callable[..., Tensor]) -> None:
    _, weight, bias, _ = words()
    targets = torch.randint(9, (STEPS * BATCH,), generator=torch.Generator().manual_seed(0))
    narrow = weight[:, :WIDTH].contiguous()
    results = [
        way(lambda x, loss=loss: loss(x.reshape(-1, WIDTH), narrow, bias, targets))
        for loss in (linear_cross_entropy, formula)
    ]
    assert near(*results)


def test_gradients_of_gradients_of_the_loss() -> None:
    results = []
    for loss in (linear_cross_entropy, formula):
        hidden, weight, bias, targets = words()
        leaves = [tensor.requires_grad_() for tensor in (hidden, weight, bias)]
        first = torch.autograd.grad(loss(*leaves, targets), leaves, create_graph=True)
        norm = sum(gradient.square().sum() for gradient in first)
        results.append([*first, *torch.autograd.grad(norm, leaves)])
    assert all(map(near, *results))


def test_gradients_of_gradients_without_bias() -> None:
    results = []
    for loss in (linear_cross_entropy, formula):
        hidden, weight, _, targets = words()
        hidden.requires_grad_()
        [first] = torch.autograd.grad(
            loss(hidden, weight, None, targets), hidden, create_graph=True
        )
        results.append(torch.autograd.grad(first.square().sum(), hidden)[0])
    assert near(*results)


def test_the_loss_under_autocast_and_of_zeros_without_memory() -> None:
    hidden, weight, bias, targets = words()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = linear_cross_entropy(hidden, weight, bias, targets)
        assert torch.equal(found, formula(hidden, weight, bias, targets))
    zeros = torch._efficientzerotensor(hidden.shape)
    assert near(
        token_losses(zeros, weight, bias, targets).mean(), formula(zeros, weight, bias, targets)
    )


def test_targets_elsewhere_are_an_error() -> None:
    hidden, weight, bias, targets = words()
    with pytest.raises(ValueError, match="targets must be on cpu as hidden is, not meta"):
        linear_cross_entropy(hidden, weight, bias, targets.to("meta"))


def test_the_loss_of_fake_tensors() -> None:
    with FakeTensorMode() as mode:
        assert linear_cross_entropy(*(mode.from_tensor(t) for t in words())).shape == ()
