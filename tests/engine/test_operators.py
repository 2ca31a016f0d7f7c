"""The core's operators: the same bits as the core in eager mode, in any case that layers have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from support import Inputs, assert_identical, assert_same, call, random_state, run, thetas
from surroundings_cases import marks
from torch.func import functional_call

from cellwright.cell import Cell, Node
from cellwright.cell.listings import EnasListing, enas
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent, native_backend, operators
from cellwright.engine.backends import BACKENDS
from cellwright.engine.directions import together
from cellwright.engine.layer import LayerCall, LayerResult
from cellwright.engine.ragged import Ragged

pytestmark = marks

HISTORY = Cell([Node("s", "linear", ("x", "x@2", "h0", "h0@3")), Node("h", "tanh", ("s",))], ["h"])
READS_X = Cell(
    [Node("s", "linear", ("x", "h0")), Node("p", "mul", ("s", "x")), Node("h", "tanh", ("p",))],
    ["h"],
)
KEPT_STATE = Cell(
    [Node("s", "linear", ("x", "h0")), Node("h", "tanh", ("s",)), Node("c", "identity", ("h1",))],
    ["h", "c"],
)
SHARED = enas.lower(EnasListing("tanh", ((0, "relu"), (1, "tanh"))), keys=True)
DROPOUTS = {"input_dropout": 0.3, "hidden_dropout": 0.3, "weight_dropout": 0.3}
CASES: dict[str, tuple[Cell, int, dict[str, Any]]] = {
    "lstm, two layers both ways": (zoo["lstm"], 4, {"num_layers": 2, "bidirectional": True}),
    "gru with dropouts": (zoo["gru"], 4, {"num_layers": 2, "dropout": 0.3, **DROPOUTS}),
    "a longer memory": (HISTORY, 4, {"bidirectional": True, **DROPOUTS}),
    "x outside a linear": (READS_X, 6, DROPOUTS),
    "a state that stays": (KEPT_STATE, 4, {}),
    "shared weights": (SHARED, 4, DROPOUTS),
    "a supernet with batch norm": (darts_supernet(2).cell, 4, {"hidden_dropout": 0.3}),
}


def as_the_graph_has_it(layer: LayerCall) -> LayerResult:
    """The operator, called with lengths instead of sorted rows, as it is in a graph."""
    if layer.active is None:
        return operators.run(layer)
    assert isinstance(layer.active, list)
    lengths = [sum(rows > row for rows in layer.active) for row in range(layer.x.shape[1])]
    return operators.run(layer._replace(active=torch.tensor(lengths)))


@pytest.fixture(autouse=True)
def operator_backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def run_layer(layers: Sequence[LayerCall], ragged: Ragged | None) -> LayerResult:
        return together(layers, [*map(as_the_graph_has_it, layers)], ragged)

    monkeypatch.setitem(BACKENDS, "operator", run_layer)
    return


@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_operator_gives_the_same_bits(name: str, ragged: bool) -> None:
    cell, width, options = CASES[name]
    torch.manual_seed(0)
    module = Recurrent(cell, width, 6, **options)
    inputs = Inputs(
        torch.randn(5, 3, width, requires_grad=True),
        random_state(module, 3),
        [2, 5, 4] if ragged else None,
        thetas(cell),
    )
    module.backend = "native"
    expected = run(module, inputs)
    module.backend = "operator"
    assert_identical(run(module, inputs), expected, name)
    with torch.no_grad():
        assert torch.equal(call(module, inputs)[0], expected["output"])


def arguments(module: Recurrent, lengths: list[int] | None = None) -> tuple[Any, ...]:
    """What `cellwright::layer` is called with."""
    layer = module.layer0
    return (
        module._cell_text, torch.randn(5, 3, 4, requires_grad=True), None,
        [torch.randn(3, 6, requires_grad=True), torch.randn(3, 6)],
        [*layer.weights().values()], [*layer.biases().values()], [], None, None,
        None if lengths is None else torch.tensor(lengths),
    )  # fmt: skip


@pytest.mark.parametrize("lengths", [None, [2, 5, 3]])
def test_torch_finds_nothing_wrong_with_the_operator(lengths: list[int] | None) -> None:
    module = Recurrent(zoo["lstm"], 4, 6)
    torch.library.opcheck(
        torch.ops.cellwright.layer.default,
        arguments(module, lengths),
        test_utils=("test_schema", "test_autograd_registration", "test_faketensor"),
    )


@pytest.mark.parametrize(
    ("lengths", "message"), [([0, 5, 3], "greater than 0"), ([6, 5, 3], "at most 5")]
)
def test_lengths_are_checked_when_a_graph_is_run(lengths: list[int], message: str) -> None:
    given = arguments(Recurrent(zoo["lstm"], 4, 6), lengths)
    with pytest.raises((RuntimeError, ValueError), match=message):
        torch.ops.cellwright.layer(*given)


WRONG: dict[str, tuple[int, Any]] = {
    "x": (1, torch.randn(5, 2, 4)),
    "x for linears": (2, torch.randn(5, 3, 1)),
    "a state": (3, [torch.randn(3, 6), torch.randn(3, 5)]),
    "too few states": (3, [torch.randn(3, 6)]),
    "a weight": (4, [torch.randn(1, 1)] * 8),
    "too few weights": (4, []),
    "halves": (4, [torch.randn(6, 6).half()] * 8),
    "a bias": (5, [torch.randn(5)] * 8),
    "theta": (6, [torch.randn(3)]),
    "a mask": (7, torch.randn(1, 1)),
    "a mask of doubles": (8, torch.randn(3, 4).double()),
    "lengths": (9, torch.tensor([2, 3])),
    "a precision": (10, "float16"),
    "lengths of another kind": (9, torch.tensor([2.0, 3.0, 1.0])),
}


@pytest.mark.parametrize("learns", [True, False])
@pytest.mark.parametrize("what", WRONG)
def test_wrong_tensors_are_errors_and_no_crash(what: str, learns: bool) -> None:
    place, wrong = WRONG[what]
    given = [*arguments(Recurrent(zoo["lstm"], 4, 6)), "float32"]
    given[place] = wrong
    with torch.set_grad_enabled(learns), pytest.raises((RuntimeError, ValueError)):
        torch.ops.cellwright.layer(*given)


def test_wrong_gradients_are_errors_and_no_crash() -> None:
    given = arguments(Recurrent(zoo["lstm"], 4, 6))
    _, *_, kept = torch.ops.cellwright.layer_keeping(*given, "float32", True)
    for gradients in ([torch.ones(5, 3, 1), None, None], [None, torch.ones(1, 6), None], [None]):
        with pytest.raises((RuntimeError, ValueError)):
            torch.ops.cellwright.layer_gradients(
                *given, "float32", True, kept, gradients, [True] * 19
            )


def test_weights_of_another_shape_are_torchs_error() -> None:
    module = Recurrent(zoo["lstm"], 4, 6)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        functional_call(module, {"layer0.i_x.weight_x": torch.randn(1, 1)}, (torch.randn(5, 3, 4),))


@pytest.mark.parametrize("learns", [True, False])
def test_without_the_core_a_graph_runs_on_torch(
    monkeypatch: pytest.MonkeyPatch, learns: bool
) -> None:
    module = Recurrent(zoo["lstm"], 4, 6)
    inputs = Inputs(torch.randn(5, 3, 4, requires_grad=learns), lengths=[2, 5, 4])
    module.requires_grad_(learns)
    expected = run(module, inputs)
    module.backend = "operator"
    monkeypatch.setattr(native_backend, "_native", None)
    assert_same(run(module, inputs), expected)


def test_no_rows() -> None:
    module = Recurrent(zoo["lstm"], 4, 6)
    module.backend = "operator"
    x = torch.randn(5, 0, 4, requires_grad=True)
    output, state = module(x)
    (output.sum() + state[0].sum()).backward()
    assert output.shape == (5, 0, 6)
    assert x.grad.shape == x.shape
    assert not module.layer0.i_x.weight_x.grad.any()


def test_an_unreadable_cell_is_an_error() -> None:
    given = arguments(Recurrent(zoo["lstm"], 4, 6))
    with pytest.raises(ValueError, match="format"):
        torch.ops.cellwright.layer('{"format": "other"}', *given[1:])


def test_flatten_parameters_does_nothing() -> None:
    module = Recurrent(zoo["lstm"], 4, 6)
    before = [weight.data_ptr() for weight in module.parameters()]
    assert module.flatten_parameters() is None
    assert [weight.data_ptr() for weight in module.parameters()] == before
