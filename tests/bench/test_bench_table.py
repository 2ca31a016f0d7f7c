"""The table in memory and in its file."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import random
import zlib

import numpy as np
import pytest
from bench_tables import INF, NAN, run, same, table
from hypothesis import given, settings
from hypothesis import strategies as st

import cells
from cellwright.bench import (
    Architecture,
    BenchError,
    Benchmark,
    Run,
    UnknownArchitectureError,
    assemble,
    load,
    save,
)
from cellwright.bench.columns import Texts
from cellwright.cell import Cell, Node
from cellwright.cell.zoo import zoo
from cellwright.tasks.language.metric import PERPLEXITY


@pytest.fixture
def toy() -> Benchmark:
    found = table(
        lstm=[
            run(
                [6.0, 5.0],
                [10, 20],
                parameters=10**9,
                label="17",
                settings={"nhid": 600},
                scores={"wordsim353": 0.25},
            ),
            run([6.1, NAN], [1, 2], "diverged", seed=5, message="loss is nan!"),
        ],
        gru=[run([], [], "failed", message="Exception: ü ☃", settings={"nhid": 600})],
        rnn=[],
    )
    return found.with_features("tiny", np.array([[1.0, 2.0], [NAN, NAN], [-INF, 0.5]]))


def same_run(one: Run, other: Run) -> bool:
    plain = ("status", "message", "seed", "parameters", "settings", "label", "scores")
    return all(getattr(one, name) == getattr(other, name) for name in plain) and all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
        for name in ("train", "valid", "test", "seconds")
    )


def test_rows_come_back(toy):
    lstm = toy.architecture(0)
    assert (lstm.name, lstm.cell) == ("lstm", zoo["lstm"])
    expected = [
        run(
            [6.0, 5.0],
            [10, 20],
            parameters=10**9,
            label="17",
            settings={"nhid": 600},
            scores={"wordsim353": 0.25},
        ),
        run([6.1, NAN], [1, 2], "diverged", seed=5, message="loss is nan!"),
    ]
    assert all(map(same_run, lstm.runs, expected))
    assert len(toy.architecture(2).runs) == 0
    assert (len(toy), toy.run_count, toy.most_epochs) == (3, 3, 2)


def test_curves_as_a_matrix(toy):
    matrix = toy.curves("valid")
    expected = [[6.0, 5.0], [6.1, NAN], [NAN, NAN]]
    assert np.array_equal(matrix, expected, equal_nan=True)
    with pytest.raises(BenchError, match="unknown curve 'loss'"):
        toy.curves("loss")


def test_a_file_is_the_table_again(toy, tmp_path):
    path = save(toy, tmp_path / "toy.bench")
    assert same(load(path), toy)


def test_the_same_table_is_the_same_file(toy, tmp_path):
    paths = [save(toy, tmp_path / name) for name in ("a.bench", "b.bench")]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_an_empty_table(tmp_path):
    empty = assemble([], title="nothing")
    assert same(load(save(empty, tmp_path / "empty.bench")), empty)


any_float = st.floats(allow_nan=True, allow_infinity=True, width=64)
any_run = st.builds(
    lambda curves, seconds, status, message, parameters, label, settings: Run(
        *(np.array(curve, np.float64) for curve in zip(*curves, strict=True))
        if curves
        else [np.empty(0)] * 3,
        np.array(seconds[: len(curves)], np.float64),
        status,
        message,
        0,
        parameters,
        settings,
        label,
    ),
    st.lists(st.tuples(any_float, any_float, any_float), max_size=5),
    st.lists(st.floats(0, 1e9), min_size=5, max_size=5),
    st.sampled_from(["ok", "diverged", "stopped", "failed"]),
    st.text(max_size=10).filter(lambda text: text.encode("utf-8", "replace").decode() == text),
    st.integers(0, 2**62),
    st.text("ab1☃", max_size=5),
    st.dictionaries(st.text("abc", max_size=3), st.integers() | st.booleans(), max_size=2),
)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**9), runs=st.lists(st.lists(any_run, max_size=1), max_size=4))
def test_any_cells_and_runs_survive_the_file(tmp_path_factory, seed, runs):
    rng = random.Random(seed)
    rows = [
        Architecture(f"cell {number}", cells.cell(rng), found) for number, found in enumerate(runs)
    ]
    one = assemble(rows, title="any")
    path = save(one, tmp_path_factory.mktemp("any") / "any.bench")
    other = load(path)
    assert same(one, other)
    assert [other.cell(n).id for n in range(len(other))] == list(other.graphs)


def test_a_lone_surrogate_does_not_break_the_file(tmp_path):
    odd = table(gru=[run([1.0], message="a \ud800 b")])
    assert load(save(odd, tmp_path / "odd.bench")).run(0).message == "a \\ud800 b"


# -- finding -------------------------------------------------------------------------------


def test_find(toy):
    for key in (0, "lstm", zoo["lstm"].id, "17", zoo["lstm"], zoo["lstm"].renamed("x")):
        assert toy.find(key) == 0
    with pytest.raises(UnknownArchitectureError, match=r"'ltsm'; did you mean 'lstm'\?"):
        toy.find("ltsm")
    with pytest.raises(UnknownArchitectureError, match="no cell 'darts-v1'"):
        toy.find(zoo["darts-v1"])
    with pytest.raises(UnknownArchitectureError, match="number 3; it has 3"):
        toy.find(3)
    assert zoo["lstm"] in toy
    assert "lstm" in toy
    assert zoo["darts-v1"] not in toy
    assert 7 not in toy


def test_listings_of_one_graph_stay_apart_and_the_name_tells_them(tmp_path):
    listings = [
        Cell([Node("a", "linear", ("x", "h0")), Node("b", "tanh", ("a",))], ["b"]),
        Cell([Node("s", "linear", ("h0", "x")), Node("h", "tanh", ("s",))], ["h"]),
    ]
    found = assemble(
        [Architecture(f"listing-{n}", cell, [run([5.0 + n])]) for n, cell in enumerate(listings)],
        title="two",
    )
    assert found.graphs[0] == found.graphs[1]
    assert found.by_graph == {found.graphs[0]: [0, 1]}
    assert [found.find(found.cell(number)) for number in (0, 1)] == [0, 1]
    assert found.find(listings[1]) == 0  # it has no name: the first listing of the graph
    assert [node.name for node in load(save(found, tmp_path / "f")).cell(1).nodes] == ["s", "h"]


def test_a_cell_is_parsed_once(toy):
    assert toy.cell(0) is toy.cell(0)


def test_a_benchmark_can_be_sent_to_another_process(toy):
    toy.cell(0)
    assert same(pickle.loads(pickle.dumps(toy)), toy)


def test_texts():
    column = Texts.of(["", "a", "größer", ""])
    assert (list(column), len(column), column[2]) == (["", "a", "größer", ""], 4, "größer")


# -- what must not be made -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "problem"), [(["a", "a"], "'a' is there twice"), ([""], "is empty")]
)
def test_names_must_differ(names, problem):
    rows = [Architecture(name, zoo["gru"]) for name in names]
    with pytest.raises(BenchError, match=problem):
        assemble(rows, title="bad")


def test_seeds_must_differ():
    with pytest.raises(BenchError, match="two runs with the same seed"):
        table(gru=[run([1.0]), run([2.0])])


@pytest.mark.parametrize(
    ("curves", "status", "problem"),
    [
        (([1, 2], [1], [1, 2], [1, 1]), "ok", "test of shape"),
        (([1, 2], [1, 2], [1, 2], [1, NAN]), "ok", "wall time"),
        (([1, 2], [1, 2], [1, 2], [1, -1]), "ok", "wall time"),
        (([1], [1], [1], [1]), "fine", "unknown status 'fine'"),
    ],
)
def test_a_run_is_checked(curves, status, problem):
    with pytest.raises(BenchError, match=problem):
        Run(*map(np.array, curves), status=status)


def test_settings_must_be_json():
    with pytest.raises(BenchError, match="settings must be JSON values"):
        table(gru=[run([1.0], settings={"odd": object()})])


def test_features_need_a_row_for_each_architecture(toy):
    with pytest.raises(BenchError, match="each of the 3 architectures"):
        toy.with_features("more", np.zeros((2, 4)))
    assert toy.featured() is toy.featured("tiny")
    with pytest.raises(BenchError, match="there is no 'big'; it has tiny"):
        toy.featured("big")
    with pytest.raises(BenchError, match="it has none"):
        table(gru=[]).featured()


# -- damaged files -------------------------------------------------------------------------


def test_every_cut_of_a_file_is_an_error_that_names_it(toy, tmp_path):
    whole = save(toy, tmp_path / "whole.bench").read_bytes()
    path = tmp_path / "cut.bench"
    for length in {0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1}:
        path.write_bytes(whole[:length])
        with pytest.raises(BenchError, match=r"cut\.bench"):
            load(path)


def test_every_changed_byte_is_noticed(toy, tmp_path):
    whole = save(toy, tmp_path / "whole.bench").read_bytes()
    path = tmp_path / "changed.bench"
    rng = random.Random(0)
    noticed = 0
    for place in [*range(0, 64), *rng.sample(range(len(whole)), 300)]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << rng.randrange(8))])
                         + whole[place + 1 :])  # fmt: skip
        with contextlib.suppress(BenchError):
            assert same(load(path), toy)  # a space in the header, or the like
            continue
        noticed += 1
    assert noticed > 300


def test_columns_that_do_not_fit_each_other_are_refused(toy, tmp_path):
    """A file with right checksums whose columns lie, as only a program could make it."""
    from dataclasses import replace

    lies = {
        "first_run": np.array([0, 2, 9, 3]),
        "first_epoch": np.array([0, 2, 4, 400]),
        "seed": np.array([1]),
        "status": np.array([0, 1, 77], np.uint8),
        "settings_of": np.array([0, 0, 5]),
        "train": np.zeros(3),
        "graphs": ("a", "b"),
        "names": ("a", "a", "a"),
    }
    for name, value in lies.items():
        path = save(replace(toy, **{name: value}), tmp_path / f"{name}.bench")
        with pytest.raises(BenchError, match=f"{name}.bench is damaged"):
            load(path)


def test_other_files_are_told_from_benchmarks(tmp_path):
    from safetensors.numpy import save_file

    (tmp_path / "text.bench").write_text("hello")
    (tmp_path / "folder").mkdir()
    save_file({"a": np.zeros(3)}, tmp_path / "weights.safetensors")
    header = {"cellwright-bench": '{"format": "cellwright-bench/3"}'}
    save_file({"a": np.zeros(3)}, tmp_path / "newer.bench", header)
    for name, problem in {
        "text.bench": "is not a benchmark file, or is cut off",
        "folder": "is a folder; 'cellwright bench import'",
        "missing.bench": "there is no file",
        "weights.safetensors": "is a safetensors file, but not a benchmark",
        "newer.bench": "is in the format 'cellwright-bench/3'; this cellwright reads",
    }.items():
        with pytest.raises(BenchError, match=problem):
            load(tmp_path / name)


def test_a_file_that_cannot_be_written_leaves_the_old_one(toy, tmp_path):
    path = save(toy, tmp_path / "toy.bench")
    before = path.read_bytes()
    broken = toy.with_features("odd", np.zeros((3, 1)))
    broken.settings[0]["odd"] = object()  # no JSON can say this
    with pytest.raises(TypeError):
        save(broken, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["toy.bench"]


def test_the_header_is_readable_without_this_package(toy, tmp_path):
    from safetensors import safe_open

    with safe_open(save(toy, tmp_path / "toy.bench"), "numpy") as file:
        header = json.loads(file.metadata()["cellwright-bench"])
        assert header["format"] == "cellwright-bench/2"
        assert header["table"]["corpus"] == "hand-made"
        assert file.get_tensor("valid").tolist()[:3] == [6.0, 5.0, 6.1]


def test_a_file_of_an_earlier_version_is_read(toy, tmp_path):
    """It knew no tasks: its losses are those of language models, and the header named them."""
    from safetensors import safe_open
    from safetensors.numpy import save_file

    path = save(toy, tmp_path / "toy.bench")
    with safe_open(path, "numpy") as file:
        header = json.loads(file.metadata()["cellwright-bench"])
        columns = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    before = {name: header["table"][name] for name in ("title", "corpus", "settings")}
    before["metric"] = "log perplexity"
    crc = zlib.crc32(json.dumps(before, sort_keys=True).encode())
    about = {
        "format": "cellwright-bench/1",
        "table": before,
        "checksums": {**header["checksums"], "": crc},
    }
    save_file(columns, path, {"cellwright-bench": json.dumps(about, sort_keys=True)})
    found = load(path)
    assert (found.kind, found.metric) == ("language", PERPLEXITY)
    assert same(found, toy)
    about["table"] = {**before, "title": "another"}
    save_file(columns, path, {"cellwright-bench": json.dumps(about, sort_keys=True)})
    with pytest.raises(BenchError, match="is damaged: its contents are not those"):
        load(path)
