"""Features from CSV files, figures of runs, and what is written for other programs."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from bench_tables import INF, NAN, run, same, table

from cellwright.bench import BenchError, attach_features, export, import_logs
from cellwright.bench.summary import of_architectures, of_runs
from cellwright.bench.synthetic import synthetic
from cellwright.cell import formats


@pytest.fixture
def toy():
    return table(
        lstm=[
            run([6.0, 5.0, 5.5], [10, 20, 30], label="7", parameters=100),
            run([6.0, 5.2, NAN], [1, 2, 3], "diverged", seed=1, label="8"),
            run([6.0, 5.4, 5.3], [10, 10, 10], seed=2, label="9"),
        ],
        gru=[run([INF], [5], "diverged", label="10")],
        rnn=[],
    )


def test_figures_of_runs(toy):
    found = of_runs(toy)
    assert found.best_epoch.tolist() == [2, 2, 3, 0]
    assert np.array_equal(found.valid, [5.0, 5.2, 5.3, NAN], equal_nan=True)
    assert found.test[:3] == pytest.approx([4.9, 5.1, 5.2])
    assert found.final_test[:1] == pytest.approx([5.4])
    assert found.seconds.tolist() == [60, 6, 30, 5]
    assert np.isnan(found.lowest_test[3])


def test_figures_of_architectures_are_means_over_good_runs(toy):
    found = of_architectures(toy)
    assert found.valid[0] == pytest.approx(5.15)
    assert found.test[0] == pytest.approx(5.05)
    assert found.seconds[0] == 45
    assert found.spread[0] == pytest.approx(np.std([5.0, 5.3], ddof=1))
    assert np.isnan(found.valid[1:]).all()
    assert (found.runs.tolist(), found.ok.tolist()) == ([3, 1, 0], [2, 0, 0])
    assert found.parameters.tolist() == [100, 0, 0]


# -- features ------------------------------------------------------------------------------


def test_features_are_found_by_the_label_of_any_run_or_by_name(toy, tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("recepie_id,a,b\n8,1,2\n9,7,7\ngru,3,4.5\n\n99,0,0\n")
    found, covered = attach_features(toy, path)
    assert covered == 2
    expected = [[1, 2], [3, 4.5], [NAN, NAN]]
    assert np.array_equal(found.features["f"], expected, equal_nan=True)
    assert toy.features == {}
    assert list(attach_features(toy, path, "other")[0].features) == ["other"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "must name a label and at least one feature"),
        ("id\n1\n", "must name a label"),
        ("id,a\n", "no rows below the heading"),
        ("id,a\n7,1,2\n", "line 2 has 3 columns, the heading 2"),
        ("id,a\n7,one\n", "line 2 has a feature that is not a number"),
        ("id,a\n7,nan\n", "line 2 has a feature that is not finite"),
        ("id,a\n7,1\n7,2\n", "line 3: the label '7' is there twice"),
        ("id,a\n77,1\n", "none of its 1 rows is of an architecture .*such as '77'"),
    ],
)
def test_bad_features(toy, tmp_path, text, problem):
    path = tmp_path / "f.csv"
    path.write_text(text)
    with pytest.raises(BenchError, match=problem):
        attach_features(toy, path)


def test_features_that_are_no_text(toy, tmp_path):
    (tmp_path / "f.csv").write_bytes(b"id,a\n7,\xff\xfe\n")
    with pytest.raises(BenchError, match="not a CSV file"):
        attach_features(toy, tmp_path / "f.csv")
    with pytest.raises(BenchError, match="no such file"):
        attach_features(toy, tmp_path / "missing.csv")


# -- export --------------------------------------------------------------------------------


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_tables(toy):
    architectures = rows(export.architectures_csv(toy))
    assert [row["name"] for row in architectures] == ["lstm", "gru", "rnn"]
    assert float(architectures[0]["valid"]) == of_architectures(toy).valid[0]
    runs = rows(export.runs_csv(toy))
    assert [row["status"] for row in runs] == ["ok", "diverged", "ok", "diverged"]
    assert [row["epochs"] for row in runs] == ["3", "3", "3", "1"]
    curves = rows(export.curves_csv(toy))
    assert len(curves) == 10
    assert curves[1] == {
        "architecture": "lstm", "seed": "0", "epoch": "2", "train": "5.2", "valid": "5.0",
        "test": "4.9", "seconds": "20.0",
    }  # fmt: skip
    assert curves[-1]["valid"] == "inf"


def test_cells_can_be_read_as_cells(toy):
    found = formats.read(export.cells_json(toy))
    assert [cell.id for cell in found] == list(toy.graphs)


@pytest.mark.parametrize("made", ["toy", "synthetic"])
def test_logs_can_be_imported_again(toy, tmp_path, made):
    one = toy if made == "toy" else synthetic(12, epochs=4, runs=2, seed=3)
    (tmp_path / "logs.zip").write_bytes(export.logs_zip(one))
    other = import_logs([tmp_path / "logs.zip"], title=one.title, corpus="").benchmark
    if made == "toy":  # an architecture without runs has no log
        assert other.names == ("lstm", "gru")
        assert np.array_equal(other.valid, one.valid, equal_nan=True)
        return
    assert other.names == one.names
    assert other.graphs == one.graphs
    for name in ("valid", "test", "train", "seconds", "seed", "status", "parameters"):
        assert np.array_equal(getattr(other, name), getattr(one, name), equal_nan=True)


def test_synthetic_tables_depend_on_their_seed_alone():
    one, other, third = (synthetic(8, epochs=3, seed=seed) for seed in (1, 1, 2))
    assert same(one, other)
    assert not same(one, third)
    assert (len(one), one.run_count, one.names[:3]) == (
        8, 8, ("nbnlp-rnn", "nbnlp-lstm", "nbnlp-gru"),
    )  # fmt: skip
    with pytest.raises(BenchError, match="at least 1 architecture"):
        synthetic(0)
