"""The analyses find what was put into the table, and become files."""

from __future__ import annotations

import csv
import xml.etree.ElementTree
from dataclasses import replace

import numpy as np
import pytest
from bench_tables import NAN, run, table

from cellwright.base.errors import FileError
from cellwright.bench import Architecture, BenchError, Benchmark, analysis, assemble
from cellwright.bench.analysis.distances import edit_distance, graph_of
from cellwright.bench.statistics import intervals
from cellwright.bench.synthetic import synthetic
from cellwright.cell import Cell, Node
from cellwright.cell.zoo import zoo
from cellwright.report.analysis.files import write

pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def made():
    return synthetic(30, epochs=10, seed=4)


def simple(op: str) -> Cell:
    return Cell([Node("s", "linear", ("x", "h0")), Node("h", op, ("s",))], ["h"])


# -- measures ------------------------------------------------------------------------------


def test_measures_by_hand():
    found = analysis.measures(
        table(
            nbnlp_rnn=[run([3.0, 2.0], [10, 10], parameters=100)],
            nbnlp_lstm=[run([2.0, 1.0], [20, 20], parameters=200)],
            gru=[run([4.0, NAN], [1, 1], "diverged", parameters=300)],
        )
    )
    assert found.numbers["architectures"] == 2
    assert (found.numbers["rank of LSTM"], found.numbers["rank of RNN"]) == (1, 2)
    assert found.numbers["spearman of parameters, perplexity"] == pytest.approx(-1)
    row = dict(zip(found.heading, found.rows[0], strict=True))
    assert (row["name"], row["seconds"], row["parameters"]) == ("nbnlp_rnn", 20, 100)
    assert row["test_value"] == pytest.approx(np.exp(1.9))
    with pytest.raises(BenchError, match="no run that ended well"):
        analysis.measures(table(gru=[]))


# -- ranks ---------------------------------------------------------------------------------


def test_ranks_by_hand():
    found = analysis.ranks(
        table(
            rnn=[run([1.0, 3.0])],
            lstm=[run([2.0, 2.0]), run([9.0, NAN], None, "diverged", seed=1)],
            gru=[run([3.0, 1.0]), run([2.5], None, "stopped", seed=1)],
        )
    )
    assert found.numbers["runs"] == 3
    assert found.rows == ((1, pytest.approx(-1), pytest.approx(-1)),
                          (2, pytest.approx(1), pytest.approx(1)))  # fmt: skip


def test_the_papers_epochs_are_scaled(made):
    assert set(analysis.ranks(made).numbers) == {
        "runs", *(f"spearman at epoch {epoch}" for epoch in (1, 2, 5, 10)),
    }  # fmt: skip
    with pytest.raises(BenchError, match="1 to 10, not 11"):
        analysis.ranks(made, [11])
    with pytest.raises(BenchError, match="fewer than three complete runs"):
        analysis.ranks(table(gru=[run([1.0])]))


# -- transfer ------------------------------------------------------------------------------


def test_transfer_by_hand():
    one = table(
        rnn=[run([1.0])], lstm=[run([2.0])], gru=[run([3.0])], enas=[run([NAN], None, "diverged")]
    )
    other = assemble(
        [
            Architecture("a", zoo["rnn"], [run([10.0])]),
            Architecture("b", zoo["lstm"], [run([30.0])]),
            Architecture("b again", zoo["lstm"], [run([50.0])]),
            Architecture("c", zoo["gru"], [run([20.0])]),
            Architecture("d", zoo["enas"], [run([20.0])]),
        ],
        title="other",
        corpus="elsewhere",
    )
    found = analysis.transfer(one, other)
    assert found.numbers["shared graphs"] == 3
    assert found.numbers["spearman"] == pytest.approx(0.5)
    assert [row[3:] for row in found.rows] == [
        (pytest.approx(0.9), pytest.approx(9.9)),
        (pytest.approx(1.9), pytest.approx(39.9)),  # the mean of the two listings
        (pytest.approx(2.9), pytest.approx(19.9)),
    ]
    assert "elsewhere" in found.title
    again = replace(other, title="in another way")
    assert found.labels[1].endswith("elsewhere")
    assert "on other and in another way" in analysis.transfer(other, again).title
    assert "(first)" in analysis.transfer(other, other).title
    with pytest.raises(BenchError, match="share 0 graphs"):
        analysis.transfer(one, table(enas=[run([1.0])]))


