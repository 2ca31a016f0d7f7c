"""`cellwright studies`: what is kept can be listed, shown, drawn and exported."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import sqlite3
from pathlib import Path

import pytest

from cellwright import Cell
from cellwright.search.blackbox.methods import method
from cellwright.spaces import Enas
from cellwright.trials.executors import Call, InProcess
from cellwright.trials.store import create_study, open_store
from cellwright.trials.study import run_study

HELPS = ["studies", "studies list", "studies show", "studies plot", "studies export"]


@pytest.fixture
def study(folder: Path) -> Path:
    """A store with a study that trained nothing, and a random search beside it."""
    with open_store("studies.db") as store:
        for name, kind, trials in (("s", "local-search", 12), ("s-random", "random", 8)):
            search = method(kind, Enas(), epochs=4, seed=trials)
            run_study(store, name, search, Call("trials.evaluators:evaluate"), InProcess(),
                      trials=trials)  # fmt: skip
        create_study(store, "empty", {"method": "random"}, {}, target=5)
    return folder / "studies.db"


def examples(text: str) -> list[str]:
    return [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("$ ")]


def test_the_examples_run(run, example):
    """In one folder, and each but once, since several begin with the same study."""
    import torch

    torch.set_num_threads(1)
    done: set[str] = set()
    for command in HELPS:
        lines = examples(run(*command.split(), "--help").out)
        assert len(lines) >= 3
        for line in lines:
            if line in done or (" plot " in line and not importlib.util.find_spec("matplotlib")):
                continue
            example(line)
            done.add(line)


@pytest.mark.parametrize("command", HELPS)
def test_the_help_fits_a_terminal(run, command: str):
    wide, narrow = (run(*command.split(), "--help", width=width).out for width in (200, 80))
    assert examples(wide) == examples(narrow)
    assert max(map(len, narrow.splitlines())) <= 80


def test_looking_does_not_import_torch(shell, study):
    for arguments in ("studies list", "studies show s"):
        outcome = shell(f"cellwright {arguments}", PYTHONPROFILEIMPORTTIME="1")
        imported = re.findall(r"\| +([\w.]+)$", outcome.err, re.MULTILINE)
        assert "cellwright.trials.store" in imported
        assert "torch" not in imported


def test_list(run, study):
    lines = run("studies", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == ["study", "s", "s-random", "empty"]
    assert lines[1].split()[1:5] == ["local-search", "12", "of", "12"]
    assert lines[1].split()[-1] == "complete"
    assert lines[3].split()[-1] == "open"
    rows = json.loads(run("studies", "list", "--json").out)
    assert [row["trials"] for row in rows] == [12, 8, 0]


def test_what_is_damaged_is_told_and_hides_nothing(run, study):
    with sqlite3.connect(study) as connection:
        trial = "number = 2 AND study_id = (SELECT id FROM cellwright_studies WHERE name = 's')"
        connection.execute(f"UPDATE cellwright_trials SET value = 'low' WHERE {trial}")
    connection.close()
    why = "trial 2 of study 's' is damaged: value is 'low', and should be a number"
    listed = run("studies", "list")
    assert [line.split()[0] for line in listed.out.splitlines()] == ["study", "s-random", "empty"]
    assert f"left out: {why}" in listed.err
    assert [row["name"] for row in json.loads(run("studies", "list", "--json").out)] == [
        "s-random",
        "empty",
    ]
    for words in (["show"], ["show", "--json"], ["export"], ["plot"]):
        done = run("studies", words[0], "s", *words[1:])
        assert (done.code, done.out) == (1, "")
        assert done.err == f"error: {why}; restore a copy of the store\n"


def test_show(run, study):
    found = run("studies", "show", "s", "--best", "3")
    assert "complete, 12 of 12 trials have ended" in found.out
    figures = dict(re.split(r"  +", line, maxsplit=1) for line in found.out.splitlines()
                   if line.startswith(("attempts", "time in training", "its test")))  # fmt: skip
    assert list(figures) == ["attempts", "time in training", "its test loss"]
    assert figures["attempts"].split("  ")[0] == "12, 0 failed or stopped"
    assert "random search" in found.out
    assert "found the better cell" in found.out
    document = json.loads(run("studies", "show", "s", "--best", "3", "--json").out)
    values = [trial["value"] for trial in document["best"]]
    assert len(values) == 3
    assert values == sorted(values)
    assert document["ledger"]["best"]["value"] == values[0]
    assert document["random"]["trials"] == 8
    cell = Cell.from_json(run("studies", "show", "s", "--cell").out)
    assert cell.id == document["best"][0]["cell_id"]
    empty = run("studies", "show", "empty")
    assert "no trial has a value yet" in empty.out
    assert (
        "no trial of study 'empty' has a value yet" in run("studies", "show", "empty", "--cell").err
    )


def test_plot(run, study):
    pytest.importorskip("matplotlib")
    assert run("studies", "plot", "s", "-o", "a.svg").code == 0
    first = Path("a.svg").read_bytes()
    assert b"s-random" in first or b"<use" in first
    run("studies", "plot", "s", "s-random", "-o", "a.svg")
    assert Path("a.svg").read_bytes() == first  # its random search is drawn beside a study anyway
    assert run("studies", "plot", "s-random", "-o", "b.png").code == 0
    assert Path("b.png").read_bytes()[:4] == b"\x89PNG"
    assert "no trial has a value yet" in run("studies", "plot", "empty").err
    assert "ends in .svg, .pdf or .png" in run("studies", "plot", "s", "-o", "a.gif").err


def test_trials_for_a_paper(run, study):
    assert run("studies", "export", "s", "--top", "3", "-o", "best.tex").out == "best.tex\n"
    text = Path("best.tex").read_text()
    rows = text.partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
    assert len(rows) == 3
    assert rows[0].startswith(r"\boldmath$")
    assert run("studies", "export", "s", "-o", "all.md").code == 0
    assert len(Path("all.md").read_text().splitlines()) == 2 + 2 + 12
    cells = run("studies", "export", "s", "--table", "cells", "-o", "cells.tex")
    assert (cells.code, "ends in .csv or .parquet" in cells.err) == (2, True)
    assert run("studies", "export", "s", "--top", "3").code == 2


def test_export(run, study):
    assert run("studies", "export", "s").out.strip() == "s-trials.csv"
    rows = list(csv.DictReader(Path("s-trials.csv").read_text().splitlines()))
    assert [int(row["number"]) for row in rows] == list(range(12))
    run("studies", "export", "s", "--table", "curves", "-o", "curves.csv")
    assert len(Path("curves.csv").read_text().splitlines()) > 12
    assert "ends in .csv, .parquet, .md or .tex" in run("studies", "export", "s", "-o", "s.txt").err


@pytest.mark.parametrize("command", ["show", "plot", "export"])
def test_what_is_not_there(run, study, command):
    assert "has no study 'emty'; did you mean 'empty'?" in run("studies", command, "emty").err
    missing = run("studies", command, "s", "--store", "other.db")
    assert missing.code == 1
    assert "other.db" in missing.err
    assert not Path("other.db").exists()
