"""NAS-Bench-NLP: what the generator draws, and the release's own recipes."""

from __future__ import annotations

import json
import os
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cellwright import Cell, Node, zoo
from cellwright.cell.listings import nas_bench_nlp
from cellwright.spaces import NasBenchNlp
from cellwright.spaces.nas_bench_nlp import ACTIVATIONS

LOGS = Path(os.environ.get("CELLWRIGHT_DATA", "")) / "nas-bench-nlp" / "train_logs_wikitext-2.zip"


def follows_the_generator(cell: Cell) -> bool:
    """The generator's rules, read from the paper and the release's settings."""
    activations = {node.name for node in cell.nodes if node.op in ACTIVATIONS}
    states = {f"h{i}" for i in range(len(cell.states))}
    for node in cell.nodes:
        distinct = len(set(node.inputs)) == len(node.inputs)
        if node.op == "linear":
            fine = {*node.inputs} <= {"x"} | states | activations and len(node.inputs) in (2, 3)
        elif node.op in ACTIVATIONS:
            fine = node.inputs[0] in cell and cell.node(node.inputs[0]).op == "linear"
        else:
            fine = "x" not in node.inputs and len(node.inputs) == {"blend": 3}.get(node.op, 2)
        if not fine or not distinct:
            return False
    return not any(states & {*cell.node(name).inputs} for name in cell.states)


@pytest.mark.parametrize("space", [NasBenchNlp(), NasBenchNlp(states=(2,), nodes=21)], ids=str)
def test_samples_follow_the_generators_rules(space: NasBenchNlp) -> None:
    rng = np.random.default_rng(0)
    drawn = [space.sample(rng) for _ in range(200)]
    assert all(map(follows_the_generator, drawn))
    assert {len(cell.states) for cell in drawn} == set(space.states)
    # one node too many at most, where a linear's activation is the last
    assert max(len(cell.nodes) for cell in drawn) <= min(24, space.nodes + max(space.states) + 1)
    ops = Counter(node.op for cell in drawn for node in cell.nodes)
    assert set(ops) == {"linear", "blend", "mul", "add", *ACTIVATIONS}


def test_the_generator_draws_with_the_releases_weights() -> None:
    space = NasBenchNlp(states=(2,), nodes=21)
    rng = np.random.default_rng(0)
    nodes = [node for _ in range(300) for node in space._redundant(2, rng)]
    ops = Counter(node.op for node in nodes)
    drawn = sum(ops[op] for op in ("linear", "blend", "mul", "add"))
    assert ops["linear"] / drawn == pytest.approx(0.5, abs=0.04)  # 3:1:1:1
    for op in ("blend", "mul", "add"):
        assert ops[op] / drawn == pytest.approx(1 / 6, abs=0.03)
    for op in ACTIVATIONS:
        assert ops[op] / ops["linear"] == pytest.approx(1 / 3, abs=0.04)
    threes = sum(len(node.inputs) == 3 for node in nodes if node.op == "linear")
    assert threes / ops["linear"] == pytest.approx(0.2, abs=0.04)


def test_mutations_can_grow_a_cell_and_shrink_it() -> None:
    space = NasBenchNlp()
    rng = np.random.default_rng(0)
    cell = zoo["nbnlp-lstm"]
    sizes = Counter(len(space.mutate(cell, rng).nodes) for _ in range(200))
    assert min(sizes) < len(cell.nodes) < max(sizes)
    for _ in range(100):
        cell = space.mutate(cell, rng)
        assert len(cell.nodes) <= 24
    assert space.contains(cell)


def test_mutations_make_no_new_direct_connection_between_states() -> None:
    space = NasBenchNlp(states=(1,))
    rng = np.random.default_rng(0)
    for _ in range(100):
        child = space.mutate(zoo["nbnlp-rnn"], rng)
        assert "h0" not in child.node(child.states[0]).inputs


def cell_of(states: int = 1, **nodes: str) -> Cell:
    made = [Node(name, text.split()[0], tuple(text.split()[1:])) for name, text in nodes.items()]
    return Cell(made, [f"s{i}" for i in range(states)])


@pytest.mark.parametrize(
    ("why", "cell"),
    [
        ("x outside a linear", cell_of(a="linear x h0", s0="add a x")),
        ("a state is not read", cell_of(2, a="linear x h0", s0="tanh a", s1="sigmoid a")),
        ("x is not read", cell_of(a="linear h0", s0="tanh a")),
        ("four inputs", cell_of(a="tanh h0", b="tanh a", s0="linear x h0 a b")),
        ("a node that leads nowhere", cell_of(a="linear x h0", b="tanh a", s0="sigmoid a")),
        ("an operation that it has not", cell_of(a="linear x h0", s0="relu a")),
    ],
)
def test_not_contained(why: str, cell: Cell) -> None:
    assert not NasBenchNlp().contains(cell), why


@pytest.mark.skipif(
    "CELLWRIGHT_DATA" not in os.environ or not LOGS.exists(),
    reason="CELLWRIGHT_DATA does not point to a folder with nas-bench-nlp/",
)
def test_every_released_recipe_is_contained_and_all_but_three_could_have_been_drawn() -> None:
    with zipfile.ZipFile(LOGS) as archive:
        recipes = {json.loads(archive.read(name))["recepie"] for name in archive.namelist()}
    made = [nas_bench_nlp.lower(json.loads(recipe)) for recipe in recipes]
    assert len(made) == 169
    assert all(map(NasBenchNlp().contains, made))
    by_hand = [cell for cell in made if not follows_the_generator(cell)]
    assert {cell.id for cell in by_hand} <= {zoo["nbnlp-lstm"].id, zoo["nbnlp-gru"].id}
