"""Mixes of one value's activations, and edges of supernets: the core, on every instruction set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
import torch
from support import Inputs, assert_identical, assert_native_is_torch, on, run

from cellwright.cell import Cell, Node
from cellwright.engine import Recurrent
from cellwright.engine import graph as graphs
from cellwright.engine.graph import Elementwise
from cellwright.engine.mixtures import MIXED_ACTIVATIONS, MOST_TARGETS

_native = pytest.importorskip("cellwright.engine._native")

USUAL = ("tanh", "sigmoid", "relu", "identity")
SETS_OF_ACTIVATIONS = [
    USUAL, MIXED_ACTIVATIONS, ("tanh",), ("sigmoid",), ("relu", "leaky_relu"),
    ("sigmoid", "identity"), ("tanh", "leaky_relu", "identity"),
]  # fmt: skip


@pytest.fixture(params=_native.instruction_sets(), autouse=True)
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    _native.use_instruction_set(request.param)
    yield request.param
    _native.use_instruction_set(_native.instruction_sets()[0])


def activations(of: str, kinds: Sequence[str]) -> list[Node]:
    return [Node(f"{kind}_{of}", kind, (of,)) for kind in kinds]


def mixes(of: str, kinds: Sequence[str], count: int) -> list[Node]:
    """Some mixes of the same activations of one value."""
    names = tuple(f"{kind}_{of}" for kind in kinds)
    return [Node(f"m{i}_{of}", "mix", names) for i in range(count)]


def ops(cell: Cell) -> list[str]:
    items = graphs.build(cell.simplified()).items
    return [item.op for item in items if isinstance(item, Elementwise)]


def check(cell: Cell, width: int = 37, batch: int = 5, *, input_gradient: bool = True) -> None:
    torch.manual_seed(0)
    module = Recurrent(cell, width, width)
    theta = {
        node.theta_name: torch.randn(len(node.inputs), requires_grad=True)
        for node in cell.nodes
        if node.op == "mix"
    }
    x = torch.randn(3, batch, width, requires_grad=input_gradient)
    assert_native_is_torch(module, Inputs(x, theta=theta))
    with torch.no_grad():
        expected, found = (on(module, b)(x, theta=theta)[0] for b in ("torch", "native"))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kinds", SETS_OF_ACTIVATIONS, ids=" ".join)
@pytest.mark.parametrize("count", [1, 3])
def test_mixes_of_one_value_are_taken_together(kinds: Sequence[str], count: int) -> None:
    nodes = [Node("z", "linear", ("x", "h0")), *activations("z", kinds), *mixes("z", kinds, count)]
    made = tuple(f"m{i}_z" for i in range(count))
    last = Node("h", "tanh", made) if count == 1 else Node("h", "mul", made)
    cell = Cell([*nodes, last], ["h"])
    assert ops(cell).count("mix_activations") == count
    check(cell)


def test_more_mixes_than_one_step_takes() -> None:
    count = 2 * MOST_TARGETS + 3
    nodes = [Node("z", "linear", ("x", "h0")), *activations("z", USUAL), *mixes("z", USUAL, count)]
    cell = Cell([*nodes, Node("h", "mean", tuple(f"m{i}_z" for i in range(count)))], ["h"])
    check(cell)


def test_mixes_of_one_value_that_end_in_one_sum() -> None:
    # Of three mixes, two are added to the same sum; the third is multiplied, and read by a zero.
    nodes = [
        Node("z", "linear", ("x", "h0")),
        *activations("z", USUAL),
        *mixes("z", USUAL, 3),
        Node("inner", "add", ("m0_z", "m1_z")),
        Node("half", "mul", ("m2_z", "z")),
        Node("h", "add", ("inner", "half", "h0")),
    ]
    check(Cell(nodes, ["h"]))


def test_a_mix_whose_activations_something_else_reads_is_as_before() -> None:
    nodes = [
        Node("z", "linear", ("x", "h0")),
        *activations("z", USUAL),
        *mixes("z", USUAL, 2),
        Node("both", "mul", ("m0_z", "m1_z")),
        Node("h", "add", ("both", "tanh_z")),
    ]
    cell = Cell(nodes, ["h"])
    assert "mix_activations" not in ops(cell)
    check(cell)


def test_a_mix_of_mixes() -> None:
    nodes = [
        Node("z", "linear", ("x", "h0")),
        *activations("z", USUAL),
        *mixes("z", USUAL, 2),
        Node("outer", "mix", ("m0_z", "m1_z", "h0")),
        Node("h", "tanh", ("outer",)),
    ]
    check(Cell(nodes, ["h"]))


def edge(tag: str, source: str, kinds: Sequence[str]) -> list[Node]:
    """An edge of DARTS' supernet."""
    names = tuple(f"{kind}_z{tag}" for kind in kinds)
    return [
        Node(f"c{tag}", "linear", (source,)),
        Node(f"z{tag}", "linear", (source,)),
        Node(f"gate{tag}", "sigmoid", (f"c{tag}",)),
        *activations(f"z{tag}", kinds),
        Node(f"new{tag}", "mix", names, theta=f"theta{tag}"),
        Node(f"carried{tag}", "mix", (source,) * len(kinds), theta=f"theta{tag}"),
        Node(f"edge{tag}", "blend", (f"gate{tag}", f"new{tag}", f"carried{tag}")),
    ]


