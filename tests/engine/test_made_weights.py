"""Weights that are made of others: parametrized, normed, pruned, copied, assigned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support import core_calls
from surroundings_cases import OTHER, WIDTH, marks, near, network
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize, prune

from cellwright.cell.listings import EnasListing, enas
from cellwright.engine import Recurrent

pytestmark = marks


class Twice(nn.Module):
    def forward(self, weight: Tensor) -> Tensor:
        return 2 * weight


def test_parametrized_weights_learn() -> None:
    module = network()
    holder = module.layer0.i_x
    parametrize.register_parametrization(holder, "weight_x", Twice())
    parametrize.register_parametrization(holder, "bias", Twice())
    plain = network()
    with torch.no_grad():
        plain.layer0.i_x.weight_x.mul_(2)
        plain.layer0.i_x.bias.mul_(2)
    with core_calls() as calls:
        output = module(OTHER)[0]
    assert calls
    expected = plain(OTHER)[0]
    assert torch.equal(output, expected)
    output.sum().backward()
    expected.sum().backward()
    found = holder.parametrizations.weight_x.original.grad
    assert torch.equal(found, 2 * plain.layer0.i_x.weight_x.grad)


def test_a_shared_weight_that_is_made_of_others_is_dropped_once() -> None:
    cell = enas.lower(EnasListing("tanh", ((0, "relu"), (1, "tanh"))), keys=True)
    torch.manual_seed(0)
    module = Recurrent(cell, WIDTH, WIDTH, weight_dropout=0.5)
    torch.manual_seed(1)
    expected = module(OTHER)[0]
    bank = module.layer0.bank
    for name in [name for name, _ in bank.named_parameters()]:
        parametrize.register_parametrization(bank, name, nn.Identity())
    torch.manual_seed(1)
    assert torch.equal(module(OTHER)[0], expected)


@pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")
@pytest.mark.parametrize("norm", [nn.utils.weight_norm, parametrizations.weight_norm])
def test_normed_weights(norm: Callable[..., Any]) -> None:
    module = network()
    expected = module(OTHER)[0]
    norm(module.layer0.f_h, "weight_h0")
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    assert near(module(OTHER)[0], expected)
    for _ in range(2):  # the weight is made anew for each call
        module(OTHER)[0].sum().backward()
        optimizer.step()
    assert not near(module(OTHER)[0], expected)


def test_pruned_weights() -> None:
    module = network()
    prune.l1_unstructured(module.layer0.f_h, "weight_h0", amount=0.5)
    found = module(OTHER)[0]
    found.sum().backward()
    assert int((module.layer0.f_h.weight_h0 == 0).sum()) == 18
    assert not near(found, network()(OTHER)[0])
    prune.remove(module.layer0.f_h, "weight_h0")
    assert near(module(OTHER)[0], found)


def replica(module: nn.Module) -> nn.Module:
    """A copy as `nn.DataParallel` makes them: its weights are no parameters."""
    made: Any = module._replicate_for_data_parallel()  # type: ignore[operator]
    for name, child in module.named_children():
        setattr(made, name, replica(child))
    for name, parameter in module.named_parameters(recurse=False):
        setattr(made, name, parameter.view_as(parameter))
    return made


def test_a_replica_computes_the_same_and_hands_gradients_back() -> None:
    module = network()
    output = replica(module)(OTHER)[0]
    assert torch.equal(output, module(OTHER)[0])
    output.sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())


def test_weights_that_were_assigned() -> None:
    module = network()
    state = {name: weight.clone() for name, weight in module.state_dict().items()}
    other = network("lstm").to("meta")
    other.load_state_dict(state, assign=True)
    assert torch.equal(other(OTHER)[0], module(OTHER)[0])
    module.load_state_dict({name: weight.double() for name, weight in state.items()}, assign=True)
    assert module(OTHER.double())[0].dtype == torch.float64
