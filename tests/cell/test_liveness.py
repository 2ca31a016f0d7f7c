"""Cells whose graph says that they cannot learn, and cells of which it does not."""

from __future__ import annotations

import pytest

from cellwright.cell import Cell, Node
from cellwright.cell.listings import DartsListing, EssListing, ess
from cellwright.cell.liveness import ALWAYS_ZERO, NEVER_READS, surely_dead
from cellwright.cell.validate import MAX_NODES
from cellwright.cell.zoo import zoo


def linear(name: str, *inputs: str, bias: bool = False) -> Node:
    return Node(name, "linear", inputs, bias=bias)


def ess_cell(op: str, f: str, g: str, edges: str = "plain") -> Cell:
    return ess.lower(EssListing(DartsListing.of([(op, 0)], edges=edges), (f,), (g,)))


X = linear("a", "x")
DEAD = {
    "a zero": (Cell([Node("h", "zero")], ["h"]), ALWAYS_ZERO),
    "a product with the state": (Cell([X, Node("h", "mul", ("a", "h0"))], ["h"]), ALWAYS_ZERO),
    "tanh of that": (
        Cell([X, Node("p", "mul", ("a", "h0")), Node("h", "tanh", ("p",))], ["h"]),
        ALWAYS_ZERO,
    ),
    "a gate without bias over an earlier state": (
        Cell([X, linear("g", "h0@3"), Node("h", "mul", ("a", "g"))], ["h"]),
        ALWAYS_ZERO,
    ),
    "a blend by zero of zeros": (
        Cell([X, Node("h", "blend", ("h0", "a", "h0"))], ["h"]),
        ALWAYS_ZERO,
    ),
    "two states that wait for each other": (
        Cell([X, Node("h", "mul", ("a", "h1")), Node("c", "mul", ("a", "h0"))], ["h", "c"]),
        ALWAYS_ZERO,
    ),
    "a difference of the same": (
        Cell([X, Node("i", "identity", ("a",)), Node("h", "sub", ("a", "i"))], ["h"]),
        ALWAYS_ZERO,
    ),
    "x read by another state alone": (
        Cell([linear("b", "h0", bias=True), Node("h", "tanh", ("b",)), X], ["h", "a"]),
        NEVER_READS,
    ),
    "a bias alone": (Cell([linear("h", "h0", bias=True)], ["h"]), NEVER_READS),
    "a sigmoid of zero": (
        Cell([X, Node("p", "mul", ("a", "h1")), Node("h", "sigmoid", ("h1",))], ["h", "p"]),
        NEVER_READS,
    ),
    "x dropped from a mean": (
        Cell([Node("z", "zero", ("x",)), linear("b", "h0", bias=True), X,
              Node("h", "mean", ("b", "z"))], ["h"]),
        NEVER_READS,
    ),
    "ESS without a sigmoid": (ess_cell("tanh", "sigmoid", "relu"), ALWAYS_ZERO),
    "ESS with a dropped gate": (ess_cell("relu", "tanh", "drop", "highway"), ALWAYS_ZERO),
}  # fmt: skip

LIVE = {
    "x alone": Cell([linear("h", "x")], ["h"]),
    "x a step ago": Cell([linear("h", "x@1")], ["h"]),
    "x by way of another state": Cell([X, linear("h", "h1")], ["h", "a"]),
    "a gate with a bias": Cell(
        [X, linear("g", "h0", bias=True), Node("h", "mul", ("a", "g"))], ["h"]
    ),
    "a gate with a sigmoid": Cell(
        [X, linear("g", "h0"), Node("s", "sigmoid", ("g",)), Node("h", "mul", ("a", "s"))], ["h"]
    ),
    "a blend by zero": Cell([X, Node("h", "blend", ("h0", "h0", "a"))], ["h"]),
    "ESS with a sigmoid in its gate": ess_cell("tanh", "relu", "sigmoid"),
}


@pytest.mark.parametrize("which", DEAD)
def test_a_dead_cell_is_told_by_its_graph(which: str):
    cell, reason = DEAD[which]
    assert surely_dead(cell) == reason


@pytest.mark.parametrize("which", LIVE)
def test_a_cell_that_lives_is_not(which: str):
    assert surely_dead(LIVE[which]) is None


@pytest.mark.parametrize("name", zoo)
def test_no_published_cell_is_dead(name: str):
    assert surely_dead(zoo[name]) is None


def test_a_sigmoid_inside_an_ess_cell_with_a_zero_gate_makes_it_live_but_deaf():
    """Its state leaves zero, and x, times a gate that is dropped, still never comes in."""
    assert surely_dead(ess_cell("sigmoid", "drop", "drop")) == NEVER_READS


def test_the_largest_cells_are_judged_too():
    chain = [Node("n0", "linear", ("x", "h0"))]
    chain += [Node(f"n{i}", "tanh", (f"n{i - 1}",)) for i in range(1, MAX_NODES)]
    assert surely_dead(Cell(chain, [chain[-1].name])) is None
    assert surely_dead(Cell([*chain[:-1], Node("h", "zero")], ["h"])) == ALWAYS_ZERO


def test_names_that_are_taken_do_not_matter():
    nodes = [Node("zero_0", "linear", ("x",)), Node("h", "mul", ("zero_0", "h0"))]
    assert surely_dead(Cell(nodes, ["h"])) == ALWAYS_ZERO
