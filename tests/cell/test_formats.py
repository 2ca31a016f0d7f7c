"""Every format reads back what it writes, is recognised, and says what does not fit."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import shuffled

from cells import (
    cells,
    darts_listings,
    enas_listings,
    ess_listings,
    family_cells,
    fenas_listings,
    recipes,
    supernets,
)
from cellwright.cell import Cell, CellError, Node, formats
from cellwright.cell.formats import FORMATS
from cellwright.cell.listings import (
    DartsListing,
    EnasListing,
    EssListing,
    FenasListing,
    darts,
    enas,
    ess,
    fenas,
    nas_bench_nlp,
)
from cellwright.cell.zoo import zoo

seeds = st.integers(0, 2**32 - 1)


def survives(cell: Cell, format: str) -> None:
    text = formats.write(cell, format)
    assert formats.recognize(text) == format
    (back,) = formats.read(text)
    assert back == cell
    (from_bytes,) = formats.read(text.encode(), format)
    assert from_bytes == cell


@given(st.one_of(cells, supernets, family_cells))
def test_cellwright_says_every_cell(cell: Cell) -> None:
    survives(cell, "cellwright")
    back = Cell.from_json(cell.to_json())
    assert (back.nodes, back.states, back.output) == (cell.nodes, cell.states, cell.output)
    assert Cell.from_json(cell.to_json(indent=None)) == cell


@given(enas_listings, seeds)
def test_enas(listing: EnasListing, seed: int) -> None:
    cell = enas.lower(listing)
    survives(cell, "enas")
    other = shuffled(cell, random.Random(seed))
    assert enas.lower(enas.lift(other)) == cell
    assert enas.lift(cell) == listing
    assert enas.lower(listing, keys=True) == cell
    if listing.first == "tanh" and listing.later:
        survives(cell, "darts")


@given(darts_listings, seeds)
def test_darts(listing: DartsListing, seed: int) -> None:
    cell = darts.lower(listing)
    survives(cell, "darts")
    assert darts.lower(darts.lift(shuffled(cell, random.Random(seed)))) == cell
    lifted = darts.lift(cell)
    assert sorted(lifted.concat) == sorted(listing.concat)
    assert [set(edges) for edges in lifted.nodes] == [set(edges) for edges in listing.nodes]


@given(ess_listings, seeds)
def test_ess(listing: EssListing, seed: int) -> None:
    cell = ess.lower(listing)
    assert ess.lower(ess.lift(shuffled(cell, random.Random(seed)))) == cell
    lifted = ess.lift(cell)
    assert (lifted.f_gate, lifted.g_gate) == (listing.f_gate, listing.g_gate)
    assert (lifted.f_alpha, lifted.g_alpha) == (listing.f_alpha, listing.g_alpha)
    assert cell.needs_equal_widths is False
    survives(cell, "cellwright")


@given(fenas_listings, seeds)
def test_fenas(listing: FenasListing, seed: int) -> None:
    cell = fenas.lower(listing)
    survives(cell, "fenas")
    other = shuffled(cell, random.Random(seed))
    assert fenas.lower(fenas.lift(other)) == cell
    short = fenas.lift(other, shortest=True)
    assert fenas.lower(short) == cell
    assert len(short.nodes) <= len(listing.nodes)


@given(recipes, seeds)
def test_nas_bench_nlp(recipe: dict[str, Any], seed: int) -> None:
    cell = nas_bench_nlp.lower(recipe)
    assert nas_bench_nlp.lift(cell) == recipe
    survives(cell, "nas-bench-nlp")
    survives(shuffled(cell, random.Random(seed)), "nas-bench-nlp")


@given(st.one_of(cells, family_cells), st.sampled_from(sorted(FORMATS)))
def test_a_cell_is_written_right_or_an_error_names_a_node(cell: Cell, format: str) -> None:
    message = ""
    try:
        text = formats.write(cell, format)
    except CellError as error:
        message = str(error)
    if message:
        empty = "needs at least one node" in message  # there is none to name
        assert empty or any(repr(node.name) in message for node in cell.nodes), message
    else:
        assert formats.read(text, format) == [cell]


def test_examples_are_read_and_recognised() -> None:
    for name, format in FORMATS.items():
        assert formats.recognize(format.example) == name
        assert len(formats.read(format.example)) == 1
        assert "\n" not in format.description


@pytest.mark.parametrize(
    "text",
    [
        "Genotype(recurrent=[('relu',0),('tanh',1)],concat=range(1,3))",
        ' g = Genotype( recurrent = ( ["relu", 0], ("tanh", 1), ), concat = [1, 2] )  # c\n',
        "genotypes.Genotype([('relu', 0), ('tanh', 1)], (2, 1), edges='highway')",
        "Genotype(concat=range(1, 3, 1), recurrent=[[('relu', 0)], [('tanh', 1)]])",
    ],
)
def test_genotypes_are_read_in_any_spelling(text: str) -> None:
    (cell,) = formats.read(text)
    assert cell == darts.lower(DartsListing.of([("relu", 0), ("tanh", 1)]))


def test_a_genotype_brings_its_name_and_there_may_be_several() -> None:
    line = "{} = Genotype(recurrent=[('relu', 0)], concat=range(1, 2))\n"
    assert [c.name for c in formats.read(line.format("A") + line.format("B_2"))] == ["A", "B_2"]


@pytest.mark.parametrize(
    "text", ["0 0 1 1 2", "[0, 0, 1, 1, 2]", "0,0,1\t1;2", "[0 (0 1)\n (1 2)]"]
)
def test_sequences_are_read_in_any_spelling(text: str) -> None:
    (cell,) = formats.read(text)
    assert cell == enas.lower(EnasListing("tanh", ((0, "relu"), (1, "identity"))))


def test_lines_are_several_sequences() -> None:
    assert len(formats.read("0 0 1\n\n1 0 1 0 2\n")) == 2
    assert len(formats.read("[0 0 1][1 0 1]")) == 2


def test_training_logs_and_lists() -> None:
    recipe = nas_bench_nlp.lift(zoo["nbnlp-gru"])
    log = {"recepie_id": 7, "status": "loss is nan!", "train_losses": [1.0, float("nan")]}
    as_text = {**log, "recepie": json.dumps(recipe)}
    as_object = {**log, "recepie": recipe}
    found = formats.read(json.dumps([as_text, as_object, recipe]))
    assert found == [zoo["nbnlp-gru"]] * 3
    assert found[0].notes["recepie_id"] == 7
    assert found[0].notes["status"] == "loss is nan!"
    assert formats.read(json.dumps(as_text)) == [zoo["nbnlp-gru"]]


def test_a_list_of_cells() -> None:
    text = f"[{zoo['lstm'].to_json()}, {zoo['gru'].to_json()}]"
    assert formats.read(text) == [zoo["lstm"], zoo["gru"]]


def test_strange_recipe_names_come_back() -> None:
    recipe = {
        "h0": {"op": "linear", "input": ["x", "h_prev_0"]},
        "größe 1": {"op": "activation_tanh", "input": ["h0"]},
        "h_new_0": {"op": "elementwise_sum", "input": ["größe 1", "h0", "h0"]},
    }
    cell = nas_bench_nlp.lower(recipe)
    assert nas_bench_nlp.lift(cell) == recipe


ERRORS = {
    "Genotype(recurrent=[('relu', 1)], concat=[1])": "DARTS node 1",
    "Genotype(recurrent=[('relo', 0)], concat=[1])": "did you mean 'relu'",
    "Genotype(recurrent=[('relu', 0)], concat=[2])": "concat",
    "Genotype(recurrent=[('relu', 0)], concat=[])": "concat",
    "Genotype(recurrent=[('relu', 0)])": "concat",
    "Genotype(recurent=[('relu', 0)], concat=[1])": "did you mean 'recurrent'",
    "Genotype(recurrent=[('relu', 0)], concat=range(0, 999999999))": "too large",
    "Genotype(recurrent=[('relu', 0)], concat=range(1, 999999))": "concat",
    "Genotype(recurrent=[('relu', __import__('os'))], concat=[1])": "line 1, column 30",
    "Genotype(recurrent=[('relu', 0)], concat=[1]": "the end",
    "Genotype(" + "[" * 10_000: "nested",
    "0 0": "odd",
    "0 0 7": "no operation 7",
    "0 1 0": "ENAS node 1",
    "0 0 99999999999999": "99999999999999",
    "[0 0 1": "bracket",
    "1 = sigmod(x, h)": "did you mean 'sigmoid'",
    "1 = sigmoid(x, y)": "line 1",
    "2 = sigmoid(x, h)": "this is node 1",
    "1 = tanh(zero, zero)": "both",
    "1 = tanh(c)": "reads c",
    "1 = tanh(1)": "FENAS node 1",
    "1 = tanh(x)\n2 = tanh(x, h, 1)": "line 2",
    "1 = tanh(x)\nc = 2": r"c\(t\)",
    '{"h_new_0": {"op": "linear", "input": ["x", "h_prev_1"]}}': "h_new_1",
    '{"h_new_1": {"op": "linear", "input": ["x", "h_prev_1"]}}': "h_new_0",
    '{"h_new_0": {"op": "activation_tahn", "input": ["x"]}}': "did you mean 'activation_tanh'",
    '{"h_new_0": {"op": "linear", "inputs": ["x"]}}': "input",
    '{"h_new_0": {"op": "linear", "input": ["x", "node_0"]}}': "node_0",
    '{"a": {"op": "activation_tanh", "input": ["h_new_0"]}, '
    '"h_new_0": {"op": "activation_tanh", "input": ["a"]}}': "cycle",
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_say_what_is_wrong(text: str) -> None:
    with pytest.raises(CellError, match=ERRORS[text]):
        formats.read(text)


def test_a_text_in_no_format_is_answered_with_examples() -> None:
    for text in ("", "hello", "{}", "[]", "\x00\x01"):
        with pytest.raises(CellError) as caught:
            formats.read(text)
        for name in FORMATS:
            assert f"{name}: " in str(caught.value)


def test_an_unknown_format_is_answered_with_the_nearest() -> None:
    with pytest.raises(CellError, match="did you mean 'darts'"):
        formats.read("0", "dart")
    with pytest.raises(CellError, match="did you mean 'cellwright'"):
        formats.write(zoo["rnn"], "cellwrite")


MISFITS = [
    ("lstm", "enas", "'i_x'"),
    ("lstm", "darts", "'c'"),
    ("gru", "fenas", "'r_x'"),
    ("darts-v1", "nas-bench-nlp", "'c_0'"),
    ("fenas-gru", "nas-bench-nlp", "identity"),
    ("darts-v1", "enas", "'mean'"),
]


@pytest.mark.parametrize(("name", "format", "says"), MISFITS)
def test_what_does_not_fit_is_named(name: str, format: str, says: str) -> None:
    with pytest.raises(CellError, match=says):
        formats.write(zoo[name], format)


def test_shared_weights_do_not_fit_where_the_space_has_none() -> None:
    cell = enas.lower(EnasListing("tanh", ((0, "relu"), (0, "relu"))))
    tied = [
        Node(n.name, n.op, n.inputs, n.bias, ("w",) if n.name in ("c_1", "c_2") else None)
        if n.op == "linear"
        else n
        for n in cell.nodes
    ]
    with pytest.raises(CellError, match="'c_1'"):
        formats.write(Cell(tied, cell.states), "enas")
