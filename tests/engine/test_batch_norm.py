"""The norm over a batch: torch's own in training, running statistics in evaluation."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from cellwright.cell import Cell, Node
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.engine import Recurrent, WeightBank

NORMED = Cell(
    [Node("s", "linear", ("x",)), Node("n", "batch_norm", ("s",)), Node("h", "tanh", ("n",))], ["h"]
)
BACKENDS = ("torch", "native")


def module(backend: str, width: int = 5) -> Recurrent:
    torch.manual_seed(0)
    return Recurrent(NORMED, width, width, backend=backend, init_range=0.5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_is_torchs_batch_norm(backend: str) -> None:
    """Outputs in training and in evaluation, and the statistics that move in between."""
    rnn = module(backend)
    theirs = nn.BatchNorm1d(5, affine=False)
    products = nn.functional.linear
    for _ in range(3):
        x = torch.randn(1, 7, 5)
        before = products(x[0], *rnn.layer0.s.parameters())
        torch.testing.assert_close(rnn(x)[0][0], torch.tanh(theirs(before)))
    rnn.eval()
    theirs.eval()
    mean, variance = rnn.layer0.bank.n_statistics
    torch.testing.assert_close(mean, theirs.running_mean)
    torch.testing.assert_close(variance, theirs.running_var)
    x = torch.randn(4, 2, 5)
    before = products(x, *rnn.layer0.s.parameters()).flatten(0, 1)
    torch.testing.assert_close(rnn(x)[0].flatten(0, 1), torch.tanh(theirs(before)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_steps_of_a_call_count_alike(backend: str) -> None:
    rnn = module(backend)
    x = torch.randn(6, 4, 5)
    rnn(x)
    values = nn.functional.linear(x, *rnn.layer0.s.parameters())
    mean, variance = values.mean(1).mean(0), values.var(1).mean(0)
    expected = torch.stack([0.1 * mean, 0.9 + 0.1 * variance])
    torch.testing.assert_close(rnn.layer0.bank.n_statistics, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_in_evaluation_rows_do_not_see_each_other_and_nothing_moves(backend: str) -> None:
    rnn = module(backend)
    rnn(torch.randn(3, 6, 5))
    rnn.eval()
    before = {name: t.clone() for name, t in rnn.state_dict().items()}
    x = torch.randn(3, 4, 5)
    torch.testing.assert_close(rnn(x)[0][:, :1], rnn(x[:, :1])[0])
    assert all(torch.equal(t, before[name]) for name, t in rnn.state_dict().items())


def test_gradients_in_evaluation() -> None:
    one, other = module("native"), module("torch")
    x = torch.randn(3, 4, 5)
    found = []
    for rnn in (one, other):
        rnn(x)
        rnn.eval()
        rnn.zero_grad()
        rnn(x)[0].square().sum().backward()
        found.append([p.grad for p in rnn.parameters()])
    for mine, its in zip(*found, strict=True):
        torch.testing.assert_close(mine, its)


def test_rows_that_have_ended_do_not_count() -> None:
    rnn = module("native")
    x = torch.randn(3, 4, 5)
    y = rnn(x, lengths=[3, 3, 1, 1])[0]
    torch.testing.assert_close(y[1:, :2], module("torch")(x[1:, :2])[0])


@pytest.mark.parametrize("threads", [2, 3])
def test_the_same_bits_with_any_number_of_threads(threads: int) -> None:
    """Threads have rows of the batch; a norm reads all of them."""
    supernet = darts_supernet(2, norm="batch")
    theta = {name: torch.full((len(e),), 1 / len(e)) for name, e in supernet.edges.items()}
    found = []
    before = torch.get_num_threads()
    for count in (1, threads):
        torch.manual_seed(0)
        rnn = Recurrent(supernet.cell, 64, 64, backend="native")
        torch.set_num_threads(count)
        try:
            y, _ = rnn(torch.randn(8, 40, 64), theta=theta)
            y.square().sum().backward()
        finally:
            torch.set_num_threads(before)
        found.append([y.detach(), *(p.grad for p in rnn.parameters()), *rnn.buffers()])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_cells_of_one_bank_share_statistics() -> None:
    bank = WeightBank()
    one, other = (Recurrent(NORMED, 5, 5, bank=bank) for _ in range(2))
    one(torch.randn(2, 3, 5))
    assert torch.equal(one.layer0.bank.n_statistics, other.layer0.bank.n_statistics)
    assert "layer0.bank.n_statistics" in other.state_dict()
    assert all("statistics" not in name for name, _ in other.named_parameters())
