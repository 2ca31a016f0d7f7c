"""The `bench` commands: what they print, what they write, and what they say of bad input."""

from __future__ import annotations

import csv
import json
import math
import re
import shlex
from pathlib import Path

import pytest

from cellwright.bench import load
from cellwright.bench.synthetic import synthetic
from cellwright.cell.zoo import zoo

COMMANDS = ("import", "info", "query", "top", "export", "analyze")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small benchmark that all tests read."""
    from cellwright.bench import save

    return save(synthetic(12, epochs=4, runs=2), tmp_path_factory.mktemp("made") / "made.bench")


def write_log(file: str, /, **more: object) -> None:
    recipe = {
        "f": {"op": "linear", "input": ["x", "h_prev_0"]},
        "h_new_0": {"op": "activation_tanh", "input": ["f"]},
    }
    log = {
        "data": "data/ptb", "recepie_id": 7, "recepie": json.dumps(recipe), "num_params": 5,
        "wall_times": [1800.0, 1800.0], "train_losses": [6.0, 5.0], "val_losses": [6.0, 5.25],
        "test_losses": [5.9, 5.125], "status": "OK", "epochs": 2, **more,
    }  # fmt: skip
    Path(file).write_text(json.dumps(log))


# -- import --------------------------------------------------------------------------------


def test_import_a_folder(run, folder):
    Path("logs").mkdir()
    write_log("logs/a.json")
    write_log("logs/b.json", experiment_id=2, val_losses=[6.0, float("nan")], status="loss is nan!")
    Path("logs/c.json").write_text("{")
    outcome = run("bench", "import", "logs")
    assert outcome.code == 0
    assert outcome.out == (
        "ptb.bench: 1 architecture (1 distinct graph), 2 runs, 1 of them diverged\n"
    )
    assert "left out 1 log" in outcome.err
    assert "logs/c.json: not JSON" in outcome.err
    assert load("ptb.bench").names == ("nbnlp-7",)
    strict = run("bench", "import", "logs", "--strict")
    assert strict.code == 1
    assert strict.err.startswith("error: logs/c.json: not JSON")


def test_import_with_features_and_names(run, folder):
    write_log("a.json")
    Path("f.csv").write_text("recepie_id,v0\n7,1.5\n")
    outcome = run(
        "bench", "import", "a.json", "-o", "x.bench", "--title", "Mine", "--features", "f.csv"
    )
    assert "f.csv: features of 1 of 1 architecture" in outcome.out
    found = load("x.bench")
    assert (found.title, found.featured("f").tolist()) == ("Mine", [[1.5]])


def test_import_tells_remarks(run, folder):
    write_log("a.json", test_losses=[5.9])
    outcome = run("bench", "import", "a.json")
    assert outcome.code == 0
    assert "1 remark" in outcome.err
    assert "test_losses 1" in outcome.err


def test_graph2vec_features_are_made(run, folder):
    pytest.importorskip("gensim")
    outcome = run("bench", "import", "--synthetic", "5", "--graph2vec", "3")
    assert outcome.code == 0
    assert load("synthetic.bench").featured("graph2vec-3").shape == (5, 3)


# -- info, query, top ----------------------------------------------------------------------


def test_info(run, folder):
    write_log("a.json")
    run("bench", "import", "a.json")
    text = run("bench", "info", "ptb.bench").out
    for line in (
        r"architectures +1: 1 with 1 run", r"runs +1: 1 ok", r"wall time +1\.00 h",
        r"best valid +perplexity 190\.6 \(log perplexity 5\.2500\): nbnlp-7, seed 0",
        r"best test +perplexity 168\.2 \(log perplexity 5\.1250\)",
        r"task +language: perplexity, lower is better", r"settings +data=data/ptb, epochs=2",
    ):  # fmt: skip
        assert re.search(line, text), line
    facts = json.loads(run("bench", "info", "ptb.bench", "--json").out)
    assert facts["best_test"] == {
        "loss": 5.125, "value": math.exp(5.125), "architecture": "nbnlp-7", "seed": 0,
    }  # fmt: skip
    assert (facts["kind"], facts["metric"]["higher_is_better"]) == ("language", False)
    assert facts["runs_by_status"] == {"ok": 1, "diverged": 0, "stopped": 0, "failed": 0}


def test_query_by_name_label_id_zoo_name_and_file(run, folder, made):
    found = load(made)
    Path("lstm.json").write_text(zoo["nbnlp-lstm"].renamed("mine").to_json())
    by_file = json.loads(run("bench", "query", str(made), "lstm.json", "--json").out)
    for key in ("nbnlp-lstm", "nbnlp-lstm/1", zoo["nbnlp-lstm"].id):
        assert json.loads(run("bench", "query", str(made), key, "--json").out) == by_file
    piped = run("bench", "query", str(made), "-", "--json", stdin=zoo["nbnlp-lstm"].to_json())
    assert json.loads(piped.out) == by_file
    [facts] = by_file
    own = found.architecture(found.find("nbnlp-lstm"))
    assert [row["curves"]["valid"] for row in facts["runs"]] == [
        [None if value != value else value for value in run_.valid.tolist()] for run_ in own.runs
    ]


def test_query_shows_an_epoch(run, folder):
    write_log("a.json")
    run("bench", "import", "a.json")
    best = run("bench", "query", "ptb.bench", "nbnlp-7").out
    assert re.search(r"0 +7 +5 +2 +2 +5\.0000 +5\.2500 +5\.1250 +168\.2 +1\.00 h +ok", best)
    first = run("bench", "query", "ptb.bench", "7", "--epoch", "1").out
    assert re.search(r"6\.0000 +6\.0000 +5\.9000 +365\.0 +0\.50 h +ok", first)
    none = json.loads(run("bench", "query", "ptb.bench", "7", "--epoch", "9", "--json").out)
    assert none[0]["runs"][0]["epoch"] is None


def test_query_of_a_cell_that_is_not_there(run, made):
    for key, problem in {
        "nbnlp-lsmt": "did you mean 'nbnlp-lstm'?",
        "darts-v1": "has no cell 'darts-v1'",
        "no/such.json": "has no architecture 'no/such.json'",
        "a\0b": "has no architecture",
    }.items():
        outcome = run("bench", "query", str(made), key)
        assert (outcome.code, outcome.err.count("\n")) == (1, 1)
        assert problem in outcome.err


def test_top(run, folder, made):
    rows = json.loads(run("bench", "top", str(made), "-n", "3", "--json").out)
    assert len(rows) == 3
    assert [row["valid"] for row in rows] == sorted(row["valid"] for row in rows)
    small = json.loads(run("bench", "top", str(made), "--by", "parameters", "--json").out)
    assert small[0]["name"] == "nbnlp-rnn"
    text = run("bench", "top", str(made), "-n", "2").out
    heading, *lines, note = text.splitlines()
    assert "perplexity ↓" in heading
    assert len(lines) == 2
    assert note == "losses are log perplexity: the lower, the better"
    wrong = run("bench", "top", str(made), "--by", "vald")
    assert wrong.code == 2
    assert "'valid'" in wrong.err


# -- export --------------------------------------------------------------------------------


def test_export(run, folder, made):
    for what, name in (("architectures", "architectures.csv"), ("runs", "runs.csv")):
        assert run("bench", "export", str(made), what).out == f"{name}\n"
        with open(name, newline="") as file:
            assert len(list(csv.DictReader(file))) == (12 if what == "architectures" else 24)
    printed = run("bench", "export", str(made), "curves", "-o", "-").out
    assert printed.startswith("architecture,seed,epoch,train,valid,test,seconds\n")
    run("bench", "export", str(made), "cells")
    assert run("cells", "check", "cells.json").code == 0
    run("bench", "export", str(made), "logs", "-o", "l.zip")
    assert run("bench", "import", "l.zip", "-o", "again.bench").code == 0
    again = load("again.bench")
    assert (again.names, again.graphs) == (load(made).names, load(made).graphs)
    assert run("bench", "export", str(made), "logs", "-o", "-").code == 2
    wrong = run("bench", "export", str(made), "curve")
    assert wrong.code == 2
    assert "'curves'" in wrong.err


# -- analyze -------------------------------------------------------------------------------


def test_architectures_for_a_paper(run, folder, made):
    done = run("bench", "export", str(made), "architectures", "--top", "3", "-o", "best.tex")
    assert (done.code, done.out) == (0, "best.tex\n")
    text = Path("best.tex").read_text()
    rows = text.partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
    assert len(rows) == 3
    assert rows[0].startswith(r"\textbf{")
    wrong = run("bench", "export", str(made), "curves", "-o", "c.tex")
    assert (wrong.code, "no such table" in wrong.err) == (2, True)
    assert "--top is for" in run("bench", "export", str(made), "runs", "--top", "3").err


def test_analyze(run, folder, made):
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    outcome = run("bench", "analyze", str(made), "--only", "ranks", "--only", "measures")
    assert outcome.code == 0
    assert "Figure 4" in outcome.out
    assert "spearman at epoch 4" in outcome.out
    names = {
        f"{kind}.{end}"
        for kind in ("ranks", "measures")
        for end in ("csv", "md", "tex", "svg", "png")
    }
    assert {path.name for path in Path("analysis").iterdir()} == names


def test_analyze_says_what_it_leaves_out(run, folder, made):
    pytest.importorskip("scipy")
    pytest.importorskip("networkx")
    pytest.importorskip("gensim")
    pytest.importorskip("xgboost")
    options = ("--no-figures", "--pairs", "2", "--seconds", "0.01", "-o", "out")
    outcome = run("bench", "analyze", str(made), *options)
    assert outcome.code == 0
    assert "transfer: left out; a second benchmark is needed" in outcome.err
    assert {path.name for path in Path("out").iterdir()} >= {"ranks.csv", "distances.csv"}
    alone = run("bench", "analyze", str(made), "--only", "transfer")
    assert (alone.code, alone.err.startswith("error: a second benchmark")) == (1, True)
    unknown = run("bench", "analyze", str(made), "--only", "rank")
    assert unknown.code == 2
    assert "'ranks'" in unknown.err
    missing = run("bench", "analyze", str(made), "--only", "prediction", "--features", "none")
    assert (missing.code, "there is no 'none'" in missing.err) == (1, True)


# -- errors and help -----------------------------------------------------------------------


@pytest.mark.parametrize("command", ["info", "query", "top", "export", "analyze"])
def test_a_file_that_is_no_benchmark_is_one_line(run, folder, command):
    more = {"query": ["gru"], "export": ["runs"]}.get(command, [])
    Path("text.bench").write_text("hello")
    for name, problem in {
        "missing.bench": "there is no file missing.bench",
        "text.bench": "text.bench is not a benchmark file",
        ".": "is a folder",
    }.items():
        outcome = run("bench", command, name, *more)
        assert (outcome.code, outcome.err.count("\n")) == (1, 1)
        assert problem in outcome.err


def test_import_errors(run, folder):
    write_log("a.json")
    write_log("b.json", data="data/wikitext-2")
    for arguments, code, problem in (
        (["missing.zip"], 1, "missing.zip: no such file"),
        (["a.json", "b.json"], 1, "several corpora"),
        (["a.json", "--features", "none.csv"], 1, "none.csv: no such file"),
        (["a.json", "-o", "no/such/folder.bench"], 1, "no/such/folder.bench"),
        ([], 2, "give paths of logs, or --synthetic"),
        (["a.json", "--synthetic", "3"], 2, "give paths of logs, or --synthetic"),
    ):
        outcome = run("bench", "import", *arguments)
        assert outcome.code == code
        assert problem in outcome.err
    assert not Path("ptb.bench").exists()


def test_names_cannot_steer_a_terminal(run, folder):
    write_log("a.json", name="[red]\x1b[2J", status="Exception: \x1b[31m", data="x/\x1b[2J")
    assert run("bench", "import", "a.json", "-o", "odd.bench").code == 0
    for command in (["info"], ["top"], ["query", "[red]\x1b[2J"]):
        outcome = run("bench", command[0], "odd.bench", *command[1:])
        assert outcome.code == 0
        assert "\x1b" not in outcome.out + outcome.err


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_teaches_with_examples_that_run(run, shell, command):
    pytest.importorskip("scipy")
    help_text = run("bench", *command.split(), "--help", width=80).out
    assert max(map(len, help_text.splitlines())) <= 80
    lines = [ln.strip()[2:] for ln in help_text.splitlines() if ln.strip().startswith("$ ")]
    assert len(lines) >= 3
    for line in lines:
        # In this process where the line needs no shell, which is many times as fast.
        outcome = shell(line) if set("|>") & set(line) else run(*shlex.split(line)[1:])
        assert outcome.code == 0, f"{line}\n{outcome.out}{outcome.err}"


def test_help_does_not_wait_for_numpy(shell):
    outcome = shell("cellwright bench --help", PYTHONPROFILEIMPORTTIME="1")
    imported = re.findall(r"\| +([\w.]+)$", outcome.err, re.MULTILINE)
    assert "cellwright.cli.bench" in imported
    assert not {"numpy", "torch", "cellwright.bench"} & set(imported)