def test_intervals_of_correlations():
    made = synthetic(40, epochs=2, seed=1)
    numbers = analysis.transfer(made, replace(made, corpus="other")).numbers
    for kind in ("pearson", "spearman", "kendall"):
        ends = numbers[f"{kind}, lower end"], numbers[f"{kind}, upper end"]
        assert (*ends, numbers[kind]) == pytest.approx((1, 1, 1))
    rng = np.random.default_rng(0)
    a, noise = rng.normal(size=(2, 200))
    for share in (0.0, 0.8):
        b = share * a + np.sqrt(1 - share**2) * noise
        low, high = intervals(a, b, samples=400)["pearson"]
        middle, half = np.arctanh(np.corrcoef(a, b)[0, 1]), 1.96 / np.sqrt(197)  # Fisher's
        assert (low, high) == pytest.approx(np.tanh([middle - half, middle + half]), abs=0.04)


# -- scores --------------------------------------------------------------------------------


def scored() -> Benchmark:
    return table(
        rnn=[run([2.0, 1.0], scores={"wordsim353": 0.1})],
        lstm=[run([3.0], scores={"wordsim353": 0.3}), run([2.5], seed=1)],
        gru=[run([4.0], scores={"wordsim353": 0.2})],
        enas=[run([NAN], None, "diverged", scores={"wordsim353": 0.9})],
    )


def test_scores_by_hand():
    found = analysis.scores(scored(), {"wordsim353": 0.15})
    assert [row[:3] for row in found.rows] == [
        ("rnn", 0, pytest.approx(0.9)),  # the test loss of the epoch that validated best
        ("lstm", 0, pytest.approx(2.9)),
        ("gru", 0, pytest.approx(3.9)),
    ]
    assert found.values == pytest.approx(np.exp([0.9, 2.9, 3.9]))
    assert found.numbers["mean wordsim353"] == pytest.approx(0.2)
    assert found.numbers["spearman of wordsim353, perplexity"] == pytest.approx(0.5)
    assert found.numbers["wordsim353 of SGNS"] == 0.15
    assert found.numbers["runs above SGNS in wordsim353"] == 2
    with pytest.raises(BenchError, match="bench build --similarity"):
        analysis.scores(table(rnn=[run([1.0])]))


# -- distances -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        (simple("tanh"), simple("tanh"), 0),
        (simple("tanh"), simple("sigmoid"), 1),  # one operation differs
        (
            simple("tanh"),  # two nodes and an edge less than this one
            Cell(
                [Node("s", "linear", ("x", "h0")), Node("t", "tanh", ("s",)),
                 Node("h", "sigmoid", ("t",))],
                ["h"],
            ),
            2,
        ),
        (
            Cell([Node("s", "linear", ("x", "h0")), Node("t", "tanh", ("s",)),
                  Node("h", "blend", ("s", "t", "h0"))], ["h"]),
            Cell([Node("s", "linear", ("x", "h0")), Node("t", "tanh", ("s",)),
                  Node("h", "blend", ("s", "h0", "t"))], ["h"]),
            2,  # two edges into the blend change places
        ),
    ],
)  # fmt: skip
def test_edit_distances_by_hand(one, other, distance):
    pytest.importorskip("networkx")
    assert edit_distance(graph_of(one), graph_of(other), 30) == (distance, True)


def test_no_time_gives_a_bound_all_the_same():
    pytest.importorskip("networkx")
    lstm, enas = graph_of(zoo["lstm"]), graph_of(zoo["sentpair-1"])
    bound, proven = edit_distance(lstm, enas, 1e-9)
    assert not proven
    size = sum(len(graph) + graph.number_of_edges() for graph in (lstm, enas))
    assert 0 < bound < size  # better than to remove all of one and add all of the other


