"""The named cells are what their papers, and PyTorch, say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oracle import same_graph

from cellwright.cell import Cell, CellError
from cellwright.cell.listings import DartsListing, darts, enas, fenas, nas_bench_nlp
from cellwright.cell.listings import published as papers
from cellwright.cell.zoo import UnknownCellError, zoo


def test_what_is_there() -> None:
    names = ["rnn", "lstm", "gru", "nbnlp-rnn", "nbnlp-lstm", "nbnlp-gru", "fenas-lstm"]
    names += ["fenas-gru", "darts-v1", "darts-v2", "enas"]
    names += ["cifg-lstm", "peephole-lstm", "mogrifier-lstm", "slstm", "janet", "nas-cell"]
    names += ["rhn-2", "rhn-10", "mut1", "mut2", "mut3", "mgu", "ugrnn"]
    names += ["mingru", "minlstm", "sru"]
    assert list(zoo) == names + [f"sentpair-{i}" for i in range(1, 27)]
    assert len(zoo) == 53
    for name, cell in zoo.items():
        assert cell.name == name
        assert cell.notes["source"]
        assert 10 < len(cell.notes["description"]) < 70
        assert cell is zoo[name]
        assert not cell.is_supernet


def test_the_documents_name_every_cell() -> None:
    text = (Path(__file__).parents[2] / "docs" / "zoo.md").read_text()
    named = set(re.findall(r"`([a-z0-9-]+)`", text)) | {f"sentpair-{i}" for i in range(1, 27)}
    assert set(zoo) <= named


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownCellError) as caught:
        zoo["sentpair-27"]
    assert isinstance(caught.value, CellError)
    assert isinstance(caught.value, KeyError)
    assert str(caught.value).startswith("there is no cell 'sentpair-27'; did you mean 'sentpair-")
    assert "nothing like it" not in zoo
    assert zoo.get("nothing like it") is None


@pytest.mark.parametrize(
    ("name", "gates", "states"), [("rnn", 1, 1), ("gru", 3, 1), ("lstm", 4, 2)]
)
def test_pytorchs_cells_have_pytorchs_parameters(name: str, gates: int, states: int) -> None:
    cell = zoo[name]
    x, h = 7, 11
    assert cell.parameters(x, h) == gates * (h * x + h * h + 2 * h)
    assert cell.multiply_adds(x, h) == gates * (h * x + h * h)
    assert len(cell.states) == states
    assert cell.output == cell.states[0] == "h"


def test_pytorchs_weights_have_stable_names() -> None:
    def linears(cell: Cell) -> list[str]:
        return [node.name for node in cell.nodes if node.op == "linear"]

    assert linears(zoo["rnn"]) == ["s_x", "s_h"]
    assert linears(zoo["lstm"]) == [f"{g}_{i}" for g in "ifgo" for i in "xh"]
    assert linears(zoo["gru"]) == [f"{g}_{i}" for g in "rzn" for i in "xh"]


def test_enas_averages_its_loose_ends() -> None:
    assert papers.ENAS.loose_ends == (2, 5, 6, 9, 10, 11)
    assert zoo["enas"].node("mean").inputs == ("s_2", "s_5", "s_6", "s_9", "s_10", "s_11")
    edges = [(op, predecessor) for predecessor, op in papers.ENAS.later]
    assert darts.lower(DartsListing.of(edges, (2, 5, 6, 9, 10, 11))) == zoo["enas"]


def test_darts_nodes_and_means() -> None:
    assert [edges[0] for edges in darts.lift(zoo["darts-v1"]).nodes] == [
        ("relu", 0), ("relu", 1), ("tanh", 2), ("relu", 3),
        ("relu", 4), ("identity", 1), ("relu", 5), ("relu", 1),
    ]  # fmt: skip
    assert [edges[0] for edges in darts.lift(zoo["darts-v2"]).nodes] == [
        ("sigmoid", 0), ("relu", 1), ("relu", 1), ("identity", 1),
        ("tanh", 2), ("sigmoid", 5), ("tanh", 3), ("relu", 5),
    ]  # fmt: skip
    for name in ("darts-v1", "darts-v2"):
        cell = zoo[name]
        assert darts.lift(cell).concat == tuple(range(1, 9))
        assert cell.parameters(5, 3) == 2 * 3 * (5 + 3) + 8 * 2 * 3 * 3  # no biases
        assert cell.depth > 8


def test_fenas_needs_as_many_nodes_as_it_says() -> None:
    assert len(papers.FENAS_LSTM.nodes) == 9
    assert len(papers.FENAS_GRU.nodes) == 10
    assert papers.FENAS_LSTM.loose_ends == (9,)
    assert papers.FENAS_GRU.loose_ends == (10,)
    assert fenas.lift(zoo["fenas-lstm"]) == papers.FENAS_LSTM
    assert fenas.lift(zoo["fenas-gru"]) == papers.FENAS_GRU
    assert len(zoo["fenas-lstm"].states) == 2


def test_sentence_pair_cells() -> None:
    assert len(papers.SENTENCE_PAIRS) == 26
    assert all(len(listing.later) == 5 for listing in papers.SENTENCE_PAIRS)
    assert enas.lift(zoo["sentpair-13"]) == enas.EnasListing(
        "identity",
        ((0, "identity"), (1, "identity"), (0, "sigmoid"), (3, "identity"), (0, "sigmoid")),
    )


def test_three_sentence_pair_cells_are_one_graph() -> None:
    """Rows 8, 10 and 11 of Table 6 list the same five nodes over node 0 in other orders."""
    assert zoo["sentpair-8"] == zoo["sentpair-10"] == zoo["sentpair-11"]
    assert same_graph(zoo["sentpair-8"], zoo["sentpair-11"])
    assert len({zoo[f"sentpair-{i}"].id for i in range(1, 27)}) == 24


def test_nas_bench_nlps_lstm_differs_from_pytorchs() -> None:
    recipe = nas_bench_nlp.lift(zoo["nbnlp-lstm"])
    assert recipe["o_act"]["op"] == "activation_tanh"
    assert recipe["i_act"]["op"] == "activation_tanh"
    assert zoo["nbnlp-lstm"].parameters(7, 11) == 4 * (11 * 7 + 11 * 11 + 11)
