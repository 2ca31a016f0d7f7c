"""A simplified cell computes the same, from the same weights, with less."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracle import run, with_keys

from cells import cells, family_cells, supernets
from cellwright.cell import Cell, Node

TRICKY = {
    "zero as wide as x": [
        Node("z", "zero", ("x",)),
        Node("minus", "sub", ("z", "x")),
        Node("h", "linear", ("minus", "h0")),
    ],
    "zero as wide as x meets a linear that is": [
        Node("z", "zero", ("x",)),
        Node("w", "linear", ("h0",), width="input"),
        Node("minus", "sub", ("z", "w")),
        Node("h", "linear", ("minus",)),
    ],
    "zero as wide as x in a cell without x": [
        Node("w", "linear", ("h0",), width="input"),
        Node("z", "zero", ("w",)),
        Node("half", "sigmoid", ("z",)),
        Node("h", "linear", ("half", "h0")),
    ],
    "all that is as wide as x is zero": [
        Node("z", "zero", ("h0",)),
        Node("w", "linear", ("z",), bias=False, width="input"),
        Node("half", "sigmoid", ("w",)),
        Node("h", "linear", ("half", "h0")),
    ],
    "only a bias is left": [
        Node("z", "zero"),
        Node("b", "linear", ("z", "z")),
        Node("h", "tanh", ("b",)),
    ],
    "zeros count in a mean": [
        Node("w", "linear", ("x", "h0")),
        Node("z", "zero", ("w",)),
        Node("h", "mean", ("w", "z", "z")),
    ],
    "blend by zero": [
        Node("z", "zero"),
        Node("w", "linear", ("x", "h0")),
        Node("h", "blend", ("z", "w", "h0")),
    ],
    "one is the exp of zero": [
        Node("z", "zero"),
        Node("one", "exp", ("z",)),
        Node("w", "linear", ("x", "h0")),
        Node("h", "div", ("w", "one")),
    ],
    "zero against a number": [
        Node("z", "zero"),
        Node("w", "linear", ("x", "h0")),
        Node("most", "max", ("z", "w")),
        Node("none", "max", ("z", "z")),
        Node("h", "add", ("most", "none")),
    ],
    "zero as wide as x in a cell with a vector that is": [
        Node("v", "vector", width="input"),
        Node("z", "zero", ("v",)),
        Node("half", "sigmoid", ("z",)),
        Node("h", "linear", ("half", "h0")),
    ],
    "an input becomes the state": [Node("h", "identity", ("x",))],
    "nothing is left": [Node("w", "linear", ("x", "h0")), Node("h", "zero", ("w",))],
}


def same_numbers(cell: Cell) -> Cell:
    cell = with_keys(cell)
    simple = cell.simplified()
    size = 4 if cell.needs_equal_widths else 3
    with np.errstate(all="ignore"):
        before, after = run(cell, size), run(simple, size)
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        if np.isfinite(one).all():  # a product with zero may drop an overflow
            np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9)
    return simple


@pytest.mark.parametrize("name", TRICKY)
def test_tricky_cells_compute_the_same(name: str) -> None:
    same_numbers(Cell(TRICKY[name], ["h"]))


@settings(max_examples=300)
@given(st.one_of(cells, supernets, family_cells))
def test_same_numbers_and_nothing_to_fold_is_left(cell: Cell) -> None:
    simple = same_numbers(cell)
    assert simple.simplified() == simple
    ends = {*simple.states, simple.output}
    for node in simple.nodes:
        assert node.op != "identity" or (node.name in ends and node.inputs[0] in simple.inputs)
        if node.op == "zero" and node.name not in ends:
            readers = {n.op for n in simple.nodes if node.name in n.inputs}
            needing = {"mean", "sub", "blend", "sigmoid", "mix", "linear", "exp", "max", "div"}
            keeps_width = simple.needs_equal_widths and any(n.keys for n in simple.nodes)
            assert readers <= needing or keeps_width
    alive = set(ends)
    for node in reversed(simple.nodes):
        assert node.name in alive, "a dead node is left"
        alive.update(node.inputs)


@given(cells)
@example(Cell(TRICKY["zero as wide as x"], ["h"]))
def test_simplifying_asks_for_no_more_than_the_cell_did(cell: Cell) -> None:
    simple = cell.simplified()
    assert set(simple.inputs) <= set(cell.inputs)
    assert simple.needs_equal_widths <= cell.needs_equal_widths
    assert simple.depth <= cell.depth + 1
    assert simple.parameters(3, 3) <= cell.parameters(3, 3)


@pytest.mark.parametrize("op", ["add", "blend"])
def test_shared_weights_read_values_of_one_width(op: str) -> None:
    """x with a zero as wide as the state is as wide as the state, and so is not just x."""
    inputs = ("x", "none") if op == "add" else ("x", "x", "none")
    nodes = [
        Node("none", "zero", ("h0",)),
        Node("both", op, inputs),
        Node("h", "linear", ("both", "h0"), keys=("w", "w")),
    ]
    simple = same_numbers(Cell(nodes, ["h"]))
    assert simple.width("both") == "hidden"


def test_a_dropped_edge_disappears() -> None:
    nodes = [
        Node("w", "linear", ("x", "h0")),
        Node("a", "tanh", ("w",)),
        Node("none", "zero", ("a",)),
        Node("same", "identity", ("a",)),
        Node("h", "add", ("none", "same")),
        Node("dead", "relu", ("h",)),
    ]
    simple = Cell(nodes, ["h"]).simplified()
    assert [node.name for node in simple.nodes] == ["w", "a"]
    assert simple.states == ("a",)
