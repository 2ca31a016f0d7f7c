"""Derivatives by any way that torch has, and many calls in one, are those of the torch backend."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from support import on
from surroundings_cases import BATCH, OTHER, WAYS, marks, near, network, on_torch
from torch import Tensor
from torch.func import functional_call, grad, stack_module_state, vmap

pytestmark = marks


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("frozen", [False, True])
def test_transforms_and_derivatives(way: Callable[..., Tensor], frozen: bool) -> None:
    module = network("gru").requires_grad_(not frozen)
    found = way(lambda x: module(x)[0])
    assert near(found, way(lambda x: on(module, "torch")(x)[0]), atol=1e-4)


def test_gradients_of_each_sample() -> None:
    module = network()
    weights = {name: weight.detach() for name, weight in module.named_parameters()}

    def loss(weights: dict[str, Tensor], x: Tensor) -> Tensor:
        return functional_call(module, weights, (x,))[0].square().sum()

    found = vmap(grad(loss), in_dims=(None, 1))(weights, OTHER)
    for row in range(BATCH):
        module.zero_grad()
        on(module, "torch")(OTHER[:, row])[0].square().sum().backward()
        for name, weight in module.named_parameters():
            assert near(found[name][row], weight.grad, atol=1e-4)


def test_an_ensemble_in_one_call() -> None:
    modules = [network() for _ in range(2)]
    with torch.no_grad():
        for weight in modules[1].parameters():
            weight.mul_(2)
    stacked = stack_module_state(modules)  # type: ignore[arg-type]
    shell = copy.deepcopy(modules[0]).to("meta")
    found = vmap(lambda *s: functional_call(shell, s, (OTHER,))[0])(*stacked)
    assert near(found, torch.stack([on_torch(module, OTHER)[0] for module in modules]))


def test_other_weights_for_one_call() -> None:
    module = network()
    doubled = {name: 2 * weight.detach() for name, weight in module.named_parameters()}
    found = functional_call(module, doubled, (OTHER,))[0]
    module.load_state_dict(doubled)
    assert near(found, on_torch(module, OTHER)[0])
