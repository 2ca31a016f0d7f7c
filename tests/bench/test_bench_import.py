"""Logs become a table; whatever is wrong with one is told by name, and never a crash."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_tables import INF, NAN, OTHER, RECIPE, log
from hypothesis import given, settings
from hypothesis import strategies as st

import cells
from cellwright.bench import BenchError, documents, import_logs
from cellwright.bench.logs import read_log
from cellwright.cell import CellError
from cellwright.cell.listings import nas_bench_nlp
from cellwright.cell.zoo import zoo


def write(folder: Path, **logs: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for name, value in logs.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder


def zipped(path: Path, **members: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            archive.writestr(f"{name}.json", json.dumps(value))
    return path


# -- what was learned ----------------------------------------------------------------------


F1 = {"name": "F1", "form": "percent"}


def test_a_log_may_be_of_another_task(tmp_path: Path):
    own = {"cellwright_task": {"kind": "my:tagging", "metric": F1}}
    found = import_logs([write(tmp_path / "a", a=log(**own), b=log(OTHER, **own))]).benchmark
    assert (found.kind, found.metric.name) == ("my:tagging", "F1")
    assert found.metric.higher_is_better
    assert "cellwright_task" not in found.settings[0]
    plain = import_logs([write(tmp_path / "b", a=log())]).benchmark
    assert (plain.kind, plain.metric.name) == ("language", "perplexity")


def test_logs_of_several_tasks_are_refused(tmp_path: Path):
    own = {"cellwright_task": {"kind": "my:tagging", "metric": F1}}
    with pytest.raises(BenchError, match=r"several tasks: .*language \(perplexity\)"):
        import_logs([write(tmp_path / "a", a=log(**own), b=log(OTHER))])
    bad = write(tmp_path / "b", a=log(cellwright_task={"kind": "x"}))
    with pytest.raises(BenchError, match="must have a kind and a metric"):
        import_logs([bad])


# -- what a log says -----------------------------------------------------------------------


def test_a_log(tmp_path):
    found = import_logs([write(tmp_path / "logs", one=log(losses=[6.0, 5.5]))])
    benchmark = found.benchmark
    assert (len(benchmark), found.logs, found.skipped, found.remarks) == (1, 1, (), ())
    assert (benchmark.title, benchmark.corpus) == ("ptb", "ptb")
    assert benchmark.names == ("nbnlp-1000001",)
    assert benchmark.cell(0) == zoo["nbnlp-rnn"]
    [run] = benchmark.architecture(0).runs
    assert (run.status, run.message, run.seed, run.label) == ("ok", "OK", 0, "1000001")
    assert run.parameters == 12345
    assert run.valid.tolist() == [6.0, 5.5]
    assert run.seconds.tolist() == [10.0, 10.0]
    assert dict(run.settings) == {"data": "data/ptb", "nhid": 600, "tied": True, "epochs": 2}


def test_repeated_runs_of_a_listing_are_seeds_of_one_architecture(tmp_path):
    swapped = dict(reversed(RECIPE.items()))
    renamed = json.loads(json.dumps(RECIPE).replace('"f"', '"g"'))
    logs = write(
        tmp_path / "logs",
        a=log(losses=[6.0, 5.0]),
        b=log(swapped, losses=[6.1, 5.1], recepie_id=1004001),
        c=log(renamed, losses=[6.2, 5.2], recepie_id=2),
        d=log(OTHER, losses=[6.3, 5.3], recepie_id=3),
    )
    benchmark = import_logs([logs]).benchmark
    assert benchmark.names == ("nbnlp-1000001", "nbnlp-2", "nbnlp-3")
    assert [len(benchmark.runs_of(number)) for number in range(3)] == [2, 1, 1]
    assert [run.seed for run in benchmark.architecture(0).runs] == [0, 1]
    assert [run.label for run in benchmark.architecture(0).runs] == ["1000001", "1004001"]
    assert benchmark.graphs[0] == benchmark.graphs[1] != benchmark.graphs[2]
    assert benchmark.find("1004001") == 0


def test_stated_seeds_are_kept_and_others_take_free_numbers(tmp_path):
    logs = write(
        tmp_path / "logs",
        a=log(losses=[6.0], experiment_id=1),
        b=log(losses=[6.1], experiment_id=2, seed=0),
        c=log(losses=[6.2], experiment_id=3, seed=7),
        d=log(losses=[6.3], experiment_id=4, seed=7),
    )
    runs = import_logs([logs]).benchmark.architecture(0).runs
    assert [(run.seed, run.valid[0]) for run in runs] == [(1, 6.0), (0, 6.1), (7, 6.2), (2, 6.3)]


def test_one_id_for_two_recipes_makes_two_names(tmp_path):
    logs = write(tmp_path / "logs", a=log(), b=log(OTHER))
    assert import_logs([logs]).benchmark.names == ("nbnlp-1000001", "nbnlp-1000001-2")


@pytest.mark.parametrize(
    ("change", "status", "epochs"),
    [
        ({}, "ok", 2),
        ({"losses": [6.0, NAN], "status": "loss is nan!"}, "diverged", 2),
        ({"losses": [6.0, INF]}, "diverged", 2),
        ({"losses": [NAN], "status": "loss is nan!", "epochs": 50}, "diverged", 1),
        ({"losses": [6.0, None]}, "diverged", 2),
        ({"losses": [], "status": "Exception: math range error", "epochs": 50}, "diverged", 0),
        ({"losses": [6.0], "status": "Exception: math range error"}, "diverged", 1),
        ({"losses": [], "status": "Exception: CUDA out of memory", "epochs": 50}, "failed", 0),
        ({"losses": [6.0], "status": "KeyboardInterrupt", "epochs": 50}, "stopped", 1),
        ({"losses": [6.0], "epochs": 50}, "stopped", 1),
        ({"losses": [], "epochs": 50}, "stopped", 0),
        ({"status": None}, "ok", 2),
    ],
)
def test_how_a_training_ended(change, status, epochs):
    run = read_log(log(**change)).run
    assert (run.status, run.epochs) == (status, epochs)


def test_up_to_five_states():
    recipe: dict[str, Any] = {}
    for number in range(5):
        recipe[f"l{number}"] = {"op": "linear", "input": ["x", f"h_prev_{number}"]}
        recipe[f"h_new_{number}"] = {"op": "activation_tanh", "input": [f"l{number}"]}
    assert len(read_log(log(recipe)).cell.states) == 5


def test_lists_of_different_lengths_keep_the_epochs_that_have_cost_and_validation():
    found = read_log(
        log(
            wall_times=[1.0, 2.0, 3.0, 4.0],
            val_losses=[6.0, 5.0, 4.0],
            train_losses=[6.0],
            test_losses=[],
            epochs=3,
        )
    )
    assert found.run.valid.tolist() == [6.0, 5.0, 4.0]
    assert np.array_equal(found.run.train, [6.0, NAN, NAN], equal_nan=True)
    assert np.isnan(found.run.test).all()
    assert found.run.status == "ok"
    assert "wall_times 4, train_losses 1, val_losses 3, test_losses 0" in found.remark
    assert "the first 3 epochs are kept" in found.remark


def test_recipes_and_cells_without_a_training(tmp_path):
    path = tmp_path / "list.json"
    path.write_text(json.dumps([RECIPE, OTHER, json.loads(zoo["lstm"].to_json())]))
    benchmark = import_logs([path]).benchmark
    graphs = [nas_bench_nlp.lower(recipe).id for recipe in (RECIPE, OTHER)]
    assert benchmark.names == (*graphs, "lstm")
    assert benchmark.run_count == 0
    both = import_logs([path, write(tmp_path / "logs", a=log(OTHER))]).benchmark
    assert [len(both.runs_of(number)) for number in range(3)] == [0, 1, 0]
    assert both.names[1] == "nbnlp-1000001"


def test_a_log_of_a_cell_of_another_space():
    value = {**log(), "cell": json.loads(zoo["darts-v1"].to_json())}
    del value["recepie"]
    found = read_log(value)
    assert found.cell == zoo["darts-v1"]
    assert found.name == "darts-v1"


def test_two_corpora_are_two_benchmarks(tmp_path):
    logs = write(tmp_path / "logs", a=log(), b=log(data="data/wikitext-2"))
    with pytest.raises(BenchError, match=r"several corpora: ptb \(1\), wikitext-2 \(1\)"):
        import_logs([logs])
    found = import_logs([logs], corpus="wikitext-2")
    assert (found.benchmark.corpus, found.benchmark.run_count) == ("wikitext-2", 1)
    assert [remark.reason for remark in found.skipped] == ["is of the corpus 'ptb'"]


def test_copies_of_a_log_are_no_second_run(tmp_path):
    logs = write(tmp_path / "logs", a=log(), b=log())
    found = import_logs([logs, logs])
    assert (found.benchmark.run_count, found.logs) == (1, 1)
    assert [Path(remark.label).stem for remark in found.skipped] == ["b", "a", "b"]
    assert found.skipped[0].reason.startswith("is a copy of")
    with pytest.raises(BenchError, match="is a copy of"):
        import_logs([logs], strict=True)


# -- where logs are ------------------------------------------------------------------------


def test_folders_zip_files_and_lists_are_read_alike(tmp_path):
    logs = {
        "a": log(losses=[6.0]), "b": log(losses=[5.9], experiment_id=2), "c": log(OTHER),
    }  # fmt: skip
    folder = write(tmp_path / "logs", **logs)
    archive = zipped(tmp_path / "logs.zip", **logs)
    listed = tmp_path / "all.json"
    listed.write_text(json.dumps(list(logs.values())))
    (tmp_path / "nested" / "deep").mkdir(parents=True)
    (tmp_path / "nested" / "deep" / "logs.zip").write_bytes(archive.read_bytes())
    (tmp_path / "nested" / "weights.pt").write_bytes(b"\x80\x04")
    found = [
        import_logs([path], title="same").benchmark
        for path in (folder, archive, listed, tmp_path / "nested")
    ]
    assert all(other.valid.tolist() == found[0].valid.tolist() for other in found)
    assert all(other.names == found[0].names for other in found)
    assert len(found[0]) == 2


def test_a_list_larger_than_any_cell_file(tmp_path):
    """The formats refuse texts of more than 4 million characters; a release's list is larger."""
    from cellwright.cell.formats.cellwright_json import MOST_TEXT

    path = tmp_path / "recipes.json"
    element = json.dumps(RECIPE)
    different = json.dumps(OTHER)
    padding = " " * 2000
    count = MOST_TEXT // (len(element) + len(padding)) + 1
    text = "[" + f",{padding}\n".join([element] * count) + f", {different}]"
    assert len(text) > MOST_TEXT
    path.write_text(text)
    found = import_logs([path])
    assert len(found.benchmark) == 2
    assert found.logs == count + 1


