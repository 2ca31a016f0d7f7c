"""FENAS: LSTM and GRU are in the space, samples are uniform, a mutation changes one node."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from cellwright import Cell, Recurrent
from cellwright.cell.listings import FenasListing, FenasNode
from cellwright.cell.listings.fenas import FUNCTIONS, lower
from cellwright.spaces import Fenas, SpaceError

torch = pytest.importorskip("torch")


def fenas_weights(name: str, theirs: torch.nn.RNNBase) -> dict[str, torch.Tensor]:
    """The weights of nn.LSTM or nn.GRU under the names of the FENAS form's nodes."""
    gates = 4 if name == "fenas-lstm" else 3
    w_x, w_h = theirs.weight_ih_l0.chunk(gates), theirs.weight_hh_l0.chunk(gates)
    b_x, b_h = theirs.bias_ih_l0.chunk(gates), theirs.bias_hh_l0.chunk(gates)
    found = {}
    for i in range(4 if name == "fenas-lstm" else 2):
        found[f"layer0.n_{i + 1}_w.weight_x"] = w_x[i]
        found[f"layer0.n_{i + 1}_w.weight_h0"] = w_h[i]
        found[f"layer0.n_{i + 1}_w.bias"] = b_x[i] + b_h[i]
    if name == "fenas-gru":
        found |= {"layer0.n_3_w.weight_x": w_x[2], "layer0.n_3_w.bias": b_x[2]}
        found |= {"layer0.n_4_w.weight_h0": w_h[2], "layer0.n_4_w.bias": b_h[2]}
    return found


@pytest.mark.parametrize(
    ("space", "name"),
    [
        (Fenas(nodes=9), "fenas-lstm"),
        (Fenas(nodes=10), "fenas-lstm"),
        (Fenas(nodes=13), "fenas-lstm"),
        (Fenas(nodes=10, memory=False), "fenas-gru"),
        (Fenas(nodes=10), "fenas-gru"),
        (Fenas(nodes=12), "fenas-gru"),
    ],
    ids=str,
)
def test_lstm_and_gru_are_in_the_space_and_compute_what_torch_computes(
    space: Fenas, name: str
) -> None:
    torch.manual_seed(0)
    cell = space.known()[name]
    assert space.contains(cell)
    assert len(space.listing(cell).nodes) == space.nodes
    kind = torch.nn.LSTM if name == "fenas-lstm" else torch.nn.GRU
    theirs = kind(5, 5).double()
    ours = Recurrent(cell, 5, 5, backend="torch").double()
    ours.load_state_dict(fenas_weights(name, theirs))
    x = torch.randn(7, 3, 5, dtype=torch.float64)
    expected, state = theirs(x)
    found, final = ours(x)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    if name == "fenas-lstm":
        torch.testing.assert_close(final[1], state[1], rtol=1e-12, atol=1e-12)


def test_nine_nodes_are_too_few_for_the_gru_and_the_lstm_needs_the_memory() -> None:
    assert set(Fenas(nodes=9).known()) == {"fenas-lstm"}
    assert set(Fenas(nodes=9, memory=False).known()) == set()
    assert set(Fenas(nodes=10, memory=False).known()) == {"fenas-gru"}


@pytest.mark.parametrize(
    "space",
    [
        Fenas(nodes=1, memory=False),
        Fenas(nodes=2, memory=True, functions=("tanh-skip", "mul")),
        Fenas(nodes=2, memory=False, functions=("sub", "relu*")),
    ],
    ids=str,
)
def test_samples_are_uniform_over_listings(space: Fenas) -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed (extra: metrics)")
    rng = np.random.default_rng(0)
    drawn = Counter(space.sample_listing(rng) for _ in range(20 * space.size()))
    assert len(drawn) == space.size()
    assert stats.chisquare(list(drawn.values())).pvalue > 0.01


def test_samples_are_uniform_over_cells_where_each_has_one_listing() -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed (extra: metrics)")
    space = Fenas(nodes=1, memory=False, functions=("sub", "tanh", "tanh*", "relu-skip"))
    rng = np.random.default_rng(0)
    drawn = Counter(space.sample(rng).id for _ in range(20 * space.size()))
    assert len(drawn) == space.size() == 8 + 3 * 5
    assert stats.chisquare(list(drawn.values())).pvalue > 0.01


def one_change_away(listing: FenasListing) -> dict[str, tuple[int, str]]:
    """The id of every cell that differs in one node's function, and which."""
    found = {}
    for place, node in enumerate(listing.nodes):
        for function in FUNCTIONS:
            if function != node.function:
                nodes = list(listing.nodes)
                nodes[place] = replace(node, function=function)
                found[lower(FenasListing(tuple(nodes), listing.c)).id] = place, function
    return found


