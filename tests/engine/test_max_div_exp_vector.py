"""exp, max, div and vector where they are delicate: the core, on every instruction set."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from support import Inputs, assert_native_is_torch, on, random_state, run, shared_out

from cellwright.cell import Cell, CellError, Node
from cellwright.engine import Recurrent

_native = pytest.importorskip("cellwright.engine._native")


@pytest.fixture(params=_native.instruction_sets(), autouse=True)
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    _native.use_instruction_set(request.param)
    yield request.param
    _native.use_instruction_set(_native.instruction_sets()[0])


def test_exp_is_accurate_to_the_ends_of_what_floats_reach() -> None:
    values = torch.cat([torch.linspace(-104, 88.7, 160_000), torch.linspace(-1, 1, 32_000)])
    module = Recurrent(Cell([Node("h", "exp", ("x",))], ["h"]), 16, 16, backend="native")
    found = module(values.reshape(1, -1, 16))[0].flatten().double()
    exact = values.double().exp()
    assert ((found - exact).abs() <= 3e-7 * exact + 2e-45).all()
    ends = torch.tensor([88.73, 89.0, 1e30, torch.inf, -104.1, -1e30, -torch.inf, 0.0])
    expected = torch.tensor([torch.inf] * 4 + [0.0] * 3 + [1.0])
    assert torch.equal(module(ends.repeat(2).reshape(1, 1, 16))[0].flatten()[:8], expected)


BAD = (torch.nan, torch.inf, -torch.inf, 0.0, -0.0, 1.0, -2.0, 3e38, 1e-40)


@pytest.mark.parametrize("op", ["max", "div"])
def test_odd_pairs_of_numbers_and_their_gradients_are_torchs(op: str) -> None:
    # Every pair: ties, zeros below, NaN on either side. The states carry one half of each pair.
    pairs = torch.tensor([(a, b) for a in BAD for b in BAD])
    cell = Cell([Node("h", op, ("x", "h0"))], ["h"])
    module = Recurrent(cell, len(pairs), len(pairs))
    x, state = (part.reshape(1, 1, -1).clone().requires_grad_() for part in pairs.unbind(1))
    expected, found = (run(on(module, b), Inputs(x, state)) for b in ("torch", "native"))
    for name, value in expected.items():
        other = found[name]
        assert value is not None
        assert other is not None
        assert torch.allclose(other, value, rtol=1e-6, atol=1e-44, equal_nan=True), name


def test_a_tie_shares_its_gradient() -> None:
    module = Recurrent(Cell([Node("h", "max", ("x", "h0"))], ["h"]), 2, 2, backend="native")
    x = torch.tensor([[[1.0, 5.0]]], requires_grad=True)
    state = torch.tensor([[[1.0, 4.0]]], requires_grad=True)
    module(x, state)[0].sum().backward()
    assert x.grad is not None
    assert state.grad is not None
    assert x.grad.tolist() == [[[0.5, 1.0]]]
    assert state.grad.tolist() == [[[0.5, 0.0]]]


VECTORS = {
    "times h": [
        Node("s", "linear", ("x", "h0")),
        Node("v", "vector"),
        Node("p", "mul", ("v", "h0")),
        Node("a", "add", ("s", "p")),
        Node("h", "tanh", ("a",)),
    ],
    "the state itself": [Node("h", "vector")],
    "an operand, and as wide as x": [
        Node("v", "vector", width="input"),
        Node("y", "mul", ("v", "x")),
        Node("h", "linear", ("y", "v", "h0")),
    ],
    "added to a linear and to another": [
        Node("s", "linear", ("h0",)),
        Node("v", "vector"),
        Node("w", "vector"),
        Node("a", "add", ("s", "v")),
        Node("b", "add", ("w", "w")),
        Node("h", "mul", ("a", "b")),
    ],
    "behind activations": [
        Node("v", "vector"),
        Node("t", "tanh", ("v",)),
        Node("e", "exp", ("v",)),
        Node("s", "linear", ("x", "t")),
        Node("h", "mul", ("s", "e")),
    ],
}


@pytest.mark.parametrize("by", [None, "rows", "columns"])
@pytest.mark.parametrize("name", VECTORS)
def test_vectors_agree(name: str, by: str | None) -> None:
    torch.manual_seed(0)
    module = Recurrent(Cell(VECTORS[name], ["h"]), 5, 19, 2, hidden_dropout=0.2)
    x = torch.randn(7, 13, 5, requires_grad=True)
    lengths = [7, 2, 5, 1, 6, 7, 3, 4, 4, 1, 7, 2, 6]
    with shared_out(by):
        assert_native_is_torch(module, Inputs(x, random_state(module, 13), lengths))
        assert_native_is_torch(module.eval(), Inputs(x.detach()))
    with torch.no_grad():
        assert torch.allclose(on(module, "native")(x)[0], on(module, "torch")(x)[0], atol=1e-5)


def test_a_vector_is_one_parameter_of_the_layers_width() -> None:
    cell = Cell(VECTORS["times h"], ["h"])
    module = Recurrent(cell, 5, 19)
    assert module.get_parameter("layer0.v.bias").shape == (19,)
    assert cell.parameters(5, 19) == 19 * 5 + 19 * 19 + 19 + 19
    assert cell.multiply_adds(5, 19) == 19 * 5 + 19 * 19


def test_a_vector_reads_nothing() -> None:
    with pytest.raises(CellError, match=r"node 'v': vector takes 0 inputs, not 1"):
        Cell([Node("v", "vector", ("x",))], ["v"])
    with pytest.raises(CellError, match=r"node 'v': vector has no attribute 'bias'"):
        Cell([Node("v", "vector", bias=False)], ["v"])
