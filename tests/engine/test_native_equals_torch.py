"""The native core computes what the torch backend computes, for random cells of every space."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch
from random_cases import random_case
from support import (
    Inputs,
    assert_native_is_torch,
    on,
    random_state,
    run,
    shared_out,
    thetas,
)

import cells
from cellwright.cell import Cell, Node
from cellwright.cell.listings import darts, enas, ess, fenas, nas_bench_nlp
from cellwright.cell.listings.supernets import darts_supernet, ess_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent
from effort import many


def supernet(rng: random.Random) -> Cell:
    operations = rng.sample(darts.OPERATIONS, rng.randint(1, len(darts.OPERATIONS)))
    edges, norm = rng.choice(darts.EDGES), rng.random() < 0.5
    nodes, m = rng.randint(1, 3), rng.randint(1, 3)
    if rng.random() < 0.5:
        return darts_supernet(nodes, operations, edges=edges, norm=norm).cell
    return ess_supernet(nodes, m, operations, edges=edges, norm=norm).cell


SPACES: dict[str, Callable[[random.Random], Cell]] = {
    "enas": lambda rng: enas.lower(cells.enas_listing(rng)),
    "darts": lambda rng: darts.lower(cells.darts_listing(rng)),
    "ess": lambda rng: ess.lower(cells.ess_listing(rng)),
    "fenas": lambda rng: fenas.lower(cells.fenas_listing(rng)),
    "nas-bench-nlp": lambda rng: nas_bench_nlp.lower(cells.recipe(rng)),
    "any": cells.cell,
    "any-supernet": lambda rng: cells.cell(rng, supernets=True),
    "supernet": supernet,
}
CELLS, CHUNK = many(16), 8


@pytest.mark.parametrize("start", range(0, CELLS, CHUNK))
@pytest.mark.parametrize("space", SPACES)
def test_random_cells_agree(space: str, start: int) -> None:
    for number in range(start, start + CHUNK):
        rng = random.Random(f"{space} {number}")
        module, inputs = random_case(SPACES[space](rng), rng)
        with shared_out(rng.choice((None, "rows", "columns", "directions"))):
            assert_native_is_torch(module, inputs)


@pytest.mark.parametrize("name", sorted(zoo))
def test_every_cell_of_the_zoo_agrees(name: str) -> None:
    torch.manual_seed(0)
    module = Recurrent(zoo[name], 17, 17, input_dropout=0.2, hidden_dropout=0.2, weight_dropout=0.2)
    x = torch.randn(6, 5, 17, requires_grad=True)
    assert_native_is_torch(module, Inputs(x, random_state(module, 5), [6, 2, 5, 1, 6]))


def test_large_sums_and_many_rows_agree() -> None:
    # More rows, columns and time steps than the core takes at once in any of its loops.
    torch.manual_seed(0)
    module = Recurrent(zoo["gru"], 70, 130)
    x = torch.randn(40, 30, 70, requires_grad=True)
    for by in ("rows", "columns"):
        with shared_out(by):
            assert_native_is_torch(module, Inputs(x, random_state(module, 30)))


def test_sums_of_very_many_products_agree() -> None:
    names = [f"a{i}" for i in range(150)]
    parts = [Node(name, "tanh", ("h0",)) for name in names]
    cell = Cell([*parts, Node("s", "linear", ("x", *names)), Node("h", "tanh", ("s",))], ["h"])
    module = Recurrent(cell, 3, 5, init_range=0.1)
    assert_native_is_torch(module, Inputs(torch.randn(3, 4, 3, requires_grad=True)))


@pytest.mark.parametrize("norm", ["batch", "row", "none"])
@pytest.mark.parametrize("edges", ["highway", "plain"])
def test_supernets_of_the_papers_size_agree(edges: str, norm: str) -> None:
    torch.manual_seed(0)
    for cell in (
        darts_supernet(8, edges=edges, norm=norm).cell,
        ess_supernet(8, 3, edges=edges, norm=norm).cell,
    ):
        module = Recurrent(cell, 20, 33, init_range=0.1)
        x = torch.randn(4, 6, 20, requires_grad=True)
        inputs = Inputs(x, random_state(module, 6), [4, 1, 3, 4, 2, 4], thetas(cell))
        with shared_out("rows"):
            assert_native_is_torch(module, inputs)


@pytest.mark.parametrize(
    "cell",
    [
        Cell([Node("h", "tanh", ("h0",))], ["h"]),
        Cell([Node("s", "linear", ("h0",)), Node("h", "tanh", ("s",))], ["h"]),
        Cell([Node("a", "zero"), Node("b", "sigmoid", ("h0@3",))], ["a", "b"], "b"),
    ],
    ids=["no parameters", "no x", "a state that is zero"],
)
def test_an_input_that_no_node_reads_has_no_gradient(cell: Cell) -> None:
    for layers in (1, 2):
        module = Recurrent(cell, 4, 4, layers)
        x = torch.randn(3, 2, 4, requires_grad=True)
        state = random_state(module, 2) if list(module.parameters()) else None
        assert_native_is_torch(module, Inputs(x, state))
        gradient = run(module, Inputs(x, state))["gradient of x"]
        assert gradient is None or not gradient.any()


def test_values_of_both_widths_in_one_cell_agree() -> None:
    # Rows of different lengths in the same memory must not meet between threads.
    nodes = [
        Node("a", "linear", ("h0",), width="input"),
        Node("b", "linear", ("a",)),
        Node("c", "sigmoid", ("b",)),
        Node("d", "linear", ("b",)),
        Node("h", "add", ("c", "d")),
    ]
    for seed in range(30):
        torch.manual_seed(seed)
        module = Recurrent(Cell(nodes, ["h"]), 1, 65, init_range=0.1)
        with shared_out("rows"):
            inputs = Inputs(torch.randn(9, 40, 1, requires_grad=True))
            assert_native_is_torch(module, inputs)


@pytest.mark.parametrize(
    "wide",
    [Node("w", "linear", ("h0",), width="input"), Node("w", "vector", width="input")],
    ids=["linear", "vector"],
)
def test_what_only_gives_a_zero_its_width_has_no_gradient(wide: Node) -> None:
    nodes = [wide, Node("z", "zero", ("w",)), Node("half", "sigmoid", ("z",))]
    module = Recurrent(Cell([*nodes, Node("h", "linear", ("half", "h0"))], ["h"]), 5, 7)
    inputs = Inputs(torch.randn(4, 3, 5, requires_grad=True), random_state(module, 3))
    assert_native_is_torch(module, inputs)
    assert not run(on(module, "native"), inputs)["gradient of layer0.w.bias"].any()


def test_x_outside_a_linear_needs_equal_widths() -> None:
    cell = Cell([Node("h", "mul", ("x", "h0"))], ["h"])
    with pytest.raises(ValueError, match=r"uses x outside a linear.* 3 and 5.*project_input=True"):
        Recurrent(cell, 3, 5)
    with pytest.raises(ValueError, match=r"layer 1 has 10 and 5$"):
        Recurrent(cell, 5, 5, 2, bidirectional=True)
    module = Recurrent(cell, 3, 5, 2, project_input=True)
    assert [name for name, _ in module.named_parameters()] == ["projection.weight"]
    x = torch.randn(2, 4, 3, requires_grad=True)
    assert_native_is_torch(module, Inputs(x, random_state(module, 4)))
    assert run(module, Inputs(x, torch.ones(2, 4, 5)))["gradient of projection.weight"].any()
