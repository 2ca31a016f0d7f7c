"""The id is equal exactly for equal graphs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import same_graph, shuffled

from cells import cell as random_cell
from cells import cells, family_cells, supernets
from cellwright.cell import OPS, Cell, CellError, Node
from cellwright.cell.zoo import zoo
from effort import many

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=300)
@given(st.one_of(cells, supernets, family_cells), seeds)
def test_names_and_order_do_not_count(cell: Cell, seed: int) -> None:
    other = shuffled(cell, random.Random(seed))
    assert other.id == cell.id
    assert other == cell
    assert hash(other) == hash(cell)


def changed(cell: Cell, rng: random.Random) -> Cell:
    """The cell with one structural change of any kind; it may come out the same graph."""
    nodes = list(cell.nodes)
    at = rng.randrange(len(nodes))
    node = nodes[at]
    before = [n.name for n in nodes[:at]]
    match rng.randrange(8):
        case 0:
            fits = [op for op in OPS.values() if op.takes(len(node.inputs)) and op.name != node.op]
            nodes[at] = Node(node.name, rng.choice(fits or [node.spec]).name, node.inputs)
        case 1 if node.inputs:
            inputs = list(node.inputs)
            inputs[rng.randrange(len(inputs))] = rng.choice([*before, *cell.inputs, "h0"])
            nodes[at] = replace(node, inputs=tuple(inputs))
        case 2:
            states = list(cell.states)
            states[rng.randrange(len(states))] = rng.choice(nodes).name
            return Cell(nodes, states, cell.output)
        case 3:
            return Cell(nodes, cell.states, rng.choice(nodes).name)
        case 4:
            linears = [i for i, n in enumerate(nodes) if n.op == "linear"]
            assume(linears)
            at = rng.choice(linears)
            nodes[at] = replace(nodes[at], bias=not nodes[at].bias)
        case 5:  # share or un-share a linear: one reader of it gets a copy of its own
            pairs = [(i, n) for i, n in enumerate(nodes) if n.op == "linear"]
            assume(pairs)
            place, linear = rng.choice(pairs)
            readers = [i for i, n in enumerate(nodes) if linear.name in n.inputs]
            assume(readers)
            reader = rng.choice(readers)
            inputs = list(nodes[reader].inputs)
            inputs[inputs.index(linear.name)] = "copy"
            nodes[reader] = replace(nodes[reader], inputs=tuple(inputs))
            nodes.insert(place, replace(linear, name="copy"))
        case 6:  # tie or untie a weight
            linears = [i for i, n in enumerate(nodes) if n.op == "linear"]
            assume(linears)
            at = rng.choice(linears)
            keys = tuple(rng.choice("abcdefgh") for _ in nodes[at].inputs)
            nodes[at] = replace(nodes[at], keys=keys)
        case _:
            assume(len(node.inputs) > 1)
            nodes[at] = replace(node, inputs=(*node.inputs[1:], node.inputs[0]))
    return Cell(nodes, cell.states, cell.output)


@settings(max_examples=600)
@given(st.one_of(cells, supernets, family_cells), seeds)
def test_one_change_changes_the_id_exactly_when_the_graph_changes(cell: Cell, seed: int) -> None:
    rng = random.Random(seed)
    try:
        other = changed(cell, rng)
    except CellError:
        assume(False)
    other = shuffled(other, rng)
    assert (other.id == cell.id) == same_graph(cell, other)


def test_many_small_cells_against_the_oracle() -> None:
    """Small cells collide often, so both directions of "exactly" are met."""
    rng = random.Random(1)
    small = [random_cell(rng, most=3) for _ in range(many(700))]
    by_id: dict[str, list[Cell]] = {}
    for cell in small:
        by_id.setdefault(cell.id, []).append(cell)
    assert len(by_id) < len(small) - 20, "some cells must be equal for this to test anything"
    for group in by_id.values():
        assert all(same_graph(group[0], other) for other in group[1:])
    firsts = [group[0] for group in by_id.values()]
    for i, one in enumerate(firsts):
        assert not any(same_graph(one, other) for other in firsts[i + 1 :])


def test_a_linear_used_twice_is_not_two_linears() -> None:
    once = [
        Node("a", "linear", ("x", "h0")),
        Node("t", "tanh", ("a",)),
        Node("s", "sigmoid", ("a",)),
        Node("h", "mul", ("t", "s")),
    ]
    twice = [*once[:2], Node("b", "linear", ("x", "h0")), Node("s", "sigmoid", ("b",)), once[3]]
    assert Cell(once, ["h"]) != Cell(twice, ["h"])


def test_symmetric_halves_need_not_be_the_same_graph() -> None:
    """Two squares and one octagon look alike to every vertex, and differ."""

    def ring(*sizes: int) -> Cell:
        nodes, start = [], 0
        for size in sizes:
            nodes += [Node(f"l{start + i}", "linear", ("x", "h0")) for i in range(size)]
            nodes += [
                Node(f"m{start + i}", "mul", (f"l{start + i}", f"l{start + (i + 1) % size}"))
                for i in range(size)
            ]
            start += size
        ends = tuple(f"m{i}" for i in range(start))
        return Cell([*nodes, Node("h", "add", ends)], ["h"])

    assert ring(4, 4) != ring(8)
    assert ring(3, 5) == ring(5, 3) != ring(4, 4)
    assert ring(4, 4) == shuffled(ring(4, 4), random.Random(0))
    assert not same_graph(ring(3, 3), ring(6))


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_dense_layers_are_told_apart(missing: int) -> None:
    """Every node of a layer reads every node of the one before, or all but some."""

    def layers(skip: int, width: int = 9) -> Cell:
        nodes = [Node(f"l0_{i}", "linear", ("x", "h0")) for i in range(width)]
        for depth in range(1, 4):
            for i in range(width):
                gone = {(i + k) % width for k in range(skip)}
                read = tuple(f"l{depth - 1}_{j}" for j in range(width) if j not in gone)
                nodes.append(Node(f"l{depth}_{i}", "linear", read))
        return Cell([*nodes, Node("h", "mean", tuple(f"l3_{i}" for i in range(width)))], ["h"])

    cell = layers(missing)
    assert cell.id == shuffled(cell, random.Random(missing)).id
    assert cell.id != layers(missing + 1).id


def test_a_cell_that_is_too_symmetric_is_an_error_not_a_hang() -> None:
    nodes = [Node(f"l0_{i}", "linear", ("x", "h0")) for i in range(500)]
    for depth in range(1, 8):
        nodes += [
            Node(f"l{depth}_{i}", "mul", (f"l{depth - 1}_{i}", f"l{depth - 1}_{(i + 1) % 500}"))
            for i in range(500)
        ]
    cell = Cell([*nodes, Node("h", "mean", tuple(f"l7_{i}" for i in range(500)))], ["h"])
    with pytest.raises(CellError, match="alike"):
        _ = cell.id


def test_ids_never_change() -> None:
    """Ids are kept in files and databases: a new id here breaks them all."""
    assert {name: zoo[name].id for name in PINNED} == PINNED
    assert set(PINNED) == set(zoo)


PINNED = {
    "rnn": "4c67124e79cc5c14",
    "lstm": "f7203d920478fa71",
    "gru": "cdb0c692efc1d7a9",
    "nbnlp-rnn": "49e18e1b7aa45ee2",
    "nbnlp-lstm": "c6e2aa9fb9edc630",
    "nbnlp-gru": "a183001dbc6d2299",
    "fenas-lstm": "acfa3e4d35fdffc3",
    "fenas-gru": "e5feea59769e356d",
    "darts-v1": "fb538abc48fab13c",
    "darts-v2": "939d618405bd8137",
    "enas": "d16413c85ecfc7cf",
    "cifg-lstm": "7b55f1e65ff9f809",
    "peephole-lstm": "35a740ac5978b6ca",
    "mogrifier-lstm": "bae25e7b7bfda717",
    "slstm": "c3541f4fdc96fabd",
    "janet": "67f0d7f4cc061005",
    "nas-cell": "8ae943bdc9aea663",
    "rhn-2": "9a09bf16334d95bd",
    "rhn-10": "9b4c7d7e357f5444",
    "mut1": "6b14a417f9e7a68f",
    "mut2": "8605fbf17699646f",
    "mut3": "caddd27269658230",
    "mgu": "77e340b8ad953bea",
    "ugrnn": "095946a673aa03ff",
    "mingru": "79fe4486c556da54",
    "minlstm": "d124ba947bd5e212",
    "sru": "ff5b84fdf6e0abd1",
    "sentpair-1": "e7d30042fb1497f7",
    "sentpair-2": "9981ce53bb0ff289",
    "sentpair-3": "12f2431e2893ec00",
    "sentpair-4": "63d1e8df3691e029",
    "sentpair-5": "2e275fe470d0ff88",
    "sentpair-6": "afa5fabd105e0770",
    "sentpair-7": "6f6510a1777cf4a2",
    "sentpair-8": "8867f8f13c889e60",
    "sentpair-9": "3d172dc4fe551cc2",
    "sentpair-10": "8867f8f13c889e60",
    "sentpair-11": "8867f8f13c889e60",
    "sentpair-12": "586f195e8ec014aa",
    "sentpair-13": "02f99163a93517ea",
    "sentpair-14": "3878076d9124abd0",
    "sentpair-15": "6fcc131135829ac3",
    "sentpair-16": "3344347dac296523",
    "sentpair-17": "72689fc766f48e9b",
    "sentpair-18": "7546894cbfbb5723",
    "sentpair-19": "a3e00013abe29869",
    "sentpair-20": "7794f11c2cd9702d",
    "sentpair-21": "900085adc9f0a640",
    "sentpair-22": "7f04887ba2cf212d",
    "sentpair-23": "b48a646c20a8da4a",
    "sentpair-24": "684b004625b281b5",
    "sentpair-25": "c6f8bc816846b99b",
    "sentpair-26": "41736f44fee2f234",
}