@pytest.mark.parametrize("kinds", SETS_OF_ACTIVATIONS, ids=" ".join)
@pytest.mark.parametrize("width", [16, 100])
def test_edges_with_gates(kinds: Sequence[str], width: int) -> None:
    nodes = [
        Node("s", "linear", ("x", "h0")),
        *edge("1", "s", kinds),
        *edge("2", "edge1", kinds),
        *edge("3", "s", kinds),
        Node("h", "add", ("edge2", "edge3")),
    ]
    cell = Cell(nodes, ["h"])
    assert ops(cell).count("highway") == 3
    check(cell, width)


@pytest.mark.parametrize("input_gradient", [True, False])
def test_edges_from_inputs(input_gradient: bool) -> None:
    nodes = [*edge("1", "x", USUAL), *edge("2", "h0", USUAL), Node("h", "add", ("edge1", "edge2"))]
    cell = Cell(nodes, ["h"])
    assert ops(cell).count("highway") == 2
    check(cell, input_gradient=input_gradient)


def test_an_edge_whose_sum_something_else_reads_is_as_before() -> None:
    nodes = [*edge("1", "h0", USUAL), *edge("2", "x", USUAL)]
    cell = Cell([*nodes, Node("h", "add", ("edge1", "c1", "edge2", "z2"))], ["h"])
    assert "highway" not in ops(cell)
    check(cell)


def test_results_are_the_same_for_any_number_of_threads() -> None:
    nodes = [
        Node("z", "linear", ("x", "h0")),
        *activations("z", USUAL),
        *mixes("z", USUAL, 3),
        *edge("1", "m0_z", USUAL),
        *edge("2", "m1_z", USUAL),
        Node("h", "add", ("m2_z", "edge1", "edge2")),
    ]
    cell = Cell(nodes, ["h"])
    torch.manual_seed(0)
    module = on(Recurrent(cell, 100, 100), "native")
    mixed = [node for node in cell.nodes if node.op == "mix"]
    theta = {n.theta_name: torch.randn(len(n.inputs), requires_grad=True) for n in mixed}
    inputs = Inputs(torch.randn(20, 23, 100, requires_grad=True), theta=theta)
    threads = torch.get_num_threads()
    try:
        results = []
        for count in (1, 2, 3, 7):
            torch.set_num_threads(count)
            results.append(run(module, inputs))
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        assert_identical(other, results[0])


def activated(kind: str, values: torch.Tensor, bits: Sequence[str]) -> torch.Tensor:
    """An activation as a mix has it that weighs others with 0."""
    nodes = [*activations("x", bits), *mixes("x", bits, 1)]
    module = Recurrent(Cell([*nodes[:-1], Node("h", "mix", nodes[-1].inputs)], ["h"]), 16, 16)
    theta = {"h": torch.tensor([float(b == kind) for b in bits])}
    return on(module, "native")(values.reshape(1, -1, 16), theta=theta)[0].flatten()


@pytest.mark.parametrize("bits", [("tanh",), ("sigmoid",), ("tanh", "sigmoid")], ids=" ".join)
def test_tanh_and_sigmoid_are_accurate_alone_and_together(bits: Sequence[str]) -> None:
    values = torch.cat([torch.linspace(-100, 100, 64_000), torch.linspace(-1, 1, 32_000)])
    for kind in bits:
        exact = getattr(torch, kind)(values.double())
        found = activated(kind, values, bits).double()
        assert ((found - exact).abs() <= 3e-7 * exact.abs() + 1e-37).all(), kind
        odd = torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0] * 4)
        expected = getattr(torch, kind)(odd)
        assert torch.allclose(activated(kind, odd, bits), expected, atol=1e-37, equal_nan=True)
