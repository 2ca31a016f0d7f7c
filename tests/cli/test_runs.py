"""`cellwright runs list | show | plot`."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from pathlib import Path

import pytest

from cellwright.runs.folder import RunFolder


@pytest.fixture
def two(trained) -> None:
    trained("gru", "a")
    trained("rnn", "b", "--seed", "7")


def test_tables_for_a_paper(run, two):
    assert run("runs", "list", "-o", "runs.tex").out == "runs.tex\n"
    text = Path("runs.tex").read_text()
    assert text.count(r"\textbf{") >= 3  # the best of the two, all of its words
    assert run("runs", "list", "-o", "runs.csv").code == 0
    rows = list(csv.DictReader(Path("runs.csv").read_text().splitlines()))
    listed = json.loads(run("runs", "list", "--json").out)
    assert [(row["name"], float(row["valid"])) for row in rows] == [
        (row["name"], row["value"]) for row in listed
    ]
    assert run("runs", "show", "a", "-o", "curve.md").out == "curve.md\n"
    lines = Path("curve.md").read_text().splitlines()
    assert sum(line.startswith("| **") for line in lines) == 1
    assert len(lines) == 2 + 2 + 2  # caption, heading, two epochs
    wrong = run("runs", "list", "-o", "runs.xls")
    assert (wrong.code, "ends in .csv, .md or .tex" in wrong.err) == (2, True)


def test_a_list(run, two):
    lines = run("runs", "list").out.splitlines()
    assert lines[0].split() == ["name", "state", "cell", "data", "seed", "epochs", "valid", "test",
                                "metric", "time"]  # fmt: skip
    best = RunFolder.open("runs/b").result()
    assert lines[2].split()[:9] == [
        "b", "finished", "rnn", "text", "7", "2", "of", "2", f"{math.exp(best.valid):.1f}",
    ]  # fmt: skip
    rows = json.loads(run("runs", "list", "runs", "--json").out)
    assert [row["name"] for row in rows] == ["a", "b"]
    assert rows[1]["valid"] == best.valid
    assert rows[1]["value"] == math.exp(best.valid)
    assert (rows[1]["metric"]["name"], rows[1]["metric"]["higher_is_better"]) == (
        "perplexity", False,
    )  # fmt: skip


def test_what_is_no_run_is_left_out_and_what_is_damaged_is_shown_as_such(run, two):
    Path("runs/c").mkdir()
    Path("runs/d").mkdir()
    Path("runs/d/run.json").write_text("{}")
    Path("runs/a/metrics.jsonl").write_text("nonsense\n{}\n")
    done = run("runs", "list")
    assert done.code == 0
    rows = [line.split()[:2] for line in done.out.splitlines()[1:]]
    assert rows == [["b", "finished"], ["d", "damaged"], ["a", "damaged"]]
    assert "left out: runs/c is not a run" in done.err
    assert "damaged: runs/a/metrics.jsonl, line 1: not a record" in done.err
    assert "damaged: runs/d/run.json is damaged" in done.err
    listed = json.loads(run("runs", "list", "--json").out)
    assert [row["state"] for row in listed] == ["finished", "damaged", "damaged"]
    assert listed[0].keys() < listed[1].keys()
    assert (listed[1]["valid"], listed[1]["error"][:20]) == (None, "runs/d/run.json is d")


def test_states(run, two, monkeypatch: pytest.MonkeyPatch):
    info = Path("runs/a/run.json")
    for written, shown in (("running", "killed"), ("stopped", "stopped")):
        info.write_text(re.sub('"status": "[a-z]+"', f'"status": "{written}"', info.read_text()))
        assert f"a     {shown}" in run("runs", "list").out
        assert "go on:    cellwright train --resume runs/a" in run("runs", "show", "a").out


def test_no_runs(run, folder: Path):
    done = run("runs", "list")
    assert (done.code, done.out) == (1, "")
    assert "runs: no such folder" in done.err
    Path("runs").mkdir()
    assert run("runs", "list").out == "no runs in runs\n"
    assert json.loads(run("runs", "list", "--json").out) == []


def test_a_run_is_shown(run, two):
    out = run("runs", "show", "a").out
    result = RunFolder.open("runs/a").result()
    for part in (
        "finished, 2 of 2 epochs",
        "gru, id cdb0c692efc1d7a9",
        "hidden 6",
        "epochs 2",
        f"{result.parameters:,}",
        f"valid {math.exp(result.valid):.1f}",
        "cellwright evaluate runs/a --words",
    ):
        assert part in out
    assert len(re.findall(r"^ +\d+ +[\d.]+ +[\d.]+ .*[━#]{2}", out, re.MULTILINE)) == 2
    narrow = run("runs", "show", "runs/a", width=80).out
    assert max(map(len, narrow.splitlines())) <= 80
    document = json.loads(run("runs", "show", "a", "--json").out)
    assert document["result"]["valid"] == result.valid
    assert document["value"] == math.exp(result.valid)
    assert document["metric"]["higher_is_better"] is False
    assert [record["epoch"] for record in document["curve"]] == [1, 2]
    assert document["recipe"]["training"]["epochs"] == 2


def test_of_a_long_curve_some_epochs_are_shown(run, trained):
    metrics = trained("rnn", "long") / "metrics.jsonl"
    record = json.loads(metrics.read_text().splitlines()[-1])
    records = [{**record, "epoch": n, "valid": 3 + abs(n - 37) / 9} for n in range(1, 101)]
    metrics.write_text("".join(json.dumps(record) + "\n" for record in records))
    out = run("runs", "show", "long").out
    epochs = [int(found) for found in re.findall(r"^ +(\d+) +[\d.]+ +[\d.]+ ", out, re.MULTILINE)]
    assert len(epochs) == 16
    assert {1, 37, 100} <= set(epochs)
    assert re.search(r"^ +37 .* best$", out, re.MULTILINE)


def test_a_terminal_without_unicode(shell, two):
    done = shell("cellwright runs show a", PYTHONIOENCODING="ascii")
    assert done.code == 0
    assert "####" in done.out


@pytest.mark.parametrize("command", ["show", "plot"])
def test_unknown_runs(run, two, command: str):
    done = run("runs", command, "aa/b")
    assert (done.code, done.out) == (1, "")
    assert "there is no run aa/b" in done.err
    assert run("runs", command).code == 2


def test_curves_as_pictures(run, two):
    pytest.importorskip("matplotlib")
    done = run("runs", "plot", "a", "runs/b", "-o", "one.svg")
    assert (done.code, done.out) == (0, "one.svg\n")
    assert run("runs", "plot", "a", "b", "-o", "two.svg").code == 0
    assert Path("one.svg").read_bytes() == Path("two.svg").read_bytes()
    assert Path("one.svg").read_text().startswith("<?xml")
    assert run("runs", "plot", "a", "--against", "time", "-o", "time.png").code == 0
    assert Path("time.png").read_bytes().startswith(b"\x89PNG")
    assert run("runs", "plot", "a").out == "curves.svg\n"


def test_runs_without_an_epoch_are_left_out_of_a_picture(run, two):
    pytest.importorskip("matplotlib")
    Path("runs/b/metrics.jsonl").write_text("")
    done = run("runs", "plot", "a", "b")
    assert done.code == 0
    assert "b: left out, since no epoch has ended yet" in done.err
    alone = run("runs", "plot", "b")
    assert alone.code == 1
    assert "nothing to draw: no epoch has ended yet" in alone.err


def test_bad_pictures(run, two, monkeypatch: pytest.MonkeyPatch):
    wrong = run("runs", "plot", "a", "-o", "curves.gif")
    assert wrong.code == 2
    assert "curves.gif: a picture's name ends in .svg, .pdf or .png" in wrong.err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    missing = run("runs", "plot", "a")
    assert missing.code == 1
    assert "pip install 'cellwright[plots]'" in missing.err
    assert not Path("curves.svg").exists()


def test_a_picture_into_no_folder(run, two):
    pytest.importorskip("matplotlib")
    done = run("runs", "plot", "a", "-o", "no/such.svg")
    assert done.code == 1
    assert done.err.startswith("error: cannot write no/such.svg: there is no folder no")
