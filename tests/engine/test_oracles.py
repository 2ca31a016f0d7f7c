"""Cells of the zoo against PyTorch's own modules, and the torch backend against calculus."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support import as_tuple, random_state, thetas
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from cellwright.cell import Cell, Node
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent

MODULES = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
GATES = {"rnn": "s", "lstm": "ifgo", "gru": "rzn"}
BACKENDS = ("torch", "native")


def twins(name: str, backend: str, *sizes: int, **options: Any) -> tuple[nn.RNNBase, Recurrent]:
    """PyTorch's module, and ours with its weights."""
    torch.manual_seed(0)
    theirs = MODULES[name](*sizes, **options)
    ours = Recurrent(zoo[name], *sizes, **options, backend=backend)
    ours.load_state_dict(renamed(name, dict(theirs.named_parameters())))
    return theirs, ours


def renamed(name: str, theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """PyTorch's weights, or their gradients, under our names."""
    result = {}
    for key, value in theirs.items():
        kind, side, place = key.split("_", 2)
        layer = place.removeprefix("l").removesuffix("_reverse")
        where = f"layer{layer}" + ("_reverse" if place.endswith("_reverse") else "")
        source, operand = ("x", "x") if side == "ih" else ("h", "h0")
        for gate, part in zip(GATES[name], value.chunk(len(GATES[name])), strict=True):
            end = "bias" if kind == "bias" else f"weight_{operand}"
            result[f"{where}.{gate}_{source}.{end}"] = part
    return result


def close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-4, atol=2e-6)


def random_weights(tensors: tuple[Tensor, ...]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(t.shape, generator=generator) for t in tensors]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_layers": 2},
        {"bidirectional": True},
        {"num_layers": 2, "bidirectional": True, "batch_first": True},
    ],
    ids=["plain", "layers", "directions", "all"],
)
def test_values_and_gradients_are_torchs(name: str, backend: str, options: dict[str, Any]) -> None:
    theirs, ours = twins(name, backend, 7, 19, **options)
    x = torch.randn(6, 4, 7)
    if options.get("batch_first"):
        x = x.transpose(0, 1)
    results = []
    state = random_state(ours, 4)
    for module in (theirs, ours):
        leaf = x.clone().requires_grad_()
        leaves = tuple(t.detach().clone().requires_grad_() for t in as_tuple(state))
        output, final = module(leaf, leaves if name == "lstm" else leaves[0])
        tensors = (output, *as_tuple(final))
        torch.autograd.backward(tensors, random_weights(tensors))
        results.append([*tensors, leaf.grad, *(t.grad for t in leaves)])
    for expected, found in zip(*results, strict=True):
        assert close(found, expected)
    expected = renamed(name, {key: p.grad for key, p in theirs.named_parameters()})
    for key, parameter in ours.named_parameters():
        assert close(parameter.grad, expected.pop(key)), key
    assert not expected


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("lengths", [[6, 4, 4, 1], [1, 6, 3, 5]], ids=["sorted", "unsorted"])
def test_packed_sequences_are_torchs(name: str, backend: str, lengths: list[int]) -> None:
    theirs, ours = twins(name, backend, 5, 8, num_layers=2, bidirectional=True)
    ordered = lengths == sorted(lengths, reverse=True)
    x = torch.randn(6, 4, 5)
    results = []
    for module in (theirs, ours):
        leaf = x.clone().requires_grad_()
        packed = pack_padded_sequence(leaf, torch.tensor(lengths), enforce_sorted=ordered)
        output, final = module(packed, random_state_like(ours))
        assert torch.equal(output.batch_sizes, packed.batch_sizes)
        padded, found_lengths = pad_packed_sequence(output)
        assert found_lengths.tolist() == lengths
        tensors = (padded, *as_tuple(final))
        torch.autograd.backward(tensors, random_weights(tensors))
        results.append([*tensors, leaf.grad])
    for expected, found in zip(*results, strict=True):
        assert close(found, expected)
    expected = renamed(name, {key: p.grad for key, p in theirs.named_parameters()})
    for key, parameter in ours.named_parameters():
        assert close(parameter.grad, expected[key]), key


def random_state_like(module: Recurrent) -> Any:
    torch.manual_seed(1)
    return random_state(module, 4, grad=False)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("bias", [True, False])
def test_from_torch_copies_weights_and_shape(name: str, bias: bool) -> None:
    torch.manual_seed(0)
    theirs = MODULES[name](3, 5, 2, bidirectional=True, batch_first=True, bias=bias)
    ours = Recurrent.from_torch(theirs)
    x = torch.randn(4, 6, 3)
    assert close(ours(x)[0], theirs(x)[0])
    before = ours(x)[0]
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.zero_()
    assert torch.equal(ours(x)[0], before)  # a copy, not a view


