"""Cells with one state and a few gates: relatives of the GRU, highways, and cells whose gates
depend on x alone."""

from __future__ import annotations

from cellwright.cell.cell import Cell, Node
from cellwright.cell.zoo.dense import dense


def highway(depth: int) -> Cell:
    """A recurrent highway network with coupled gates (Zilly et al., Eqs. 7 to 9).

    One step goes through `depth` highway layers; the first of them reads x.
    """
    nodes: list[Node] = []
    state = "h0"
    for layer in range(1, depth + 1):
        inputs = ("x", state) if layer == 1 else (state,)
        nodes += dense(f"h_{layer}", "tanh", *inputs)
        nodes += dense(f"t_{layer}", "sigmoid", *inputs)
        nodes.append(Node(f"s_{layer}", "blend", (f"t_{layer}", f"h_{layer}", state)))
        state = f"s_{layer}"
    return Cell(nodes, [state])


def mut1() -> Cell:
    """MUT1: an update gate that reads x alone, and x itself in the candidate.

    This one and the next need x as wide as h, since x is added to products with h.
    """
    nodes = [
        *dense("z", "sigmoid", "x"),
        *dense("r", "sigmoid", "x", "h0"),
        Node("r_h", "mul", ("r", "h0")),
        Node("n_h", "linear", ("r_h",)),
        Node("n_x", "tanh", ("x",)),
        Node("n_s", "add", ("n_h", "n_x")),
        Node("n", "tanh", ("n_s",)),
        Node("h", "blend", ("z", "n", "h0")),
    ]
    return Cell(nodes, ["h"])


def mut2() -> Cell:
    """MUT2: a GRU whose reset gate adds x itself."""
    nodes = [
        *dense("z", "sigmoid", "x", "h0"),
        Node("r_h", "linear", ("h0",)),
        Node("r_s", "add", ("r_h", "x")),
        Node("r", "sigmoid", ("r_s",)),
        Node("reset", "mul", ("r", "h0")),
        *dense("n", "tanh", "x", "reset"),
        Node("h", "blend", ("z", "n", "h0")),
    ]
    return Cell(nodes, ["h"])


def mut3() -> Cell:
    """MUT3: a GRU whose update gate reads tanh(h)."""
    nodes = [
        Node("h_tanh", "tanh", ("h0",)),
        *dense("z", "sigmoid", "x", "h_tanh"),
        *dense("r", "sigmoid", "x", "h0"),
        Node("reset", "mul", ("r", "h0")),
        *dense("n", "tanh", "x", "reset"),
        Node("h", "blend", ("z", "n", "h0")),
    ]
    return Cell(nodes, ["h"])


def mgu() -> Cell:
    """A minimal gated unit: one gate resets and updates (Zhou et al., Eqs. 6 to 8)."""
    nodes = [
        *dense("f", "sigmoid", "x", "h0"),
        Node("reset", "mul", ("f", "h0")),
        *dense("n", "tanh", "x", "reset"),
        Node("h", "blend", ("f", "n", "h0")),
    ]
    return Cell(nodes, ["h"])


def ugrnn() -> Cell:
    """An update gate and nothing else (Collins et al., section 1)."""
    nodes = [
        *dense("g", "sigmoid", "x", "h0"),
        *dense("n", "tanh", "x", "h0"),
        Node("h", "blend", ("g", "h0", "n")),
    ]
    return Cell(nodes, ["h"])


def min_gru() -> Cell:
    """A GRU whose gate and candidate depend on x alone (Feng et al., section 3.1)."""
    nodes = [
        *dense("z", "sigmoid", "x"),
        Node("n", "linear", ("x",)),
        Node("h", "blend", ("z", "n", "h0")),
    ]
    return Cell(nodes, ["h"])


def min_lstm() -> Cell:
    """The same of an LSTM; its two gates are scaled to add up to 1 (Feng et al., section 3.2)."""
    nodes = [
        *dense("f", "sigmoid", "x"),
        *dense("i", "sigmoid", "x"),
        Node("n", "linear", ("x",)),
        Node("both", "add", ("f", "i")),
        Node("f_part", "div", ("f", "both")),
        Node("i_part", "div", ("i", "both")),
        Node("kept", "mul", ("f_part", "h0")),
        Node("added", "mul", ("i_part", "n")),
        Node("h", "add", ("kept", "added")),
    ]
    return Cell(nodes, ["h"])


def sru() -> Cell:
    """A simple recurrent unit: gates see the memory, each unit its own (Lei et al., Eqs. 1 to 4).

    The memory is the only state; the output is a highway between it and x, which has to be as
    wide as it.
    """
    nodes = [Node("n", "linear", ("x",), bias=False)]
    for gate in ("f", "r"):
        nodes += [
            Node(f"{gate}_x", "linear", ("x",)),
            Node(f"{gate}_v", "vector"),
            Node(f"{gate}_c", "mul", (f"{gate}_v", "h0")),
            Node(f"{gate}_s", "add", (f"{gate}_x", f"{gate}_c")),
            Node(gate, "sigmoid", (f"{gate}_s",)),
        ]
    nodes += [Node("c", "blend", ("f", "h0", "n")), Node("h", "blend", ("r", "c", "x"))]
    return Cell(nodes, ["c"], "h")