def test_a_mutation_changes_the_function_of_exactly_one_node() -> None:
    space = Fenas()
    lstm = space.known()["fenas-lstm"]
    near = one_change_away(space.listing(lstm))
    rng = np.random.default_rng(0)
    changes = Counter(near[space.mutate(lstm, rng).id] for _ in range(900))
    assert len({place for place, _ in changes}) == 9
    assert {function for _, function in changes} == set(FUNCTIONS)
    assert min(Counter(place for place, _ in changes.elements()).values()) > 60


def one_edge_away(listing: FenasListing, space: Fenas) -> set[str]:
    """The id of every cell that differs in one node's input, or in which node is c(t)."""
    found = {lower(replace(listing, c=c)).id for c in range(1, space.nodes + 1)}
    for place, node in enumerate(listing.nodes):
        for source in [*space._sources(place + 1), "zero"]:
            for pair in ((source, node.second), (node.first, source)):
                if pair == ("zero", "zero"):
                    continue
                if pair[0] == "zero" and node.function != "sub":
                    pair = pair[::-1]
                nodes = list(listing.nodes)
                nodes[place] = FenasNode(node.function, *pair)
                found.add(lower(FenasListing(tuple(nodes), listing.c)).id)
    return found


def test_a_mutation_may_change_edges_too() -> None:
    """Real et al.'s two kinds, each in half of the cases."""
    space = Fenas(mutation="functions-and-edges")
    lstm = space.known()["fenas-lstm"]
    listing = space.listing(lstm)
    functions, edges = set(one_change_away(listing)), one_edge_away(listing, space)
    rng = np.random.default_rng(0)
    children = [space.mutate(lstm, rng).id for _ in range(200)]
    assert all(child in functions | edges for child in children)
    rewired = [child for child in children if child in edges]
    assert 70 < len(rewired) < 130
    assert len(set(rewired)) > 50


def test_a_space_that_mutates_functions_is_written_down_as_before() -> None:
    """Studies that were begun when there was no other mutation go on."""
    assert "mutation" not in Fenas().settings()
    space = Fenas(mutation="functions-and-edges")
    assert Fenas(**space.settings()) == space


def test_a_mutation_of_a_sample_changes_one_node_too() -> None:
    space = Fenas(nodes=5)
    rng = np.random.default_rng(1)
    exact = 0
    for _ in range(30):
        cell = space.sample(rng)
        if all(not node.function.endswith("*") for node in space.listing(cell).nodes):
            assert space.mutate(cell, rng).id in one_change_away(space.listing(cell))
            exact += 1
    assert exact > 3


def test_an_activation_of_a_sum_is_one_node_or_two() -> None:
    one = FenasListing((FenasNode("tanh", "x", "h"), FenasNode("relu*", 1, "h")))
    two = FenasListing(
        (FenasNode("tanh", "x", "h"), FenasNode("add", 1, "h"), FenasNode("relu*", 2))
    )
    cell = lower(one)
    assert cell == lower(two)
    assert Fenas(nodes=2, memory=False).listing(cell).nodes == one.nodes
    assert Fenas(nodes=3, memory=False).listing(cell).nodes == two.nodes
    assert not Fenas(nodes=4, memory=False).contains(cell)
    without_add = tuple(name for name in FUNCTIONS if name != "add")
    assert not Fenas(nodes=3, memory=False, functions=without_add).contains(cell)


def test_which_sum_is_divided_is_drawn() -> None:
    nodes = (FenasNode("relu*", "x", "h"), FenasNode("tanh*", "x", "x"))
    cell = lower(FenasListing(nodes))
    space = Fenas(nodes=3, memory=False)
    rng = np.random.default_rng(0)
    found = {space.listing(cell, rng) for _ in range(30)}
    assert len(found) == 2
    assert all(lower(listing) == cell for listing in found)


def test_one_function_alone_cannot_change() -> None:
    space = Fenas(nodes=2, functions=("tanh",))
    rng = np.random.default_rng(0)
    with pytest.raises(SpaceError, match="one function only"):
        space.mutate(space.sample(rng), rng)


def test_a_cell_with_another_number_of_nodes_is_not_contained() -> None:
    cell: Cell = Fenas(nodes=9).known()["fenas-lstm"]
    assert not Fenas(nodes=8).contains(cell)
    assert not Fenas(nodes=10).contains(cell)
    assert not Fenas(nodes=9, memory=False).contains(cell)
