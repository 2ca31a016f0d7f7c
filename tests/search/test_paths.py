"""Searches that run one sampled cell of the supernet a step."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import torch
from texts import NO_DROPOUT, small_search

from cellwright.cell.listings.supernets import Supernet, darts_supernet, ess_supernet
from cellwright.engine import Recurrent, WeightBank
from cellwright.runs.errors import RecipeError
from cellwright.search.gradient.architecture import thetas_by_node
from cellwright.search.gradient.derive import derive
from cellwright.search.gradient.paths import Path, choice_model, only, sampled
from cellwright.search.gradient.search import DifferentiableSearch
from cellwright.search.one_shot.recipes import load_search_recipe

SUPERNETS = {
    "darts": darts_supernet(3, norm="none"),
    "darts, rows": darts_supernet(3, norm="row"),
    "plain": darts_supernet(3, edges="plain", norm="none"),
    "ess": ess_supernet(2, 2, alpha=True),
}


def first_live(supernet: Supernet) -> dict[str, int]:
    """An edge into each node, from different predecessors and with different operations."""
    chosen = {}
    for number, names in enumerate(thetas_by_node(supernet).values()):
        name = names[number % len(names)]
        ops = [edge.op for edge in supernet.edges[name]]
        live = [place for place, op in enumerate(ops) if op != "none"]
        chosen[name] = live[number % len(live)]
    return chosen


@pytest.mark.parametrize("backend", ["native", "torch"])
@pytest.mark.parametrize("name", SUPERNETS)
def test_a_path_computes_what_the_supernet_does_with_one_hot_theta(name: str, backend: str) -> None:
    """Outputs, gradients of the weights, and of the θ of the edges that are there."""
    torch.manual_seed(1)
    supernet = SUPERNETS[name]
    chosen = first_live(supernet)
    bank = WeightBank(init_range=0.5)
    whole = Recurrent(supernet.cell, 4, 4, bank=bank, backend=backend)
    part = only(supernet, chosen)
    single = Recurrent(part.cell, 4, 4, bank=bank, backend=backend)
    assert set(dict(single.named_parameters())) <= set(dict(whole.named_parameters()))
    x = torch.randn(5, 3, 4)
    hot = {key: torch.zeros(len(edges)) for key, edges in supernet.edges.items()}
    for key, place in chosen.items():
        hot[key][place] = 1.0
    hot = {key: value.requires_grad_() for key, value in hot.items()}
    ones = {key: torch.ones(1, requires_grad=True) for key in chosen}
    y, z = whole(x, theta=hot)[0], single(x, theta=ones)[0]
    torch.testing.assert_close(y, z, atol=1e-6, rtol=1e-5)
    weights = list(single.parameters())
    theirs = torch.autograd.grad(y.square().sum(), [*weights, *(hot[key] for key in chosen)])
    own = torch.autograd.grad(z.square().sum(), [*weights, *ones.values()])
    many = len(weights)
    for its, mine in zip(theirs[:many], own[:many], strict=True):
        torch.testing.assert_close(its, mine, atol=1e-4, rtol=1e-4)
    for its, mine, place in zip(theirs[many:], own[many:], chosen.values(), strict=True):
        torch.testing.assert_close(its[place], mine[0], atol=1e-4, rtol=1e-4)
    if name != "darts, rows":  # a derived cell has no norms
        derived = derive(supernet, hot)
        cell = Recurrent(derived.cell, 4, 4, bank=bank, backend=backend)
        torch.testing.assert_close(cell(x)[0], z, atol=1e-6, rtol=1e-5)


def test_the_straight_through_gradient_by_hand() -> None:
    """Forward 1; backward (L' · p_k) (1 − p_k) / τ for the sampled variable, −L' p_k p_l / τ."""
    search = small_search(kind="i-darts", norm="none", sampling="gdas", nodes=1,
                          operations=["none", "tanh", "relu"], temperature=0.5)  # fmt: skip
    [variables] = search.variables.parameters()
    with torch.no_grad():
        variables.copy_(torch.tensor([[0.3, 0.2, -0.4]]))
    path = sampled(search._stage, search._bank, search.settings, 1, "here")
    [(name, place)] = path.chosen.items()
    [weight] = path.theta().values()
    assert weight.tolist() == [1.0]
    (7.0 * weight).sum().backward()
    noise = path.noise[name][1:]
    # Over all edges into a node ln θ is the variable, up to a number that all have in common.
    shares = ((variables.detach()[0, 1:] + noise) / 0.5).softmax(0)
    other = 2 - place  # place 1 or 2, the first of them is shares[0]
    mine = shares[place - 1]
    wanted = torch.zeros(3)
    wanted[place] = 7.0 * mine * (1 - mine) / 0.5
    wanted[other + 1] = -7.0 * mine * shares[other] / 0.5
    assert variables.grad is not None
    torch.testing.assert_close(variables.grad[0], wanted)


def drawn(search: DifferentiableSearch, uniform: bool) -> Counter[str]:
    """How often each operation into the one node was sampled."""
    found: Counter[str] = Counter()
    for number in range(400):
        path = sampled(search._stage, search._bank, search.settings, 0, number, uniform=uniform)
        found += Counter(edge.op for edges in path.supernet.edges.values() for edge in edges)
    return found


def test_edges_are_sampled_as_theta_says_or_all_alike() -> None:
    search = small_search(norm="none", sampling="gdas", nodes=1,
                          operations=["none", "tanh", "relu"])  # fmt: skip
    [variables] = search.variables.parameters()
    with torch.no_grad():
        variables.copy_(torch.tensor([[2.0, 0.75, 0.25]]).log())
    assert set(weighted := drawn(search, False)) == {"tanh", "relu"}
    assert 270 <= weighted["tanh"] <= 330
    assert 170 <= drawn(search, True)["tanh"] <= 230


def test_a_path_is_the_same_whenever_it_is_drawn() -> None:
    search = small_search(kind="ess", sampling="gdas", norm="none")
    before = torch.random.get_rng_state()
    paths = [sampled(search._stage, search._bank, search.settings, 3, "a", 1) for _ in range(2)]
    other = sampled(search._stage, search._bank, search.settings, 3, "a", 2)
    assert paths[0].chosen == paths[1].chosen != other.chosen
    assert torch.equal(before, torch.random.get_rng_state())
    nodes = len(thetas_by_node(search.supernet))
    assert len(paths[0].chosen) == nodes


def test_the_choice_is_measured_as_the_supernet_with_one_hot_theta() -> None:
    search = small_search(norm="row", sampling="gdas", model=NO_DROPOUT)
    with torch.no_grad():
        for variables in search.variables.parameters():
            variables.copy_(torch.randn_like(variables))
    stage, settings = search._stage, search.settings
    model = choice_model(stage, search._bank, settings)
    heaviest = {}
    for names in thetas_by_node(search.supernet).values():
        rows = torch.stack([search.variables.theta()[name] for name in names])
        rows[:, settings.operations.index("none")] = 0.0
        row, place = divmod(int(rows.argmax()), rows.shape[1])
        heaviest[names[row]] = place
    part = only(search.supernet, heaviest)
    single = replace(stage, supernet=part, model=stage.model.around(part.cell, search._bank))
    ones: dict[str, Any] = {name: torch.ones(1) for name in heaviest}
    measure = search.task.measure
    with torch.no_grad():
        wanted = measure(single.model, search._valid, theta=ones).loss
        assert measure(model, search._valid).loss == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("sampling", ["gdas", "uniform"])
def test_a_search_by_paths_learns_weights_and_variables(sampling: str) -> None:
    search = small_search(sampling=sampling, model=NO_DROPOUT, learning_rate=0.5)
    before = {name: value.clone() for name, value in search.variables.state_dict().items()}
    weights = search.weights()
    list(search.run())
    assert search.result().status == "ok"
    after = search.variables.state_dict()
    assert any(not torch.equal(value, after[name]) for name, value in before.items())
    assert any(not torch.equal(value, search.weights()[name]) for name, value in weights.items())
    assert isinstance(search._reading("weights", search._batches[0], 0).stage, Path)


def test_sampling_wants_an_operation() -> None:
    with pytest.raises(RecipeError, match="sampling needs an operation other than none"):
        load_search_recipe("darts-ptb", ["search.sampling=gdas", "search.operations=['none']"])