@pytest.mark.parametrize("module", [nn.RNN(3, 5, nonlinearity="relu"), nn.LSTM(3, 5, proj_size=2)])
def test_from_torch_refuses_what_no_cell_computes(module: nn.RNNBase) -> None:
    with pytest.raises(ValueError, match="has no cell in the zoo"):
        Recurrent.from_torch(module)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("name", "nodes"),
    [("lstm", {"n_1_w": "i", "n_2_w": "f", "n_3_w": "g", "n_4_w": "o"}),
     ("gru", {"n_1_w": "r", "n_2_w": "z"})],
)  # fmt: skip
def test_fenas_forms_compute_the_same(name: str, nodes: dict[str, str], backend: str) -> None:
    theirs, ours = twins(name, backend, 6, 6)
    fenas = Recurrent(zoo[f"fenas-{name}"], 6, 6, backend=backend)
    known = ours.state_dict()
    weights = {}
    for node, gate in nodes.items():
        x, h = f"layer0.{gate}_x", f"layer0.{gate}_h"
        weights[f"layer0.{node}.weight_x"] = known[f"{x}.weight_x"]
        weights[f"layer0.{node}.weight_h0"] = known[f"{h}.weight_h0"]
        weights[f"layer0.{node}.bias"] = known[f"{x}.bias"] + known[f"{h}.bias"]
    if name == "gru":
        for node, source in (("n_3_w", "n_x"), ("n_4_w", "n_h")):
            for end in ("bias", "weight_x" if source == "n_x" else "weight_h0"):
                weights[f"layer0.{node}.{end}"] = known[f"layer0.{source}.{end}"]
    fenas.load_state_dict(weights)
    x = torch.randn(5, 3, 6)
    expected, state = theirs(x)
    found, final = fenas(x)
    assert close(found, expected)
    assert all(map(close, as_tuple(final), as_tuple(state)))


GRADCHECK = {
    "history": Cell(
        [Node("s", "linear", ("x@2", "h0@3", "x")), Node("g", "sigmoid", ("h0@2",)),
         Node("t", "tanh", ("s",)), Node("h", "blend", ("g", "t", "h0"))],
        ["h"],
    ),
    "mix and norm": Cell(
        [Node("s", "linear", ("x", "h0")), Node("a", "tanh", ("s",)), Node("b", "sigmoid", ("s",)),
         Node("m", "mix", ("a", "b", "h0")), Node("k", "mix", ("m", "a"), theta="other"),
         Node("h", "norm", ("k",))],
        ["h"],
    ),
    "batch norm": Cell(
        [Node("s", "linear", ("x", "h0")), Node("n", "batch_norm", ("s",)),
         Node("h", "tanh", ("n",))],
        ["h"],
    ),
    "damped batch norm": Cell(
        [Node("s", "linear", ("x", "h0")), Node("n", "damped_batch_norm", ("s",)),
         Node("t", "tanh", ("n",)), Node("h", "damped_batch_norm", ("t",))],
        ["h"],
    ),
    "keys": Cell(
        [Node("s", "linear", ("x", "h0"), keys=("v", "w")), Node("t", "tanh", ("s",)),
         Node("u", "linear", ("t", "h0"), keys=("w", "w")), Node("h", "sigmoid", ("u",))],
        ["h"],
    ),
    "width": Cell(
        [Node("w", "linear", ("h0",), width="input"), Node("g", "sigmoid", ("w",)),
         Node("y", "mul", ("g", "x")), Node("s", "linear", ("y", "h0")), Node("h", "tanh", ("s",))],
        ["h"],
    ),
    "max and div": Cell(
        [Node("s", "linear", ("x", "h0")), Node("a", "exp", ("s",)), Node("v", "vector"),
         Node("b", "max", ("v", "s")), Node("e", "exp", ("b",)), Node("h", "div", ("a", "e"))],
        ["h"],
    ),
    "lstm": zoo["lstm"],
}  # fmt: skip


@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("name", GRADCHECK)
def test_gradients_of_the_torch_backend_by_finite_differences(name: str, ragged: bool) -> None:
    torch.manual_seed(0)
    cell = GRADCHECK[name]
    module = Recurrent(cell, 2, 3, backend="torch", init_range=0.8).double()
    state = as_tuple(random_state(module, 2))
    theta = {key: t.detach().double().requires_grad_() for key, t in thetas(cell).items()}
    x = torch.randn(3, 2, 2, dtype=torch.float64, requires_grad=True)
    lengths = [1, 3] if ragged else None
    parameters = dict(module.named_parameters())

    def function(*tensors: Tensor) -> tuple[Tensor, ...]:
        parts = iter(tensors)
        given = next(parts)
        before = tuple(next(parts) for _ in state)
        weights = {key: next(parts) for key in theta}
        replaced = dict(zip(parameters, parts, strict=True))
        first = before[0] if isinstance(module.zero_state(2), Tensor) else before
        call = {"lengths": lengths, "theta": weights}
        output, final = torch.func.functional_call(module, replaced, (given, first), call)
        return (output, *as_tuple(final))

    inputs = (x, *state, *theta.values(), *parameters.values())
    assert torch.autograd.gradcheck(function, inputs)
