"""The variables of a search: softmaxes, groups, names, what is watched."""

from __future__ import annotations

import math

import pytest
import torch

from cellwright.base.errors import UserError
from cellwright.cell import CellError
from cellwright.cell.listings import DartsListing
from cellwright.cell.listings.supernets import darts_supernet, ess_supernet
from cellwright.search.gradient.architecture import Architecture
from cellwright.search.gradient.choices import fix
from cellwright.search.gradient.watching import watch


def drawn(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("softmax", ["pair", "node"])
def test_gradients_from_the_variables_to_theta(softmax: str) -> None:
    supernet = ess_supernet(3, 2, alpha=True)
    variables = Architecture(supernet, softmax, generator=drawn(), start=1.0).double()

    def theta(*_: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(variables.theta().values())  # gradcheck moves the variables themselves

    assert torch.autograd.gradcheck(theta, tuple(variables.parameters()))


def test_softmax_per_pair_and_per_node() -> None:
    """I-DARTS Eqs. 3 and 4 with numbers: w = ln 1, ln 2, ln 3, ln 4 on the edges into node 2."""
    supernet = darts_supernet(2, ("tanh", "relu"))
    for softmax, expected in {
        "pair": ([1 / 3, 2 / 3], [3 / 7, 4 / 7]),
        "node": ([0.1, 0.2], [0.3, 0.4]),
    }.items():
        variables = Architecture(supernet, softmax).double()
        with torch.no_grad():
            variables.intra["s_2"].copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]).double().log())
        theta = variables.theta()
        for source in (0, 1):
            assert theta[f"theta_2_{source}"].tolist() == pytest.approx(expected[source])


def test_groups_are_apart() -> None:
    supernet = ess_supernet(2, 2)
    variables = Architecture(supernet, generator=drawn())
    assert list(variables.theta("inter")) == ["theta_f_1", "theta_f_2", "theta_g_1", "theta_g_2"]
    assert {**variables.theta("intra"), **variables.theta("inter")}.keys() == supernet.edges.keys()
    optimizer = torch.optim.Adam(variables.group("inter").parameters(), 0.1)
    before = {name: value.clone() for name, value in variables.state_dict().items()}
    sum(weights[0] for weights in variables.theta().values()).backward()
    optimizer.step()
    moved = [n for n, value in variables.state_dict().items() if not torch.equal(value, before[n])]
    assert moved == ["inter.f_1", "inter.f_2", "inter.g_1", "inter.g_2"]


def test_a_fixed_group_has_no_variables() -> None:
    intra = DartsListing.of([("tanh", 0), ("relu", 1)], edges="plain")
    variables = Architecture(fix(ess_supernet(2, 1), "intra", intra))
    assert list(variables.state_dict()) == ["inter.f_1", "inter.g_1"]


def test_the_same_generator_gives_the_same_variables() -> None:
    supernet = darts_supernet(3)
    one, other, third = (
        Architecture(supernet, generator=drawn(seed)).state_dict() for seed in (1, 1, 2)
    )
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not any(torch.equal(one[name], third[name]) for name in one)
    spread = torch.cat([value.flatten() for value in one.values()]).std()
    assert 0.5e-3 < spread < 1.5e-3


def test_the_state_survives() -> None:
    supernet = ess_supernet(2, 1)
    one, other = (Architecture(supernet, "node", generator=drawn(seed)) for seed in (1, 2))
    other.load_state_dict(one.state_dict())
    assert all(torch.equal(one.theta()[name], theta) for name, theta in other.theta().items())


def test_bad_arguments() -> None:
    supernet = darts_supernet(1)
    with pytest.raises(UserError, match=r"unknown softmax 'pairs'.*'pair'"):
        Architecture(supernet, "pairs")
    with pytest.raises(UserError, match="unknown group 'outer'"):
        Architecture(supernet).theta("outer")
    with pytest.raises(CellError, match=r"no group 'inter' to fix.*searches intra"):
        fix(supernet, "inter", DartsListing.of([("tanh", 0)]))


# -- what is watched ---------------------------------------------------------------------


def test_uniform_weights_have_full_entropy_and_no_deviation() -> None:
    supernet = ess_supernet(2, 1)
    for softmax, intra in {"pair": math.log(5), "node": (math.log(5) + math.log(10)) / 2}.items():
        seen = watch(supernet, Architecture(supernet, softmax, start=0).theta(), softmax)
        assert seen["intra_entropy"] == pytest.approx(intra)
        assert seen["inter_entropy"] == pytest.approx(math.log(5))
        assert [seen[key] for key in ("mad", "intra_mad", "inter_mad")] == pytest.approx(
            [0] * 3, abs=1e-7
        )


def test_watched_numbers_by_hand() -> None:
    """Two operations: node 1 undecided, node 2 decided for one source; the gates in between."""
    supernet = ess_supernet(2, 1, ("none", "tanh"))
    theta = {
        "theta_1_0": torch.tensor([0.5, 0.5]),
        "theta_2_0": torch.tensor([1.0, 0.0]),
        "theta_2_1": torch.tensor([0.5, 0.5]),
        "theta_f_1": torch.tensor([0.25, 0.75]),
        "theta_g_1": torch.tensor([0.5, 0.5]),
    }
    half = math.log(2)
    quarter = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert watch(supernet, theta, "pair") == pytest.approx(
        {
            "entropy": (2 * half + half + quarter) / 5,
            "mad": (4 * 0 + 2 * 0.5 + 2 * 0.25 + 2 * 0) / 10,
            "intra_entropy": 2 * half / 3,
            "intra_mad": 2 * 0.5 / 6,
            "inter_entropy": (half + quarter) / 2,
            "inter_mad": 2 * 0.25 / 4,
        }
    )


def test_decided_weights_have_no_entropy() -> None:
    supernet = darts_supernet(2, ("tanh", "relu"))
    theta = {
        "theta_1_0": torch.tensor([0.0, 1.0]),
        "theta_2_0": torch.tensor([0.0, 0.0]),
        "theta_2_1": torch.tensor([1.0, 0.0]),
    }
    assert watch(supernet, theta, "node") == {
        "entropy": 0,
        "mad": pytest.approx((2 * 0.5 + 3 * 0.25 + 0.75) / 6),
        "intra_entropy": 0,
        "intra_mad": pytest.approx((2 * 0.5 + 3 * 0.25 + 0.75) / 6),
    }
