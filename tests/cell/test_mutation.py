"""Changes of cells, whatever their space."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright import Cell, zoo
from cellwright.cell.cell import Node
from cellwright.cell.mutation import ACTIVATIONS, mutated


@pytest.mark.parametrize("name", sorted(set(zoo) - {f"sentpair-{i}" for i in range(2, 27)}))
def test_every_cell_of_the_zoo_has_changes(name):
    rng = np.random.default_rng(0)
    found = {mutated(zoo[name], rng) for _ in range(12)}
    assert len(found - {None}) > 3
    for cell in found - {None}:
        assert cell.id != zoo[name].simplified().id
        assert cell.id == cell.simplified().id  # nothing in it is dead
        assert {"x", "h0"} <= set(cell.inputs)


def test_the_same_generator_changes_alike():
    def walk() -> list[str]:
        rng, cell, ids = np.random.default_rng(7), zoo["gru"], []
        for _ in range(20):
            cell = mutated(cell, rng) or cell
            ids.append(cell.id)
        return ids

    assert walk() == walk()


def test_functions_and_edges_and_nodes_change():
    """Of a cell of two nodes every kind of change is seen."""
    cell = Cell([Node("s", "linear", ("x", "h0")), Node("h", "tanh", ("s",))], ["h"])
    rng = np.random.default_rng(1)
    found = [mutated(cell, rng) for _ in range(200)]
    texts = {one.to_text() for one in found if one is not None}
    ops = {frozenset(node.op for node in one.nodes) for one in found if one is not None}
    for op in ACTIVATIONS[1:-1]:
        assert {"linear", op} in ops
    assert {"linear", "tanh", "sigmoid", "mul"} in ops  # a gate came in
    assert any("tanh" in text and "relu" in text for text in texts)  # an activation did


def test_a_cell_that_cannot_change_gives_none():
    cell = Cell([Node("s", "linear", ("x", "h0"))], ["s"])
    rng = np.random.default_rng(0)
    assert all(one is None or len(one.nodes) > 1 for one in (mutated(cell, rng) for _ in range(9)))
