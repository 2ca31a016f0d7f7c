"""Relatives of the LSTM: a hidden state h0 and a memory h1, or a memory alone.

Every gate is one linear over x and h0 with one bias.
"""

from __future__ import annotations

from cellwright.cell.cell import Cell, Node
from cellwright.cell.zoo.dense import dense


def _lstm_memory() -> list[Node]:
    """c = f·c + i·g and h = o·tanh(c), from the gates i, f, g and o."""
    return [
        Node("f_c", "mul", ("f", "h1")),
        Node("i_g", "mul", ("i", "g")),
        Node("c", "add", ("f_c", "i_g")),
        Node("c_tanh", "tanh", ("c",)),
        Node("h", "mul", ("o", "c_tanh")),
    ]


def coupled() -> Cell:
    """What the input gate lets in, the memory forgets: f = 1 − i (Greff et al., variant CIFG)."""
    nodes = [
        *dense("i", "sigmoid", "x", "h0"),
        *dense("g", "tanh", "x", "h0"),
        *dense("o", "sigmoid", "x", "h0"),
        Node("c", "blend", ("i", "g", "h1")),
        Node("c_tanh", "tanh", ("c",)),
        Node("h", "mul", ("o", "c_tanh")),
    ]
    return Cell(nodes, ["h", "c"])


def peephole() -> Cell:
    """Gates that see the memory, each unit its own (Greff et al., section II).

    The input and the forget gate see the old memory, the output gate the new one.
    """
    nodes = dense("g", "tanh", "x", "h0")
    for gate, memory in (("i", "h1"), ("f", "h1"), ("o", "c")):
        nodes += [
            Node(f"{gate}_s", "linear", ("x", "h0")),
            Node(f"{gate}_p", "vector"),
            Node(f"{gate}_peep", "mul", (f"{gate}_p", memory)),
            Node(f"{gate}_sum", "add", (f"{gate}_s", f"{gate}_peep")),
            Node(gate, "sigmoid", (f"{gate}_sum",)),
        ]
    return Cell([*nodes, *_lstm_memory()], ["h", "c"])


def mogrifier(rounds: int) -> Cell:
    """An LSTM before which x and h gate each other in turn (Melis et al., Eqs. 1 and 2)."""
    nodes: list[Node] = []
    x, h = "x", "h0"
    for number in range(1, rounds + 1):
        gates_x = number % 2 == 1
        source, width = (h, "input") if gates_x else (x, "hidden")
        target = x if gates_x else h
        new = f"{'x' if gates_x else 'h'}_{number}"
        nodes += [
            Node(f"{new}_s", "linear", (source,), bias=False, width=width),
            Node(f"{new}_gate", "sigmoid", (f"{new}_s",)),
            Node(f"{new}_twice", "add", (f"{new}_gate", f"{new}_gate")),
            Node(new, "mul", (f"{new}_twice", target)),
        ]
        x, h = (new, h) if gates_x else (x, new)
    for gate in ("i", "f", "o"):
        nodes += dense(gate, "sigmoid", x, h)
    return Cell([*nodes, *dense("g", "tanh", x, h), *_lstm_memory()], ["h", "c"])


def janet() -> Cell:
    """The forget gate alone, with β = 1 (van der Westhuizen and Lasenby, Eq. 5).

    What is let in is 1 − σ(s − β): a little more than what is forgotten.
    """
    nodes = [
        Node("s", "linear", ("x", "h0")),
        *dense("g", "tanh", "x", "h0"),
        Node("zero", "zero"),
        Node("one", "exp", ("zero",)),
        Node("f", "sigmoid", ("s",)),
        Node("s_less", "sub", ("s", "one")),
        Node("f_less", "sigmoid", ("s_less",)),
        Node("i", "sub", ("one", "f_less")),
        Node("kept", "mul", ("f", "h0")),
        Node("added", "mul", ("i", "g")),
        Node("h", "add", ("kept", "added")),
    ]
    return Cell(nodes, ["h"])


def slstm() -> Cell:
    """sLSTM with exponential input and forget gates, one head (Beck et al., section 2.2).

    The states are h, the memory c, the normaliser n, and m, the logarithm of the scale in which
    c and n are kept: with it no gate is ever larger than 1, whatever its sum is.
    """
    nodes = [
        Node("i_log", "linear", ("x", "h0")),
        Node("f_log", "linear", ("x", "h0")),
        *dense("z", "tanh", "x", "h0"),
        *dense("o", "sigmoid", "x", "h0"),
        Node("f_m", "add", ("f_log", "h3")),
        Node("m", "max", ("f_m", "i_log")),
        Node("i_scaled", "sub", ("i_log", "m")),
        Node("f_scaled", "sub", ("f_m", "m")),
        Node("i", "exp", ("i_scaled",)),
        Node("f", "exp", ("f_scaled",)),
        Node("f_c", "mul", ("f", "h1")),
        Node("i_z", "mul", ("i", "z")),
        Node("c", "add", ("f_c", "i_z")),
        Node("f_n", "mul", ("f", "h2")),
        Node("n", "add", ("f_n", "i")),
        Node("c_n", "div", ("c", "n")),
        Node("h", "mul", ("o", "c_n")),
    ]
    return Cell(nodes, ["h", "c", "n", "m"])


def nas_cell() -> Cell:
    """The cell found by reinforcement learning (Zoph and Le, Fig. 8), as TensorFlow's NASCell.

    Eight pairs of products with x and h are joined two by two, three times; no biases. The
    fourth pair is multiplied, the others are added.
    """
    leaves = ("sigmoid", "relu", "sigmoid", "relu", "tanh", "sigmoid", "tanh", "sigmoid")
    nodes: list[Node] = []
    for number, activation in enumerate(leaves):
        name = f"a_{number}"
        if number == 3:
            nodes += [
                Node(f"{name}_x", "linear", ("x",), bias=False),
                Node(f"{name}_h", "linear", ("h0",), bias=False),
                Node(f"{name}_s", "mul", (f"{name}_x", f"{name}_h")),
            ]
        else:
            nodes.append(Node(f"{name}_s", "linear", ("x", "h0"), bias=False))
        nodes.append(Node(name, activation, (f"{name}_s",)))
    for number, (op, activation) in enumerate(
        (("mul", "tanh"), ("add", "tanh"), ("mul", "tanh"), ("add", "sigmoid"))
    ):
        pair = (f"a_{2 * number}", f"a_{2 * number + 1}")
        nodes += [
            Node(f"b_{number}_s", op, pair),
            Node(f"b_{number}", activation, (f"b_{number}_s",)),
        ]
    nodes += [
        Node("b_0_c", "add", ("b_0", "h1")),
        Node("memory", "tanh", ("b_0_c",)),
        Node("c", "mul", ("memory", "b_1")),
        Node("d_s", "add", ("b_2", "b_3")),
        Node("d", "tanh", ("d_s",)),
        Node("h_s", "mul", ("c", "d")),
        Node("h", "tanh", ("h_s",)),
    ]
    return Cell(nodes, ["h", "c"])