def test_elements_before_a_damaged_place_are_not_lost(tmp_path):
    path = tmp_path / "cut.json"
    text = json.dumps([RECIPE, OTHER, RECIPE])
    path.write_text(text[: text.rindex("h_new_0")])
    found = import_logs([path])
    assert len(found.benchmark) == 2
    assert [remark.label for remark in found.skipped] == [f"{path}#3"]
    path.write_text(json.dumps([RECIPE])[:-1] + " {}")
    assert "does not go on with" in import_logs([path]).skipped[0].reason


# -- hostile input -------------------------------------------------------------------------

BAD = {
    "no recipe": ({"val_losses": [1.0], "wall_times": [1.0]}, "no 'recepie'"),
    "a list": ([[1, 2]], "a log is a JSON object"),
    "a number": (17, "a log is a JSON object"),
    "null": (None, "a log is a JSON object"),
    "an empty object": ({}, "a recipe is an object of nodes"),
    "a bad operation": (log({"h_new_0": {"op": "tan", "input": ["x"]}}), "unknown operation"),
    "a cycle": (
        log({"h_new_0": {"op": "elementwise_sum", "input": ["a", "x"]},
             "a": {"op": "activation_tanh", "input": ["h_new_0"]}}),
        "cycle",
    ),
    "no state": (log({"a": {"op": "linear", "input": ["x"]}}), "h_new_0"),
    "a recipe that is no JSON": (log() | {"recepie": "{'f': 1}"}, "not JSON"),
    "a recipe that is a number": (log() | {"recepie": 3}, "recipe"),
    "losses that are a text": (log(val_losses="many"), "'val_losses' must be a list"),
    "a loss that is a text": (log(val_losses=[1.0, "NaN"]), "epoch 2 is 'NaN', not a number"),
    "a loss that is a list": (log(test_losses=[[1.0], 2.0]), "epoch 1 is"),
    "a loss that is true": (log(train_losses=[True, 2.0]), "epoch 1 is True"),
    "a loss beyond numbers": (log(val_losses=[10**400, 1.0]), "too large"),
    "an infinite time": (log(wall_times=[1.0, INF]), "wall time"),
    "a negative time": (log(wall_times=[1.0, -2.0]), "wall time"),
    "a missing time": (log(wall_times=[None, 1.0]), "wall time"),
    "parameters that are a text": (log(num_params="many"), "'num_params' must be a whole number"),
    "negative parameters": (log(num_params=-1), "'num_params'"),
    "too many parameters": (log(num_params=2**64), "'num_params'"),
    "too many epochs": (log(losses=[1.0] * 100_001), "at most 100,000"),
    "too many states": (
        log({f"h_new_{i}": {"op": "linear", "input": ["x"]} for i in range(65)}), "at most 64",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_log_is_left_out_and_told(tmp_path, name):
    value, problem = BAD[name]
    logs = write(tmp_path / "logs", bad=value, good=log())
    found = import_logs([logs])
    assert len(found.benchmark) == 1
    [remark] = found.skipped
    assert Path(remark.label.split("#")[0]).name == "bad.json"
    assert problem in remark.reason
    with pytest.raises(BenchError, match=r"bad\.json"):
        import_logs([logs], strict=True)


TEXTS = {
    "empty": (b"", "not JSON"),
    "no UTF-8": (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
    "cut": (json.dumps(log()).encode()[:-20], "not JSON"),
    "two values": (b"{} {}", "more text behind its end"),
    "an empty list": (b"[ ]", "the list is empty"),
    "deep": (b"[" * 100_000, "nested too deeply"),
    "deep objects": (b'{"a":' * 100_000, "nested too deeply"),
    "a key twice": (b'{"a": 1, "a": 2}', "twice"),
    "a huge integer": (b'{"val_losses": [' + b"9" * 10_000 + b"]}", "not JSON"),
    "a recipe deep inside": (
        json.dumps(log() | {"recepie": "[" * 100_000}).encode(), "nested too deeply",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_that_is_no_log(tmp_path, name):
    text, problem = TEXTS[name]
    logs = write(tmp_path / "logs", good=log())
    (logs / "bad.json").write_bytes(text)
    [remark] = import_logs([logs]).skipped
    assert Path(remark.label.split("#")[0]).name == "bad.json"
    assert problem in remark.reason


def test_a_byte_order_mark_is_no_damage(tmp_path):
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(log()).encode())
    assert import_logs([tmp_path]).logs == 1


def test_zip_members_that_point_outside_are_left_out(tmp_path):
    path = tmp_path / "slip.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good.json", json.dumps(log()))
        for name in ("../out.json", "/etc/out.json", "a/../../out.json", "C:out.json"):
            archive.writestr(name, json.dumps(log(OTHER)))
        archive.writestr("__MACOSX/._good.json", "junk")
        archive.writestr(".hidden.json", "junk")
    before = sorted(tmp_path.iterdir())
    found = import_logs([path])
    assert (len(found.benchmark), len(found.skipped)) == (1, 4)
    assert {remark.reason for remark in found.skipped} == {"its name points outside the zip file"}
    assert sorted(tmp_path.iterdir()) == before


def test_an_encrypted_or_damaged_member_is_left_out(tmp_path):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.json", json.dumps(log()))
        archive.writestr("b.json", json.dumps(log(OTHER)))
    raw = bytearray(data.getvalue())
    place = raw.index(b"sigm")
    raw[place] ^= 1
    (tmp_path / "damaged.zip").write_bytes(raw)
    [remark] = import_logs([tmp_path / "damaged.zip"]).skipped
    assert remark.label.endswith(":b.json")
    assert "damaged" in remark.reason
    raw = bytearray(data.getvalue())
    for place in (6, raw.rindex(b"PK\x01\x02", 0, raw.rindex(b"PK\x01\x02")) + 8):
        raw[place] |= 1  # the flag that says encrypted, in both headers of the first member
    (tmp_path / "secret.zip").write_bytes(raw)
    [remark] = import_logs([tmp_path / "secret.zip"]).skipped
    assert "is encrypted" in remark.reason


@pytest.mark.parametrize(
    ("limit", "value", "problem"),
    [
        ("MOST_BYTES", 100, "larger than 100 bytes"),
        ("MOST_ZIP_BYTES", 1000, "unpacks to more than"),
        ("MOST_DOCUMENTS", 2, "more than 2 files"),
    ],
)
def test_oversize(tmp_path, monkeypatch, limit, value, problem):
    path = zipped(tmp_path / "big.zip", a=log(), b=log(OTHER), c=log(losses=[1.0]))
    monkeypatch.setattr(documents, limit, value)
    with pytest.raises(BenchError, match=problem):
        import_logs([path])


def test_a_zip_bomb_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "MOST_BYTES", 2**20)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("good.json", json.dumps(log()))
        archive.writestr("bomb.json", b" " * (64 * 2**20))
    found = import_logs([path])
    assert found.logs == 1
    assert "larger than 1 MiB" in found.skipped[0].reason


def test_paths_that_cannot_be_read(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "not.zip").write_bytes(b"PK\x03\x04 and then nothing")
    for path, problem in {
        "missing.json": "no such file",
        "empty": r"the folder has no \.json or \.zip files",
        "not.zip": "not a readable zip file",
    }.items():
        with pytest.raises(BenchError, match=problem):
            import_logs([tmp_path / path])
    with pytest.raises(BenchError, match="not a file name"):
        import_logs(["a\0b"])
    (tmp_path / "bad.json").write_text("[1]")
    with pytest.raises(BenchError, match=r"no log could be read.*bad.json#1: a log is"):
        import_logs([tmp_path / "bad.json"])
    good = write(tmp_path / "mixed", a=log())
    (good / "b.zip").write_bytes(b"PK\x03\x04")
    assert [Path(remark.label).name for remark in import_logs([good]).skipped] == ["b.zip"]


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32))
def test_any_mutilated_log_imports_or_is_told(seed):
    """Whatever is changed in a log, the reader raises the error for people or gives a run."""
    rng = random.Random(seed)
    value = log(cells.recipe(rng), losses=[6.0, 5.0, NAN])
    for _ in range(rng.randint(1, 3)):
        key = rng.choice(list(value))
        value[key] = rng.choice(
            [None, True, "", "NaN", 3, -1, 2.5, NAN, [], [1], [None], [[]], {}, {"op": 1}, 10**30]
        )
    try:
        found = read_log(value)
    except (BenchError, CellError):
        return
    assert found.run is None or found.run.epochs <= 3
