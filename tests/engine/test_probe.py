"""`dead_reason`: what the graph says, and where it says nothing, a short run."""

from __future__ import annotations

import pytest
import torch

from cellwright.cell import Cell, Node
from cellwright.cell.listings.supernets import ess_supernet
from cellwright.cell.liveness import ALWAYS_ZERO, surely_dead
from cellwright.cell.zoo import zoo
from cellwright.engine.probe import NO_SPREAD, dead_reason

X = Node("a", "linear", ("x",), bias=False)

BY_CHANCE = {
    "relu of what is below zero": [
        Node("s", "sigmoid", ("a",)), Node("n", "sub", ("z", "s")), Node("h", "relu", ("n",))
    ],
    "a blend of the same": [Node("b", "linear", ("h0",)), Node("h", "blend", ("a", "b", "b"))],
}  # fmt: skip


@pytest.mark.parametrize("which", BY_CHANCE)
def test_a_run_finds_what_the_graph_does_not_say(which: str):
    cell = Cell([X, Node("z", "zero"), *BY_CHANCE[which]], ["h"])
    assert surely_dead(cell) is None
    assert dead_reason(cell) == NO_SPREAD


def test_what_the_graph_says_comes_first():
    assert dead_reason(Cell([X, Node("h", "mul", ("a", "h0"))], ["h"])) == ALWAYS_ZERO


@pytest.mark.parametrize("name", zoo)
def test_every_published_cell_lives(name: str):
    assert dead_reason(zoo[name]) is None


def test_a_cell_that_explodes_is_not_dead():
    square = Cell([X, Node("s", "add", ("a", "h0")), Node("h", "mul", ("s", "s", "s"))], ["h"])
    assert dead_reason(square) is None


def test_a_small_signal_is_one():
    shrunk: list[Node] = [X]
    for number in range(3):
        shrunk.append(Node(f"s{number}", "mean", (shrunk[-1].name, *["z"] * 9)))
    assert dead_reason(Cell([Node("z", "zero"), *shrunk], [shrunk[-1].name])) is None


def test_a_supernet_is_judged_by_its_graph():
    assert dead_reason(ess_supernet(2, 1).cell) is None


def test_the_probe_leaves_torch_s_generator_as_it_was():
    torch.manual_seed(3)
    first = torch.rand(1)
    torch.manual_seed(3)
    dead_reason.__wrapped__(zoo["gru"])
    assert torch.equal(torch.rand(1), first)
