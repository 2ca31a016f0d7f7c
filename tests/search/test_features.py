"""graph2vec: words of graphs, and vectors that say which cells are alike."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cells
from cellwright import Cell, Node, zoo
from cellwright.base.optional import MissingPackageError, require
from cellwright.cell import rename_nodes
from cellwright.search.blackbox.features import Graph2Vec, draw_pool, graph2vec, words
from cellwright.spaces import Enas, SettingError
from cellwright.testing.methods import loss_of as loss

ROOT = Path(__file__).parents[2]


def renamed(cell: Cell, rng: random.Random) -> Cell:
    """The same graph under other names, in another order, commutative inputs turned round."""
    names = [f"v{i}" for i in range(len(cell.nodes))]
    rng.shuffle(names)
    other = rename_nodes(cell, dict(zip([n.name for n in cell.nodes], names, strict=True)))
    nodes = []
    for node in other.nodes:
        turn = node.spec.commutative and node.keys is None
        nodes.append(node.reading(node.inputs[::-1]) if turn else node)
    rng.shuffle(nodes)
    return Cell(nodes, other.states, other.output)


# -- words ---------------------------------------------------------------------------------


def test_words_by_hand() -> None:
    cell = Cell([Node("s", "linear", ("x", "h0")), Node("h", "tanh", ("s",))], ["h"])
    flat = sorted(["input x", "input h0", "linear bias=True width=hidden", "tanh h0 output"])
    assert words(cell, 0) == flat
    assert len(words(cell, 2)) == 3 * 4
    assert set(flat) < set(words(cell, 2))
    assert len(set(words(cell, 1))) == 8  # x and h0 differ, so nothing looks alike


@pytest.mark.parametrize("seed", range(20))
def test_words_do_not_depend_on_names_or_order(seed: int) -> None:
    rng = random.Random(seed)
    cell = cells.cell(rng)
    assert words(renamed(cell, rng), 3) == words(cell, 3)


def test_words_tell_direction_and_place() -> None:
    def blended(*inputs: str) -> Cell:
        nodes = [
            Node("a", "linear", ("x",)), Node("g", "sigmoid", ("a",)), Node("t", "tanh", ("a",)),
            Node("h", "blend", inputs),
        ]  # fmt: skip
        return Cell(nodes, ["h"])

    def chain(*ops: str) -> Cell:
        nodes = [Node("n0", "linear", ("x", "h0"))]
        nodes += [Node(f"n{i}", op, (f"n{i - 1}",)) for i, op in enumerate(ops, 1)]
        return Cell(nodes, [nodes[-1].name])

    assert words(blended("g", "t", "h0"), 0) == words(blended("g", "h0", "t"), 0)
    assert words(blended("g", "t", "h0"), 1) != words(blended("g", "h0", "t"), 1)
    assert words(chain("tanh", "relu", "tanh"), 1) != words(chain("relu", "tanh", "tanh"), 1)


def test_alike_cells_share_most_words() -> None:
    def shared(one: str, other: str) -> float:
        a, b = set(words(zoo[one], 2)), set(words(zoo[other], 2))
        return len(a & b) / len(a | b)

    assert shared("sentpair-7", "sentpair-9") > 2 * shared("sentpair-7", "nbnlp-lstm")


# -- vectors -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def some() -> list[Cell]:
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    rng = np.random.default_rng(0)
    space = Enas(nodes=5)
    return list({c.id: c for c in (space.sample(rng) for _ in range(100))}.values())[:80]


@pytest.mark.parametrize("dimensions", [10, 50])
def test_shape_and_determinism(some: list[Cell], dimensions: int) -> None:
    found = graph2vec(some, dimensions, seed=3)
    assert found.shape == (80, dimensions)
    assert np.isfinite(found).all()
    assert np.array_equal(found, graph2vec(some, dimensions, seed=3))
    assert not np.array_equal(found, graph2vec(some, dimensions, seed=4))


def test_vectors_do_not_depend_on_names_or_the_order_of_cells(some: list[Cell]) -> None:
    rng = random.Random(0)
    order = list(range(len(some)))
    rng.shuffle(order)
    found = graph2vec([renamed(some[i], rng) for i in order])
    assert np.array_equal(found, graph2vec(some)[order])


def test_equal_cells_have_equal_vectors(some: list[Cell]) -> None:
    twice = graph2vec([*some, some[3]])
    assert np.array_equal(twice[-1], twice[3])
    assert np.array_equal(twice[:-1], graph2vec(some))


def test_vectors_are_the_same_in_every_process(some: list[Cell]) -> None:
    """Python's own hash of strings is salted anew in each process."""
    code = (
        "import numpy as np\n"
        "from cellwright import zoo\n"
        "from cellwright.search.blackbox.features import Graph2Vec\n"
        "g = Graph2Vec([zoo[f'sentpair-{i}'] for i in range(1, 9)], epochs=5)\n"
        "print(g.features.tobytes().hex(), g(zoo['sentpair-20']).tobytes().hex())\n"
    )
    found = set()
    for salt in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": salt, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, check=True
        )
        found.add(done.stdout)
    assert len(found) == 1


def test_new_cells_are_inferred_near_their_like(some: list[Cell]) -> None:
    embed = Graph2Vec(some[:60], epochs=30)
    assert np.array_equal(embed(some[5]), embed.features[5])
    first = embed(some[70])
    embed(some[71])
    assert np.array_equal(embed(some[70]), first)  # whatever was inferred in between
    # an inferred vector of a known cell is nearer to its own than to most others
    near = 0
    for place in range(20):
        embed._known.pop(some[place].id)
        vector = embed(some[place])
        angles = embed.features @ vector / np.linalg.norm(embed.features, axis=1)
        near += (angles > angles[place]).sum() < 15
    assert near >= 15


def test_vectors_predict_what_a_cell_is_made_of(some: list[Cell]) -> None:
    features = np.c_[graph2vec(some, 10), np.ones(len(some))]
    target = np.array([loss(cell) for cell in some])
    weights = np.linalg.lstsq(features[:50], target[:50], rcond=None)[0]
    left = target[50:] - features[50:] @ weights
    assert 1 - left.var() / target[50:].var() > 0.4


def test_draw_pool(some: list[Cell]) -> None:
    pool = draw_pool(Enas(nodes=4), 30, 5, seed=2)
    assert len(pool.cells) == 30
    assert pool.features.shape == (30, 5)
    assert [c.id for c in draw_pool(Enas(nodes=4), 30, 5, seed=2).cells] == [
        c.id for c in pool.cells
    ]
    tiny = Enas(nodes=2, operations=("tanh", "relu"))
    assert len(draw_pool(tiny, 30, 5).cells) == tiny.distinct_size()


def test_mistakes_are_named() -> None:
    with pytest.raises(SettingError, match="dimensions must be a whole number"):
        graph2vec([zoo["lstm"]], 0)
    with pytest.raises(SettingError, match="no cells to learn from"):
        graph2vec([])
    with pytest.raises(
        MissingPackageError, match=r"needs the package no_such_package; pip install"
    ):
        require("no_such_package.part", "this")
