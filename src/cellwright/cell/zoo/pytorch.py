"""The simple RNN, LSTM and GRU as PyTorch computes them, weight by weight."""

from __future__ import annotations

from cellwright.cell.cell import Cell, Node


def _gate(name: str, activation: str) -> list[Node]:
    return [
        Node(f"{name}_x", "linear", ("x",)),
        Node(f"{name}_h", "linear", ("h0",)),
        Node(f"{name}_sum", "add", (f"{name}_x", f"{name}_h")),
        Node(name, activation, (f"{name}_sum",)),
    ]


def rnn() -> Cell:
    """As `torch.nn.RNN` with tanh."""
    nodes = [
        Node("s_x", "linear", ("x",)),
        Node("s_h", "linear", ("h0",)),
        Node("s", "add", ("s_x", "s_h")),
        Node("h", "tanh", ("s",)),
    ]
    return Cell(nodes, ["h"])


def lstm() -> Cell:
    """As `torch.nn.LSTM`."""
    nodes = [
        *_gate("i", "sigmoid"),
        *_gate("f", "sigmoid"),
        *_gate("g", "tanh"),
        *_gate("o", "sigmoid"),
        Node("f_c", "mul", ("f", "h1")),
        Node("i_g", "mul", ("i", "g")),
        Node("c", "add", ("f_c", "i_g")),
        Node("c_tanh", "tanh", ("c",)),
        Node("h", "mul", ("o", "c_tanh")),
    ]
    return Cell(nodes, ["h", "c"])


def gru() -> Cell:
    """As `torch.nn.GRU`: the reset gate behind the product."""
    nodes = [
        *_gate("r", "sigmoid"),
        *_gate("z", "sigmoid"),
        Node("n_x", "linear", ("x",)),
        Node("n_h", "linear", ("h0",)),
        Node("r_n", "mul", ("r", "n_h")),
        Node("n_sum", "add", ("n_x", "r_n")),
        Node("n", "tanh", ("n_sum",)),
        Node("h", "blend", ("z", "h0", "n")),
    ]
    return Cell(nodes, ["h"])
