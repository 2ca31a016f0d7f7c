"""What holds for every space: one suite, run over all of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cells
from cellwright import Cell, zoo
from cellwright.spaces import SPACES, Enas, Pool, SettingError, Space, SpaceError, space
from cellwright.testing import SPACE_CHECKS, check_space

SMALL: dict[str, Space] = {
    "enas": space("enas"),
    "enas with keys": space("enas", nodes=4, keys=True),
    "darts": space("darts"),
    "darts with none, plain": space("darts", nodes=5, operations=["none", "tanh"], edges="plain"),
    "i-darts": space("i-darts"),
    "i-darts highway": space("i-darts", nodes=4, edges="highway", edges_per_node=3),
    "ess": space("ess"),
    "ess highway": space("ess", nodes=3, m=1, edges="highway"),
    "fenas": space("fenas"),
    "fenas without memory": space("fenas", nodes=4, memory=False),
    "fenas few functions": space("fenas", nodes=3, functions=["add", "tanh*", "sub"]),
    "fenas with edges": space("fenas", nodes=4, mutation="functions-and-edges"),
    "nas-bench-nlp": space("nas-bench-nlp"),
    "nas-bench-nlp large": space("nas-bench-nlp", states=[3], nodes=21),
    "any": space("any"),
    "any small": space("any", matrices=6, nodes=20, sources=["fenas", "nas-bench-nlp"]),
    "pool": Pool(
        list({c.id: c for c in map(cells.cell, map(random.Random, range(40)))}.values())[:30],
        np.random.default_rng(0).normal(size=(30, 4)),
    ),
}
NAMES = list(SMALL)
seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(params=NAMES)
def any_space(request: pytest.FixtureRequest) -> Space:
    return SMALL[request.param]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=12)
@given(seed=seeds)
def test_samples_are_contained_finished_cells(name: str, seed: int) -> None:
    cell = SMALL[name].sample(np.random.default_rng(seed))
    assert SMALL[name].contains(cell)
    assert not cell.is_supernet
    back = Cell.from_json(cell.to_json())
    assert back == cell
    assert SMALL[name].contains(back)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10)
@given(seed=seeds)
def test_mutations_stay_inside_and_change_the_cell(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    line = [SMALL[name].sample(rng)]
    for _ in range(4):
        line.append(SMALL[name].mutate(line[-1], rng))
    for parent, child in pairwise(line):
        assert SMALL[name].contains(child)
        assert child != parent


@pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
def test_it_holds_what_a_space_has_to_hold(
    any_space: Space, check: Callable[[Space], None]
) -> None:
    check(any_space)


def test_cells_of_other_kinds_are_not_contained(any_space: Space) -> None:
    odd = [cells.cell(random.Random(seed), supernets=True) for seed in range(60, 100)]
    supernets = [cell for cell in odd if cell.is_supernet]
    assert len(supernets) > 5
    for cell in supernets:
        assert not any_space.contains(cell)
        with pytest.raises(SpaceError, match="is not a cell of"):
            any_space.mutate(cell, np.random.default_rng(0))


class Forgetful(Enas):
    """A broken space: its mutations change nothing."""

    def mutate(self, cell: Cell, rng: np.random.Generator) -> Cell:
        return cell


def test_a_broken_space_is_found() -> None:
    with pytest.raises(AssertionError, match="changed nothing"):
        check_space(Forgetful(nodes=4))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "pool"])
def test_settings_make_the_same_space(name: str) -> None:
    made = SMALL[name]
    assert space(made.name, **made.settings()) == made


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("enas", {"enas"}),
        ("darts", {"darts-v1", "darts-v2"}),
        ("fenas", {"fenas-lstm"}),
        ("nas-bench-nlp", {"nbnlp-rnn", "nbnlp-lstm", "nbnlp-gru"}),
    ],
)
def test_published_cells_are_in_their_papers_space(name: str, expected: set[str]) -> None:
    assert expected <= space(name).known().keys()


def test_all_sentence_pair_cells_are_enas_cells_of_six_nodes() -> None:
    six = space("enas", nodes=6)
    for number in range(1, 27):
        assert six.contains(zoo[f"sentpair-{number}"])
        assert not space("enas").contains(zoo[f"sentpair-{number}"])


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("enass", {}, "did you mean 'enas'"),
        ("tree", {}, "spaces are enas, darts"),
        (7, {}, "there is no space 7"),
        ("enas", {"node": 3}, "has no setting 'node'; did you mean 'nodes'"),
        ("enas", {"m": 3}, "it has nodes, operations, keys"),
        ("enas", {"nodes": 0}, "nodes must be a whole number from 1"),
        ("enas", {"nodes": "6"}, "nodes must be a whole number"),
        ("enas", {"nodes": True}, "nodes must be a whole number"),
        ("enas", {"operations": "tanh"}, "operations must be a list of words"),
        ("enas", {"operations": ["tahn"]}, "did you mean 'tanh'"),
        ("enas", {"operations": []}, "operations is empty"),
        ("enas", {"operations": ["tanh", "tanh"]}, "a word twice"),
        ("enas", {"keys": 1}, "keys must be true or false"),
        ("darts", {"edges": "wide"}, "edges has no 'wide'; known are highway, plain"),
        ("i-darts", {"edges_per_node": 5}, "edges_per_node must be a whole number from 1 to 4"),
        ("ess", {"m": 65}, "m must be a whole number from 1 to 64"),
        ("fenas", {"memory": "yes"}, "memory must be true or false"),
        ("nas-bench-nlp", {"states": 2}, "states must be a list of numbers"),
        ("nas-bench-nlp", {"states": [4]}, "states must be a whole number from 1 to 3"),
        ("nas-bench-nlp", {"states": [1, 1]}, "each once"),
    ],
)
def test_mistakes_are_named(name: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        space(name, **settings)


def test_a_space_of_one_cell_says_that_it_cannot_be_mutated() -> None:
    lonely = space("enas", nodes=1, operations=["tanh"])
    rng = np.random.default_rng(0)
    with pytest.raises(SpaceError, match="found no mutation"):
        lonely.mutate(lonely.sample(rng), rng)


def test_the_registry_has_every_paper() -> None:
    assert set(SPACES) == {"enas", "darts", "i-darts", "ess", "fenas", "nas-bench-nlp", "any"}
