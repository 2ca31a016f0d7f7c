"""The families' listings compute what their papers' equations say, and refuse what is not one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle import run, weight, with_keys

from cellwright.cell import Cell, CellError
from cellwright.cell.listings import (
    DartsListing,
    EnasListing,
    EssListing,
    FenasListing,
    FenasNode,
    darts,
    enas,
    ess,
    fenas,
)

X, H, STEPS = 3, 4, 4
ACT: dict[str, Any] = {
    "tanh": np.tanh,
    "relu": lambda a: np.maximum(a, 0),
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "identity": lambda a: a,
}
sigmoid = ACT["sigmoid"]


def xs() -> Any:
    return np.random.default_rng(0).normal(size=(STEPS, X))


def w(key: str, columns: int = H, rows: int = H) -> Any:
    return weight(key, rows, columns)


def outputs(cell: Cell) -> list[Any]:
    """The outputs of a cell with one state, step by step."""
    return run(with_keys(cell), X, STEPS)[::2]


def assert_steps(cell: Cell, step: Any) -> None:
    """`step(x, h)` gives what the cell gives."""
    h = np.zeros(H)
    for x, found in zip(xs(), outputs(cell), strict=True):
        h = step(x, h)
        np.testing.assert_allclose(found, h, rtol=1e-12)


def first(x: Any, h: Any, op: str = "tanh") -> Any:
    """Node 0 of ENAS and DARTS."""
    c = sigmoid(w("c_0_0", X) @ x + w("c_0_1") @ h)
    return c * ACT[op](w("h_0_0", X) @ x + w("h_0_1") @ h) + (1 - c) * h


def highway(s: Any, op: str, c_key: str, h_key: str) -> Any:
    c = sigmoid(w(c_key) @ s)
    return c * ACT[op](w(h_key) @ s) + (1 - c) * s


def test_enas_is_highways_and_the_mean_of_loose_ends() -> None:
    listing = EnasListing("relu", ((0, "tanh"), (1, "identity"), (1, "sigmoid")))

    def step(x: Any, h: Any) -> Any:
        s1 = highway(first(x, h, "relu"), "tanh", "c_1_0", "h_1_0")
        s2 = highway(s1, "identity", "c_2_0", "h_2_0")
        s3 = highway(s1, "sigmoid", "c_3_0", "h_3_0")
        return (s2 + s3) / 2

    assert_steps(enas.lower(listing), step)


def test_enas_keys_name_a_bank_by_node_and_predecessor() -> None:
    cell = enas.lower(EnasListing("tanh", ((0, "relu"), (0, "tanh"))), keys=True)
    keys = [key for node in cell.nodes for key in node.keys or ()]
    assert keys == ["c_0_x", "c_0_h", "h_0_x", "h_0_h", "c_1_0", "h_1_0", "c_2_0", "h_2_0"]


def test_darts_highway_edges_of_a_node_share_its_matrices() -> None:
    edges = [("relu", 0), [("tanh", 0), ("sigmoid", 0), ("relu", 1), ("none", 1)]]
    cell = darts.lower(DartsListing.of(edges))

    def step(x: Any, h: Any) -> Any:
        s0 = first(x, h)
        s1 = highway(s0, "relu", "c_1_0", "h_1_0")
        s2 = highway(s0, "tanh", "c_2", "h_2") + highway(s0, "sigmoid", "c_2", "h_2")
        return (s1 + s2 + highway(s1, "relu", "c_2", "h_2")) / 2

    assert_steps(cell, step)
    assert cell.parameters(X, H) == 2 * H * (X + H) + 2 * 2 * H * H


def test_darts_plain_edges_share_the_matrix_of_their_source() -> None:
    """I-DARTS Eq. 1 and ESS Eqs. 4, 5 and 7."""
    edges = [("relu", 0), [("tanh", 0), ("identity", 1)]]
    cell = darts.lower(DartsListing.of(edges, edges="plain"))

    def step(x: Any, h: Any) -> Any:
        s0 = np.tanh(w("w_in_0", X) @ x + w("w_in_1") @ h)
        s1 = ACT["relu"](w("w_0_0") @ s0)
        return (s1 + np.tanh(w("w_0_0") @ s0) + w("w_1_0") @ s1) / 2

    assert_steps(cell, step)
    assert cell.parameters(X, H) == H * (X + H) + 2 * H * H


def test_ess_gates_look_back() -> None:
    """ESS Eqs. 6 to 9, with an operation on the α side of g."""
    intra = DartsListing.of([("sigmoid", 0)], edges="plain")
    cell = ess.lower(EssListing(intra, ("tanh", "drop"), ("sigmoid", "identity"), g_alpha="relu"))
    past_x, past_h = [np.zeros(X)] * 2, [np.zeros(H)] * 2

    def step(x: Any, h: Any) -> Any:
        past_h.insert(0, h)
        h_hat = h * (np.tanh(w("f_1_w_0", X) @ past_x[0]) + 0) / 2
        gate = sigmoid(w("g_1_w_0", H, X) @ past_h[0]) + w("g_2_w_0", H, X) @ past_h[1]
        x_hat = ACT["relu"](w("g_alpha_w_0", X, X) @ x) * gate / 2
        past_x.insert(0, x)
        s0 = np.tanh(w("w_in_0", X) @ x_hat + w("w_in_1") @ h_hat)
        return sigmoid(w("w_0_0") @ s0)

    assert_steps(cell, step)
    assert cell.inputs == ("x", "x@1", "h0", "h0@2")


@pytest.mark.parametrize("second", ["h", "zero"])
def test_fenas_functions(second: str) -> None:
    """FENAS section 3.1, all kinds of functions over one and two inputs."""
    single = second == "zero"
    nodes = [FenasNode("tanh", "x", "h")]
    nodes += [FenasNode(f, 1, second) for f in ("sub", "relu*", "relu-skip", "sigmoid")]
    cell = fenas.lower(FenasListing(tuple(nodes)))

    def linear(tag: str, a: Any, b: Any) -> Any:
        total = w(f"{tag}_0") @ a + weight(f"bias {tag}", H)
        return total if single else total + w(f"{tag}_1") @ b

    def step(x: Any, h: Any) -> Any:
        a = np.tanh(w("n_1_w_0", X) @ x + w("n_1_w_1") @ h + weight("bias n_1_w", H))
        b = np.zeros(H) if single else h
        c = sigmoid(linear("n_4_c", a, b))
        skip = c * ACT["relu"](linear("n_4_w", a, b)) + (1 - c) * (a + b)
        return (a - b + ACT["relu"](a + b) + skip + sigmoid(linear("n_5_w", a, b))) / 4

    assert_steps(cell, step)


def test_fenas_minus_from_zero() -> None:
    cell = fenas.lower(FenasListing((FenasNode("tanh", "x", "h"), FenasNode("sub", "zero", 1))))
    assert_steps(
        cell,
        lambda x, h: -np.tanh(w("n_1_w_0", X) @ x + w("n_1_w_1") @ h + weight("bias n_1_w", H)),
    )


def test_fenas_c_is_a_loose_end_unless_a_node_reads_it() -> None:
    read = FenasListing((FenasNode("tanh", "x", "c"), FenasNode("relu*", 1)), c=1)
    unread = FenasListing((FenasNode("tanh", "x", "c"), FenasNode("relu*", "h")), c=1)
    assert read.loose_ends == (2,)
    assert unread.loose_ends == (1, 2)
    assert fenas.lower(unread).states == ("h", "n_1")


INVALID: dict[str, Any] = {
    "ENAS node 0": lambda: EnasListing("leaky_relu"),
    "ENAS node 2.*from 0 to 1": lambda: EnasListing("tanh", ((0, "relu"), (2, "relu"))),
    "at most": lambda: EnasListing("tanh", ((0, "relu"),) * 1000),
    "node 1 has no edge": lambda: DartsListing(((),), (1,)),
    "same edge twice": lambda: DartsListing.of([[("relu", 0), ("relu", 0)]]),
    "names a node twice": lambda: DartsListing.of([("relu", 0)], (1, 1)),
    "'highway' or 'plain'": lambda: DartsListing.of([("relu", 0)], edges="other"),
    "look back m steps": lambda: EssListing(
        DartsListing.of([("relu", 0)]), ("tanh",), ("tanh", "relu")
    ),
    "f_alpha needs a f_gate": lambda: EssListing(DartsListing.of([("relu", 0)]), f_alpha="tanh"),
    "g_gate: unknown operation 'none'": lambda: EssListing(
        DartsListing.of([("relu", 0)]), g_gate=("none",)
    ),
    "FENAS node 1: both": lambda: FenasListing((FenasNode("add", "zero", "zero"),)),
    "FENAS node 1: unknown input 'y'": lambda: FenasListing((FenasNode("add", "x", "y"),)),
    "reads c": lambda: FenasListing((FenasNode("add", "x", "c"),)),
}


@pytest.mark.parametrize("says", INVALID)
def test_listings_that_are_none(says: str) -> None:
    with pytest.raises(CellError, match=says):
        INVALID[says]()