def test_distances_of_random_pairs(made):
    pytest.importorskip("networkx")
    seen = []
    found = analysis.distances(
        made, pairs=5, seconds=0.02, seed=1, watch=lambda done, all_: seen.append((done, all_))
    )
    assert seen == [(number, 5) for number in range(1, 6)]
    pairs = [row[:2] for row in found.rows]
    assert len(set(pairs)) == 5
    assert all(one != other for one, other in pairs)
    again = analysis.distances(made, pairs=5, seconds=0.02, seed=1)
    assert [row[:2] for row in again.rows] == pairs
    few = table(gru=[], rnn=[], nbnlp_gru=[])
    assert analysis.distances(few, pairs=1000, seconds=0.02).numbers["pairs"] == 3
    with pytest.raises(BenchError, match="fewer than two"):
        analysis.distances(table(gru=[]))
    with pytest.raises(BenchError, match="at least one pair"):
        analysis.distances(few, pairs=0)


# -- prediction ----------------------------------------------------------------------------


def test_prediction_finds_what_the_features_say():
    pytest.importorskip("xgboost")
    cells = synthetic(80, epochs=1, seed=9)
    rng = np.random.default_rng(0)
    features = rng.uniform(0, 1, (80, 2))
    rows = [
        Architecture(
            cells.names[number],
            cells.cell(number),
            [run([5 + 2 * a] * 2) if b < 0.7 else run([9.0, NAN], None, "diverged")],
        )
        for number, (a, b) in enumerate(features)
    ]
    found = analysis.prediction(assemble(rows, title="told"), features, splits=3)
    assert found.numbers["flawed"] == (features[:, 1] >= 0.7).sum()
    assert found.numbers["ROC AUC"] > 0.95
    assert found.numbers["R2"] > 0.9
    fine = (features[:, 1] < 0.7).sum()
    assert abs(len(found.rows) - fine / 2) <= 1  # the half that was not learned from
    nothing = analysis.prediction(assemble(rows, title="told"), rng.uniform(0, 1, (80, 2)))
    assert nothing.numbers["R2"] < 0.5
    with pytest.raises(BenchError, match="need 80 rows"):
        analysis.prediction(assemble(rows, title="told"), features[:9])
    with pytest.raises(BenchError, match="needs at least 4"):
        analysis.prediction(assemble(rows, title="told"), np.full((80, 2), NAN))


def test_listings_of_a_graph_are_never_in_both_halves():
    pytest.importorskip("xgboost")
    from cellwright.bench.analysis.prediction import _halves

    groups = np.array([0, 0, 1, 2, 2, 3, 3, 3])
    for seed in range(20):
        learned, tested = _halves(groups, np.ones(8, bool), np.random.default_rng(seed))
        assert sorted([*learned, *tested]) == list(range(8))
        assert not set(groups[learned]) & set(groups[tested])


# -- files ---------------------------------------------------------------------------------


def test_a_finding_is_a_table_and_two_pictures(made, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("xgboost")
    pytest.importorskip("networkx")
    features = np.random.default_rng(0).uniform(0, 1, (30, 3))
    findings = [
        analysis.measures(made),
        analysis.ranks(made),
        analysis.transfer(made, replace(made, corpus="other")),
        analysis.scores(scored(), {"wordsim353": 0.15}),
        analysis.distances(made, pairs=3, seconds=0.01),
        analysis.prediction(made, features, splits=2),
        analysis.surrogates(made, features, prefixes=[0, 3], folds=2),
    ]
    for finding in findings:
        files = write(finding, tmp_path / "out" / "deep")
        assert [path.suffix for path in files] == [".csv", ".md", ".tex", ".svg", ".png"]
        with open(files[0], newline="") as file:
            heading, *rows = csv.reader(file)
        assert tuple(heading) == finding.heading
        assert len(rows) == len(finding.rows) > 0
        root = xml.etree.ElementTree.parse(files[3]).getroot()
        assert root.tag.endswith("svg")
        assert files[4].read_bytes().startswith(b"\x89PNG")
    before = files[3].read_bytes()
    assert write(findings[-1], tmp_path / "out" / "deep")[3].read_bytes() == before
    assert len(write(findings[0], tmp_path / "csv", ())) == 3


def test_a_folder_that_cannot_be_made(made, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="file"):
        write(analysis.ranks(made), tmp_path / "file" / "folder", ())


def test_a_missing_package_is_named(made, tmp_path, monkeypatch):
    import sys

    from cellwright.base.errors import UserError

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"matplotlib; pip install 'cellwright\[plots\]'"):
        write(analysis.ranks(made), tmp_path)
