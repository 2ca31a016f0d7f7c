"""Shapes of inputs, outputs and states; carrying a state; rows of different lengths."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support import as_tuple, random_state
from torch import Tensor

from cellwright.cell import Cell, Node
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent

BACKENDS = ("torch", "native")
HISTORY = Cell(
    [
        Node("s", "linear", ("x", "x@2", "h0", "h0@3")),
        Node("t", "tanh", ("s",)),
        Node("g", "sigmoid", ("h1@2",)),
        Node("h", "mul", ("t", "g")),
    ],
    ["h", "t"],
)
"""Reads x two steps back and its two states up to three."""
CELLS = {"gru": zoo["gru"], "lstm": zoo["lstm"], "history": HISTORY}


def close(one: Any, other: Any) -> bool:
    pairs = zip(as_tuple(one), as_tuple(other), strict=True)
    return all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in pairs)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("layers", [1, 3])
def test_shapes_are_those_of_nn_lstm(
    layers: int, directions: int, batch_first: bool, backend: str
) -> None:
    options = {"batch_first": batch_first, "bidirectional": directions == 2}
    ours = Recurrent(zoo["lstm"], 4, 6, layers, backend=backend, **options)
    theirs = torch.nn.LSTM(4, 6, layers, **options)
    x = torch.randn(5, 3, 4)
    for given in (x, x[0]):
        expected, (h, c) = theirs(given)
        output, state = ours(given)
        assert output.shape == expected.shape
        assert [t.shape for t in state] == [h.shape, c.shape]
        again, _ = ours(given, state)
        assert again.shape == expected.shape


def test_one_sequence_alone_is_a_batch_of_one() -> None:
    for cell in CELLS.values():
        module = Recurrent(cell, 4, 6, 2, batch_first=True)
        x = torch.randn(5, 4)
        state = random_state(module, 1)
        output, final = module(x[None], state)
        squeezed = tuple(t.squeeze(-2) for t in as_tuple(state))
        alone, final_alone = module(x, squeezed[0] if isinstance(state, Tensor) else squeezed)
        assert torch.equal(alone, output[0])
        for one, both in zip(as_tuple(final_alone), as_tuple(final), strict=True):
            assert torch.equal(one, both.squeeze(-2))


def test_structure_of_the_state() -> None:
    assert Recurrent(zoo["gru"], 4, 6).zero_state(3).shape == (1, 3, 6)
    assert [t.shape for t in Recurrent(zoo["lstm"], 4, 6, 2).zero_state(3)] == [(2, 3, 6)] * 2
    state = Recurrent(HISTORY, 4, 6, 2, bidirectional=True).zero_state(3)
    assert [tuple(t.shape) for t in state] == [
        (4, 3, 6), (4, 3, 6),  # the two states
        (4, 2, 3, 6), (4, 2, 3, 6),  # older than the last step
        (2, 2, 3, 4), (2, 2, 3, 12),  # past inputs of each layer
    ]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CELLS)
def test_zero_state_is_the_default(name: str, backend: str) -> None:
    module = Recurrent(CELLS[name], 4, 6, 2, bidirectional=True, backend=backend)
    x = torch.randn(5, 3, 4)
    parameters = list(module.parameters())
    (output, state), (expected, wanted) = module(x), module(x, module.zero_state(3))
    assert torch.equal(output, expected)
    assert all(map(torch.equal, as_tuple(state), as_tuple(wanted)))
    found, hoped = (torch.autograd.grad(y.sum(), parameters) for y in (output, expected))
    assert all(map(torch.equal, found, hoped))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("cut", [1, 2, 5])
def test_two_calls_with_a_carried_state_are_one(
    name: str, layers: int, cut: int, backend: str
) -> None:
    module = Recurrent(CELLS[name], 4, 6, layers, backend=backend)
    x = torch.randn(7, 3, 4)
    start = random_state(module, 3)
    expected, final = module(x, start)
    first, state = module(x[:cut], start)
    second, state = module(x[cut:], state)
    assert close(torch.cat([first, second]), expected)
    assert close(state, final)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", CELLS)
def test_each_row_runs_as_if_alone(name: str, bidirectional: bool, backend: str) -> None:
    module = Recurrent(CELLS[name], 4, 6, 2, bidirectional=bidirectional, backend=backend)
    x = torch.randn(7, 4, 4)
    start = random_state(module, 4)
    lengths = [3, 6, 1, 3]  # nobody is as long as the padding
    output, final = module(x, start, lengths=lengths)
    assert output.shape[0] == 7
    for row, length in enumerate(lengths):
        mine = tuple(t[..., row : row + 1, :] for t in as_tuple(start))
        mine = mine[0] if isinstance(start, Tensor) else mine
        expected, state = module(x[:length, row : row + 1], mine)
        assert close(output[:length, row : row + 1], expected)
        assert close(tuple(t[..., row : row + 1, :] for t in as_tuple(final)), as_tuple(state))
        assert not output[length:, row].any()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("garbage", [torch.nan, torch.inf, 1e30])
def test_garbage_in_the_padding_does_not_leak(name: str, garbage: float, backend: str) -> None:
    torch.manual_seed(0)
    module = Recurrent(CELLS[name], 4, 6, 2, bidirectional=True, backend=backend)
    clean = torch.randn(5, 3, 4)
    lengths = torch.tensor([5, 2, 3])
    behind = torch.arange(5)[:, None] >= lengths
    results = []
    for fill in (0.0, garbage):
        module.zero_grad()
        x = clean.masked_fill(behind[..., None], fill).requires_grad_()
        output, state = module(x, lengths=lengths)
        (output.square().sum() + sum(t.square().sum() for t in as_tuple(state))).backward()
        gradients = [p.grad.clone() for p in module.parameters()]
        results.append([output, *as_tuple(state), x.grad, *gradients])
    for one, other in zip(*results, strict=True):
        assert torch.isfinite(one).all()
        assert torch.equal(one, other)
    assert not results[1][-len(gradients) - 1][behind].any()


def test_lengths_may_be_a_list_or_any_integer_tensor() -> None:
    module = Recurrent(zoo["gru"], 4, 6)
    x = torch.randn(5, 3, 4)
    expected, _ = module(x, lengths=[5, 2, 3])
    for dtype in (torch.int64, torch.int32, torch.uint8):
        found, _ = module(x, lengths=torch.tensor([5, 2, 3], dtype=dtype))
        assert torch.equal(found, expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.filterwarnings("ignore:the native backend does not serve")
def test_an_empty_batch_gives_an_empty_result(backend: str) -> None:
    for cell in CELLS.values():
        module = Recurrent(cell, 4, 6, 2, bidirectional=True, backend=backend)
        x = torch.randn(5, 0, 4, requires_grad=True)
        for lengths in (None, []):
            output, state = module(x, lengths=lengths)
            assert output.shape == (5, 0, 12)
            assert all(t.shape[-2] == 0 for t in as_tuple(state))
        output.sum().backward()
        assert all(p.grad is None or not p.grad.any() for p in module.parameters())
