"""`Recurrent` as a module: names, copies, dropout, banks, starting values."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable

import pytest
import torch
from support import core_calls, thetas

from cellwright.cell import Cell, Node
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent, WeightBank

BACKENDS = ("torch", "native")
KEYED = Cell(
    [
        Node("s", "linear", ("x", "h0"), keys=("wx", "wh")),
        Node("t", "tanh", ("s",)),
        Node("u", "linear", ("t", "h0"), keys=("wh", "wh"), bias=False),
        Node("h", "sigmoid", ("u",)),
    ],
    ["h"],
)


def names(module: Recurrent) -> list[str]:
    return list(module.state_dict())


def test_names_of_parameters_are_pinned() -> None:
    assert names(Recurrent(zoo["lstm"], 4, 6)) == [
        f"layer0.{gate}_{source}"
        for gate in "ifgo"
        for source in ("x.weight_x", "x.bias", "h.weight_h0", "h.bias")
    ]
    sources = ["s_0", "s_1", "s_2", "s_3", "s_4", "s_1", "s_5", "s_1"]
    assert names(Recurrent(zoo["darts-v1"], 4, 6)) == [
        *(f"layer0.{which}_0.weight_{source}" for which in "ch" for source in ("x", "h0")),
        *(
            f"layer0.{which}_{node}.weight_{source}"
            for node, source in enumerate(sources, 1)
            for which in "ch"
        ),
    ]
    assert names(Recurrent(KEYED, 4, 6)) == ["layer0.bank.wx", "layer0.bank.wh", "layer0.s.bias"]
    both = names(Recurrent(zoo["rnn"], 4, 6, 2, bidirectional=True))
    assert [name.split(".")[0] for name in both[::4]] == [
        "layer0", "layer0_reverse", "layer1", "layer1_reverse",
    ]  # fmt: skip


def test_a_weight_per_use_of_the_same_input() -> None:
    cell = Cell([Node("s", "linear", ("x", "x", "h0")), Node("h", "tanh", ("s",))], ["h"])
    ends = [name.rsplit(".", 1)[1] for name in names(Recurrent(cell, 4, 6))]
    assert ends == ["weight_x", "weight_x_2", "weight_h0", "bias"]


def test_the_number_of_parameters_is_the_cells() -> None:
    for name in ("lstm", "darts-v1", "sentpair-3"):
        module = Recurrent(zoo[name], 4, 6)
        assert sum(p.numel() for p in module.parameters()) == zoo[name].parameters(4, 6)


def through_torch_save(module: Recurrent) -> Recurrent:
    buffer = io.BytesIO()
    torch.save(module, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=False)


COPIES: dict[str, Callable[[Recurrent], Recurrent]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda module: pickle.loads(pickle.dumps(module)),
    "torch.save": through_torch_save,
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("cell", [zoo["lstm"], KEYED, darts_supernet(2).cell], ids=str)
def test_copies_compute_the_same_and_stand_alone(cell: Cell, way: str) -> None:
    module = Recurrent(cell, 4, 6, 2, bidirectional=True)
    x, theta = torch.randn(5, 3, 4), thetas(cell)
    expected = module(x, theta=theta)[0]
    expected.sum().backward()  # what a module keeps of past calls must not stand in the way
    other = COPIES[way](module)
    with core_calls() as calls:
        found = other(x, theta=theta)[0]
    assert len(calls) == 4
    assert torch.equal(found, expected)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    assert torch.equal(module(x, theta=theta)[0], expected)


def test_state_dict_round_trip() -> None:
    one, other = (Recurrent(zoo["gru"], 4, 6, 2, bidirectional=True) for _ in range(2))
    x = torch.randn(5, 3, 4)
    assert not torch.equal(one(x)[0], other(x)[0])
    buffer = io.BytesIO()
    torch.save(one.state_dict(), buffer)
    buffer.seek(0)
    other.load_state_dict(torch.load(buffer, weights_only=True))
    assert torch.equal(one(x)[0], other(x)[0])


# -- dropout -------------------------------------------------------------------------------

PLAIN = Cell([Node("s", "linear", ("x", "h0"), bias=False), Node("h", "identity", ("s",))], ["h"])
"""h(t) = W·x + U·h(t−1): masks can be read off its output."""


def plain(backend: str, **dropout: float) -> Recurrent:
    """With W = U = 1, so that every output is its own input plus its own past."""
    module = Recurrent(PLAIN, 8, 8, backend=backend, **dropout)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.eye(8))
    return module


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["dropout", "input_dropout", "hidden_dropout", "weight_dropout"])
def test_dropout_is_for_training_only(kind: str, backend: str) -> None:
    module = Recurrent(zoo["lstm"], 4, 6, 2, backend=backend, **{kind: 0.5})
    without = Recurrent(zoo["lstm"], 4, 6, 2, backend=backend)
    without.load_state_dict(module.state_dict())
    x = torch.randn(5, 3, 4)
    assert not torch.equal(module(x)[0], without(x)[0])
    assert torch.equal(module.eval()(x)[0], without(x)[0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_input_dropout_has_one_mask_per_row_for_all_steps(backend: str) -> None:
    torch.manual_seed(0)
    output, _ = plain(backend, input_dropout=0.5)(torch.ones(4, 30, 8))
    masks = output[0]
    assert set(masks.unique().tolist()) == {0.0, 2.0}  # scaled by 1 / (1 − p)
    assert 0.4 < (masks == 0).float().mean() < 0.6
    assert len(masks.unique(dim=0)) > 20  # rows have masks of their own
    steps = torch.arange(1, 5).reshape(4, 1, 1)
    assert torch.equal(output, steps * masks)


@pytest.mark.parametrize("backend", BACKENDS)
def test_hidden_dropout_has_one_mask_per_row_for_all_steps(backend: str) -> None:
    torch.manual_seed(0)
    x = torch.zeros(4, 30, 8)
    output, _ = plain(backend, hidden_dropout=0.5)(x, torch.ones(1, 30, 8))
    masks = output[0]
    assert set(masks.unique().tolist()) == {0.0, 2.0}
    assert len(masks.unique(dim=0)) > 20
    powers = torch.arange(1, 5).reshape(4, 1, 1)
    assert torch.equal(output, masks**powers)


@pytest.mark.parametrize("backend", BACKENDS)
def test_weight_dropout_leaves_input_weights_alone(backend: str) -> None:
    torch.manual_seed(0)
    module = Recurrent(zoo["rnn"], 30, 40, backend=backend, weight_dropout=0.25)
    module(torch.randn(3, 5, 30), torch.randn(1, 5, 40))[0].sum().backward()
    on_x, _, on_h, _ = (p.grad for p in module.parameters())
    assert (on_x != 0).all()
    assert 0.2 < (on_h == 0).float().mean() < 0.3
    # One row, one step, U = 1: the output shows the masked weight's diagonal.
    one = plain(backend, weight_dropout=0.5)
    output, _ = one(torch.zeros(1, 2, 8), torch.ones(1, 2, 8))
    assert set(output.unique().tolist()) == {0.0, 2.0}
    assert torch.equal(output[0, 0], output[0, 1])  # one mask for the whole batch
    assert torch.equal(one(torch.ones(1, 2, 8))[0], torch.ones(1, 2, 8))


def test_dropout_between_layers_spares_the_last() -> None:
    module = Recurrent(PLAIN, 4, 4, 2, dropout=1.0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.eye(4))
    output, state = module(torch.ones(2, 3, 4))
    assert not output.any()
    assert state[0].all()  # the first layer itself ran on what it got
    alone = Recurrent(zoo["rnn"], 4, 4, dropout=1.0)
    assert alone(torch.randn(2, 3, 4))[0].any()


# -- banks and starting values -------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_cells_of_one_bank_share_parameters_and_gradients(backend: str) -> None:
    other = Cell(
        [Node("s", "linear", ("h0", "x"), keys=("wh", "wx")), Node("h", "relu", ("s",))], ["h"]
    )
    bank = WeightBank()
    one, two = (Recurrent(c, 4, 6, bank=bank, backend=backend) for c in (KEYED, other))
    assert one.layer0.bank.wh is two.layer0.bank.wh is bank.layer0.wh
    x = torch.randn(5, 3, 4)
    gradients = []
    for module in (one, two):
        bank.zero_grad()
        module(x)[0].sum().backward()
        gradients.append(bank.layer0.wh.grad.clone())
    bank.zero_grad()
    (one(x)[0].sum() + two(x)[0].sum()).backward()
    assert torch.allclose(bank.layer0.wh.grad, sum(gradients), atol=1e-5)


def test_a_bank_keeps_one_part_for_each_layer_and_direction() -> None:
    bank = WeightBank()
    Recurrent(KEYED, 4, 6, 2, bidirectional=True, bank=bank)
    assert {name.split(".")[0] for name in bank.state_dict()} == {
        "layer0", "layer0_reverse", "layer1", "layer1_reverse",
    }  # fmt: skip


def test_a_bank_refuses_another_shape() -> None:
    bank = WeightBank()
    Recurrent(KEYED, 4, 6, bank=bank)
    with pytest.raises(ValueError, match=r"weight 'wx' is \(6, 4\), the cell needs \(6, 5\)"):
        Recurrent(KEYED, 5, 6, bank=bank)


@pytest.mark.parametrize(("init_range", "bound"), [(None, 0.25), (0.04, 0.04)])
def test_parameters_start_uniform_within_bounds(init_range: float | None, bound: float) -> None:
    torch.manual_seed(0)
    for cell in (zoo["lstm"], KEYED):
        module = Recurrent(cell, 16, 16, init_range=init_range)
        values = torch.cat([p.detach().flatten() for p in module.parameters()])
        assert values.abs().max() <= bound
        assert values.abs().max() > 0.9 * bound
        assert abs(values.mean()) < 0.1 * bound


def test_reset_parameters_spares_a_bank() -> None:
    bank = WeightBank()
    module = Recurrent(KEYED, 4, 6, bank=bank)
    before = {name: p.detach().clone() for name, p in module.named_parameters()}
    module.reset_parameters()
    changed = {n for n, p in module.named_parameters() if not torch.equal(p, before[n])}
    assert changed == {"layer0.s.bias"}
