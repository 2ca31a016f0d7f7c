"""`cellwright export`, as a user types it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest


def test_files_are_printed_and_what_was_checked_is_said_beside(run):
    outcome = run("export", "gru", "-o", "x.onnx", "--input-size", "3", "--hidden-size", "4")
    assert outcome.out == "x.onnx\n"
    assert "the cell gru: ONNX Runtime gives the model's outputs on a random batch" in outcome.err
    assert "its weights are fresh ones, from seed 0" in outcome.err


def test_a_cell_from_a_file(run):
    Path("mine.json").write_text(run("cells", "show", "lstm", "--json").out)
    assert run("export", "mine.json").out == "lstm.py\n"
    assert "class LstmCell" in Path("lstm.py").read_text()


def test_a_run_goes_before_a_cell_of_its_name(run, trained):
    trained("gru", "lstm")
    assert run("export", "lstm").out.splitlines() == [
        "lstm.py",
        "lstm.safetensors",
        "lstm.words.json",
    ]
    assert "class Gru(" in Path("lstm.py").read_text()
    assert run("export", "lstm", "--cell", "-o", "cell.py").out == "cell.py\n"
    assert "class Lstm(" in Path("cell.py").read_text()


def test_a_folder_is_used_by_the_other_commands(run, trained):
    trained("gru", "one")
    assert run("export", "one", "--to", "folder", "-o", "model").out == "model\n"
    wanted, found = (
        json.loads(run("evaluate", name, "--json", "-").out) for name in ("one", "model")
    )
    assert found["run"]["value"] == wanted["run"]["value"]
    assert run("runs", "show", "model").code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["grru"], "did you mean 'gru'"),
        (["nothing/here"], "nothing/here"),
        (["gru", "--to", "folder"], "a folder holds a trained model"),
        (["gru", "-o", "no/such/folder/x.py"], "there is no folder no/such/folder"),
        (["gru", "-o", "empty"], "a folder holds a trained model"),
        (["gru", "--to", "onnx", "-o", "gru.py"], "ends in .onnx"),
        (["broken"], "broken"),
        (["gru", "--hidden-size", "0", "-o", "x.onnx"], "--hidden-size"),
        (["skip", "-o", "x.onnx", "--layers", "2", "--bidirectional"], "as wide as"),
    ],
)
def test_mistakes_are_told_in_a_line(run, arguments: list[str], says: str):
    os.mkdir("empty")
    os.mkdir("broken")
    Path("broken/run.json").write_text("{")
    nodes = [{"name": "h", "op": "add", "inputs": ["x", "h0"]}]
    skip = {"format": "cellwright/1", "nodes": nodes, "states": ["h"], "name": "skip"}
    Path("skip").write_text(json.dumps(skip))
    before = sorted(os.listdir())
    outcome = run("export", *arguments)
    assert outcome.code in (1, 2)
    assert says in outcome.err
    assert outcome.err.startswith("error: ")
    assert sorted(os.listdir()) == before
