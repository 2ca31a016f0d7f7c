"""`cellwright similarity`: embeddings of runs against people's judgements."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from cellwright.runs.texts import vocabulary_of
from cellwright.runs.trained import load_trained

PAIRS = "w1\tw2\t7\nw3\tW1\t2.5\nw2\tw2\t10\nw5\tw3\t4\nw1\tnowhere\t3\n"


@pytest.fixture
def pairs(folder: Path) -> str:
    Path("mine.tsv").write_text(PAIRS)
    return "mine.tsv"


def figures(run, *arguments: str) -> dict:
    done = run("similarity", *arguments, "--json", "-")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_the_figures_are_of_the_best_weights(run, trained, pairs):
    import numpy as np

    trained("gru", "a")
    [model] = figures(run, "a", "--pairs", pairs)["models"]
    own = load_trained("runs/a")
    weight = own.model.embedding.weight.detach().double().numpy()
    unit = weight / np.linalg.norm(weight, axis=1, keepdims=True)
    chosen = [(1, 2, 7.0), (3, 1, 2.5), (2, 2, 10.0), (5, 3, 4.0)]
    words = vocabulary_of(own)
    cosines = [unit[words[f"w{a}"]] @ unit[words[f"w{b}"]] for a, b, _ in chosen]
    expected = np.corrcoef(cosines, [score for _, _, score in chosen])[0, 1]
    [found] = model["similarity"]
    assert found["set"] == "mine"
    assert found["common"]["pairs"] == 4
    assert found["common"]["pearson"] == pytest.approx(expected)
    result = own.folder.result()
    assert result is not None
    assert (model["cell"], model["epoch"]) == ("gru", result.best_epoch)
    assert model["valid"] == pytest.approx(result.valid)


def test_runs_of_different_words_are_compared_on_the_same_pairs(run, trained, pairs):
    trained("gru", "a")
    Path("other").mkdir()
    for part in ("train", "valid", "test"):
        text = Path("text", f"{part}.txt").read_text()
        Path("other", f"{part}.txt").write_text(re.sub(r"\bw5\b", "nowhere", text))
    trained("rnn", "b", "--data", "other")
    first, second = (m["similarity"][0] for m in figures(run, "a", "b", "--pairs", pairs)["models"])
    assert (first["own"]["pairs"], second["own"]["pairs"]) == (4, 4)
    assert first["common"]["pairs"] == second["common"]["pairs"] == 3
    [alone] = figures(run, "a", "--pairs", pairs)["models"]
    assert alone["similarity"][0]["own"] == first["own"]


def test_a_table_with_the_baseline(run, trained, pairs):
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    trained("gru", "a")
    trained("rnn", "b")
    done = run("similarity", "a", "b", "--pairs", pairs, "--sgns", "--json", "x.json", width=100)
    assert done.code == 0, done.err
    assert done.out.startswith("mine: 4 of 5 pairs\n")
    assert "4 pairs are too few to say much" in done.out
    lines = [line.split() for line in done.out.splitlines()[2:5]]
    assert [line[0] for line in lines] == ["a", "b", "SGNS"]
    document = json.loads(Path("x.json").read_text())
    widths = {m["dimensions"] for m in document["models"]}
    assert len(widths) == 1
    assert document["models"][2]["run"] is None
    again = figures(run, "a", "b", "--pairs", pairs, "--sgns")
    assert again == document
    other = figures(run, "a", "b", "--pairs", pairs, "--sgns", "--seed", "1")
    assert other["models"][:2] == document["models"][:2]
    assert other["models"][2] != document["models"][2]


def test_a_picture(run, trained, pairs):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra: plots)")
    trained("gru", "a")
    done = run("similarity", "a", "--pairs", pairs, "--plot", "x.svg")
    assert done.code == 0, done.err
    assert done.out.endswith("\nx.svg\n")
    first = Path("x.svg").read_bytes()
    assert b"<svg" in first
    run("similarity", "a", "--pairs", pairs, "--plot", "x.svg")
    assert Path("x.svg").read_bytes() == first
    done = run("similarity", "a", "--pairs", pairs, "--plot", "x.gif")
    assert (done.code, "ends in .svg, .pdf or .png" in done.err) == (1, True)


def test_a_rare_word_that_only_one_model_has(run, trained, pairs):
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    with Path("mine.tsv").open("a") as file:
        file.write("w1\tsingle\t5\n")
    train = Path("text/train.txt")
    train.write_text(train.read_text() + "single\n")
    trained("gru", "a")
    document = figures(run, "a", "--pairs", pairs, "--sgns", "--sgns-least", "2")
    language_model, sgns = (m["similarity"][0] for m in document["models"])
    assert (language_model["own"]["pairs"], sgns["own"]["pairs"]) == (5, 4)
    assert language_model["common"]["pairs"] == sgns["common"]["pairs"] == 4
    assert document["models"][0]["words"] > document["models"][1]["words"]


def test_errors_are_told(run, trained, pairs):
    trained("gru", "a")
    few = Path("few.tsv")
    few.write_text("w1\tw2\t7\nw1\tw3\t7\na\tb\t1\n")
    done = run("similarity", "a", "--pairs", "few.tsv")
    assert done.code == 1
    assert re.search(r"too few pairs .* a has \(2 of 3 of few\)", done.err)
    few.write_text("w1 w2\n")
    assert "few.tsv, line 1: expected two words" in run("similarity", "a", "--pairs", "few.tsv").err
    assert run("similarity", "b", "--pairs", pairs).code == 1
    assert run("similarity").code == 2
    # One set with enough pairs is enough; the other has no figures.
    few.write_text("w1\tw2\t7\nw1\tw3\t7\n")
    done = run("similarity", "a", "--pairs", "few.tsv", "--pairs", pairs)
    assert done.code == 0
    assert "few: 2 of 2 pairs" in done.out


def test_without_gensim(run, trained, pairs, monkeypatch):
    import importlib

    trained("gru", "a")
    real = importlib.import_module

    def without(name: str, *more: str):
        if name.startswith("gensim"):
            raise ModuleNotFoundError(f"No module named {name!r}", name="gensim")
        return real(name, *more)

    monkeypatch.setattr(importlib, "import_module", without)
    done = run("similarity", "a", "--pairs", pairs, "--sgns")
    assert done.code == 1
    assert "SGNS needs the package gensim; pip install 'cellwright[search]'" in done.err


def test_the_help_teaches_by_examples_that_run(run):
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    text = run("similarity", "--help", width=80).out
    assert max(map(len, text.splitlines())) <= 80
    lines = [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("$ ")]
    assert len(lines) >= 3
    for line in lines:
        outcome = run(*shlex.split(line)[1:])
        assert outcome.code == 0, f"{line}\n{outcome.out}{outcome.err}"
