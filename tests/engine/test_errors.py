"""Wrong calls and wrong arguments get errors that say what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence

from cellwright.cell import Cell, Node
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent

LSTM, GRU = zoo["lstm"], zoo["gru"]


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (torch.randn(5, 3, 7), RuntimeError, r"must be equal to input_size. Expected 4, got 7"),
        (torch.randn(5), ValueError, "Expected input to be 2D or 3D, got 1D"),
        (torch.randn(2, 5, 3, 4), ValueError, "Expected input to be 2D or 3D, got 4D"),
        (torch.randn(5, 3, 4).double(), ValueError, "dtype .*float64.* weight dtype .*float32"),
        (torch.ones(5, 3, 4, dtype=torch.int64), ValueError, "input dtype .*int64"),
        (torch.randn(0, 3, 4), RuntimeError, "Expected sequence length to be larger than 0"),
        (pack_sequence([torch.randn(3, 7)]), RuntimeError, "Expected 4, got 7"),
    ],
)  # fmt: skip
def test_wrong_inputs(x: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Recurrent(GRU, 4, 6)(x)


@pytest.mark.parametrize(
    ("state", "error", "message"),
    [
        (torch.zeros(1, 3, 6), RuntimeError, "Expected a state of 2 tensors"),
        ((torch.zeros(1, 3, 6),) * 3, RuntimeError, "2 tensors .* got 3"),
        ((torch.zeros(1, 3, 6), torch.zeros(1, 2, 6)), RuntimeError,
         r"Expected hidden\[1\] size \(1, 3, 6\), got \[1, 2, 6\]"),
        ((torch.zeros(2, 3, 6),) * 2, RuntimeError, r"Expected hidden\[0\] size"),
        ((torch.zeros(3, 6),) * 2, RuntimeError, r"Expected hidden\[0\] size"),
        ((torch.zeros(1, 3, 6).double(),) * 2, ValueError, "float32, got type torch.float64"),
    ],
)  # fmt: skip
def test_wrong_states(state: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Recurrent(LSTM, 4, 6)(torch.randn(5, 3, 4), state)


def test_a_state_of_the_wrong_size_for_one_tensor() -> None:
    with pytest.raises(RuntimeError, match=r"Expected hidden size \(1, 3, 6\), got \[1, 3, 5\]"):
        Recurrent(GRU, 4, 6)(torch.randn(5, 3, 4), torch.zeros(1, 3, 5))


@pytest.mark.parametrize(
    ("lengths", "error", "message"),
    [
        ([5, 0, 1], RuntimeError, "Length of all samples has to be greater than 0"),
        ([5, -1, 1], RuntimeError, "greater than 0"),
        ([5, 6, 1], ValueError, "at most 5, the padded length, got 6"),
        ([5, 1], ValueError, "Expected 3 lengths, one for each row, got 2"),
        ([5.0, 2.0, 1.0], ValueError, "integers"),
        ([True, True, True], ValueError, "integers"),
        (torch.ones(3, 1, dtype=torch.int64), ValueError, "1-D tensor of integers, got 2-D"),
        (torch.tensor(5), ValueError, "got 0-D"),
    ],
)
def test_wrong_lengths(lengths: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Recurrent(GRU, 4, 6)(torch.randn(5, 3, 4), lengths=lengths)


def test_a_packed_sequence_with_lengths() -> None:
    with pytest.raises(ValueError, match="carries its own lengths"):
        Recurrent(GRU, 4, 6)(pack_sequence([torch.randn(3, 4)]), lengths=[3])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"cell": "lstm"}, TypeError, "cell must be a Cell, not str"),
        ({"input_size": 0}, ValueError, "input_size must be greater than zero"),
        ({"hidden_size": -1}, ValueError, "hidden_size must be greater than zero"),
        ({"num_layers": 0}, ValueError, "num_layers must be greater than zero"),
        ({"hidden_size": 3.5}, TypeError, "hidden_size should be of type int, got: float"),
        ({"num_layers": True}, TypeError, "num_layers should be of type int, got: bool"),
        ({"dropout": 1.5}, ValueError, r"^dropout should be a number in range \[0, 1\]"),
        ({"input_dropout": -0.1}, ValueError, "^input_dropout"),
        ({"hidden_dropout": float("nan")}, ValueError, "^hidden_dropout"),
        ({"weight_dropout": 2}, ValueError, "^weight_dropout"),
        ({"backend": "cuda"}, ValueError, "backend must be one of .*native.* not 'cuda'"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    right: dict[str, Any] = {"cell": LSTM, "input_size": 4, "hidden_size": 6}
    with pytest.raises(error, match=message):
        Recurrent(**right | arguments)


SUPERNET = Cell(
    [
        Node("s", "linear", ("x", "h0")),
        Node("a", "tanh", ("s",)),
        Node("b", "relu", ("s",)),
        Node("h", "mix", ("a", "b"), theta="choice"),
    ],
    ["h"],
)


@pytest.mark.parametrize(
    ("theta", "message"),
    [
        (None, "theta has no weights for mix 'choice'"),
        ({"h": torch.ones(2)}, "theta has no weights for mix 'choice'"),
        ({"choice": torch.ones(3)}, r"theta\['choice'\] must have 2 numbers.* got \(3,\)"),
        ({"choice": torch.ones(2, 1)}, r"must have 2 numbers.* got \(2, 1\)"),
    ],
)
def test_wrong_theta(theta: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Recurrent(SUPERNET, 4, 6)(torch.randn(5, 3, 4), theta=theta)
