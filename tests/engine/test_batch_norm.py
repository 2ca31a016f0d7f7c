"""The norm over a batch: torch's own, with the statistics of the batch."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from cellwright.cell import Cell, Node
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.engine import Recurrent

BACKENDS = ("torch", "native")
EPSILONS = {"batch_norm": 1e-5, "damped_batch_norm": 1.0}


def module(backend: str, norm: str = "batch_norm") -> Recurrent:
    torch.manual_seed(0)
    nodes = [Node("s", "linear", ("x",)), Node("n", norm, ("s",)), Node("h", "tanh", ("n",))]
    return Recurrent(Cell(nodes, ["h"]), 5, 5, backend=backend, init_range=0.5)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("norm", EPSILONS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_it_is_torchs_batch_norm_at_each_step(backend: str, norm: str, training: bool) -> None:
    rnn = module(backend, norm).train(training)
    theirs = nn.BatchNorm1d(5, EPSILONS[norm], affine=False, track_running_stats=False)
    x = torch.randn(3, 7, 5)
    before = nn.functional.linear(x, *rnn.layer0.s.parameters())
    expected = torch.stack([torch.tanh(theirs(step)) for step in before])
    torch.testing.assert_close(rnn(x)[0], expected)
    for found, wanted in zip(
        torch.autograd.grad(rnn(x)[0].square().sum(), [*rnn.parameters()]),
        torch.autograd.grad(expected.square().sum(), [*rnn.parameters()]),
        strict=True,
    ):
        torch.testing.assert_close(found, wanted, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_varies_little_stays_small_behind_a_damped_norm(backend: str) -> None:
    """By hand: of 1, 2, 3, with a variance of 2/3, remain -1, 0 and 1 over the root of 5/3."""
    nodes = [Node("s", "linear", ("x",), bias=False), Node("h", "damped_batch_norm", ("s",))]
    rnn = Recurrent(Cell(nodes, ["h"]), 1, 1, backend=backend)
    torch.nn.init.ones_(rnn.layer0.s.weight_x)
    y, _ = rnn(torch.tensor([[[1.0], [2.0], [3.0]]]))
    torch.testing.assert_close(y.flatten(), torch.tensor([-0.7745967, 0.0, 0.7745967]))


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_that_have_ended_do_not_count(backend: str) -> None:
    x = torch.randn(3, 4, 5)
    y = module(backend)(x, lengths=[3, 3, 1, 1])[0]
    torch.testing.assert_close(y[1:, :2], module(backend)(x[1:, :2])[0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_that_are_all_alike_become_zero(backend: str) -> None:
    rnn = module(backend)
    y, _ = rnn(torch.randn(3, 1, 5).expand(3, 4, 5))
    torch.testing.assert_close(y, torch.zeros_like(y), rtol=0, atol=1e-3)
    assert not rnn(torch.randn(3, 1, 5))[0].any()


@pytest.mark.parametrize("norm", ["batch_norm", "damped_batch_norm", "norm"])
@pytest.mark.parametrize("size", [3, 5, 7, 11, 20, 33])
def test_equal_numbers_leave_nothing_however_they_round(norm: str, size: int) -> None:
    """Norms in a row would make 0.01 of what is left: ESS' supernets have such first steps."""
    nodes = [Node("s", "linear", ("x",), bias=True), Node("n", norm, ("s",))]
    nodes += [Node("m", norm, ("n",)), Node("h", norm, ("m",))]
    rnn = Recurrent(Cell(nodes, ["h"]), size, size, backend="native")
    with torch.no_grad():
        for parameter in rnn.parameters():  # all features are the same number, in all rows
            parameter.fill_(0.213 if parameter.dim() == 1 else 0.0)
    assert not rnn(torch.randn(2, size, size))[0].any()


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
        found.append([y.detach(), *(p.grad for p in rnn.parameters())])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))
