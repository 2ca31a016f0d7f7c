"""All commands on a task that is not language modelling, and whose metric is better the higher."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from cellwright.bench import load
from cellwright.runs.folder import RunFolder
from toy_task import ACCURACY

KIND = "toy_task:toy_kind"

TASK = f"""
[task]
kind = "{KIND}"
sentences = 48
"""
TRAINING = f"""
description = "Letters"
{TASK}
[model]
hidden = 4
layers = 1
[training]
optimizer = "adam"
learning_rate = 0.02
batch = 8
evaluation_batch = 24
epochs = 2
average_after = "none"
"""
ENAS = f"""
training = "training.toml"
selection_epochs = 1
{TASK}
[model]
hidden = 4
layers = 1
[search]
kind = "enas"
nodes = 2
epochs = 1
batch = 8
evaluation_batch = 24
controller_steps = 2
candidates = 2
finalists = 1
screening = 1
"""
STUDY = f"""
training = "training.toml"
trials = 3
{TASK}
[space]
kind = "enas"
nodes = 2
[method]
kind = "random"
epochs = 1
[text]
train = 24
"""


@pytest.fixture
def toy(run, folder: Path):
    """Recipes of the toy task, and the command `run`."""
    import torch

    torch.set_num_threads(1)
    for name, text in (("training", TRAINING), ("enas", ENAS), ("study", STUDY)):
        Path(f"{name}.toml").write_text(text)
    return run


@pytest.fixture
def trained(toy, corpus, short):
    """A run of the toy task, and one of a language model."""
    done = toy("train", "gru", "--recipe", "training.toml", "--name", "toy")
    assert done.code == 0, done.err
    assert short("rnn", "--name", "words").code == 0
    return done


def accuracy(loss: float) -> str:
    return f"{100 * (1 - loss):.2f}"


def test_a_training_speaks_of_accuracy(toy, trained):
    result = RunFolder.open("runs/toy").result()
    assert "(accuracy, higher is better; train is the loss)" in trained.out
    first = result.curve[0]
    expected = [f"{first.train:.4f}", accuracy(first.valid), accuracy(first.test)]
    assert re.search(r"^ +1 +" + " +".join(expected), trained.out, re.MULTILINE)
    best = f"valid {accuracy(result.valid)}, test {accuracy(result.test)} (epoch "
    assert f"accuracy    {best}" in trained.out
    assert "nats" not in trained.out
    assert re.search(r"next +cellwright evaluate runs/toy *$", trained.out, re.MULTILINE)


def test_each_run_has_its_own_metric(toy, trained):
    heading, *lines = toy("runs", "list").out.splitlines()
    assert heading.split()[-2:] == ["metric", "time"]
    metrics = [re.search(r"(accuracy ↑|perplexity ↓)", line)[1] for line in lines]
    assert metrics == ["accuracy ↑", "perplexity ↓"]
    result = RunFolder.open("runs/toy").result()
    row, other = json.loads(toy("runs", "list", "--json").out)
    assert row["metric"] == {**ACCURACY.model_dump(), "higher_is_better": True}
    assert (row["valid"], row["value"]) == (result.valid, 100 * (1 - result.valid))
    assert row["test_value"] == 100 * (1 - result.test)
    assert other["metric"]["higher_is_better"] is False


def test_a_run_is_shown_with_longer_bars_for_better_epochs(toy, trained):
    out = toy("runs", "show", "toy").out
    assert "train loss" in out
    assert "accuracy, higher is better" in out
    assert "evaluate: cellwright evaluate runs/toy\n" in out
    curve = RunFolder.open("runs/toy").result().curve
    bars = [len(re.search("━*", line[line.find("━") :])[0]) for line in out.splitlines()
            if "━" in line]  # fmt: skip
    better = max(curve, key=lambda record: -record.valid)
    assert max(bars) == bars[better.epoch - 1]
    document = json.loads(toy("runs", "show", "toy", "--json").out)
    assert document["value"] == 100 * (1 - document["result"]["valid"])
    assert document["metric"]["higher_is_better"] is True


def test_runs_of_two_metrics_are_not_drawn_together(toy, trained):
    pytest.importorskip("matplotlib")
    assert toy("runs", "plot", "toy").code == 0
    done = toy("runs", "plot", "toy", "words", "-o", "both.svg")
    assert done.code == 1
    assert "toy is measured by accuracy and words by perplexity, and one axis cannot" in done.err
    assert not Path("both.svg").exists()


def test_any_model_is_evaluated(toy, trained):
    result = RunFolder.open("runs/toy").result()
    out = toy("evaluate", "toy", "--part", "test").out
    assert re.search(rf"accuracy +{accuracy(result.test)} \(higher is better\)", out)
    assert re.search(r"cross_entropy +0\.\d+", out)
    assert "rows of letters: 48 train" in out
    found = json.loads(toy("evaluate", "toy", "--part", "test", "--json", "-").out)["run"]
    assert (found["task"], found["part"], found["loss"]) == (KIND, "test", result.test)
    assert found["value"] == 100 * (1 - result.test)
    assert found["figures"].keys() == {"cross_entropy"}
    assert toy("evaluate", "toy", "--json", "f.json").out.endswith("\nf.json\n")
    assert json.loads(Path("f.json").read_text())["run"]["part"] == "valid"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--words"], "--words is for language models, and runs/toy has learned the task 'toy_tas"),
        (["--against", "words"], "--against is for two language models, taggers or models of"),
        (["--errors"], "--errors is for taggers and models of sentences, and runs/toy has "),
        (["--data", "nowhere"], "there is no data"),
    ],
)
def test_words_are_for_language_models(toy, trained, arguments, message):
    done = toy("evaluate", "toy", *arguments)
    assert done.code != 0
    assert message in done.err
    assert done.out == ""


def test_other_data_may_have_other_numbers_for_its_words(toy, trained, monkeypatch):
    own = toy("evaluate", "toy", "--data", "letters")
    assert own.code == 0, own.err
    other = SimpleNamespace(fingerprint="another")
    monkeypatch.setattr("cellwright.runs.texts.open_task", lambda *_: other)
    done = toy("evaluate", "toy", "--data", "letters")
    assert done.code == 1
    assert "letters is other data than runs/toy was trained on" in done.err


def test_a_language_model_is_not_set_against_another_task(toy, trained):
    done = toy("evaluate", "words", "--against", "toy")
    assert (done.code, "has learned the task 'toy_task:toy_kind'" in done.err) == (1, True)
    assert "for language models" in toy("similarity", "toy").err


def test_a_one_shot_search_speaks_of_accuracy(toy):
    done = toy("search", "enas.toml", "--seeds", "2", "--name", "found")
    assert done.code == 0, done.err
    assert "time   (accuracy, higher is better; train is the loss)" in done.out
    assert "what each seed found (accuracy, higher is better)" in done.out
    assert re.search(r"valid +accuracy [\d.]+ with the shared weights", done.out)
    rows = re.findall(r"^ +(\d) +([\d.]+) +([\d.]+) +[\d.]+ s  \w{16}", done.out, re.MULTILINE)
    assert len(rows) == 2
    assert float(rows[0][2]) >= float(rows[1][2])  # the better one is chosen


def test_a_study_speaks_of_accuracy(toy):
    pytest.importorskip("matplotlib")
    done = toy("search", "study.toml", "--executor", "in-process", "--baseline", "--name", "s")
    assert done.code == 0, done.err
    assert len(re.findall(r"^trial \d +accuracy [\d.]+ .* best [\d.]+ ", done.out, re.M)) >= 3
    assert re.search(r"^(.*) found the better cell by accuracy|^nobody won", done.out, re.M)
    assert "on the test data" in done.out
    assert "accuracy ↑" in toy("studies", "list").out
    shown = toy("studies", "show", "s").out
    assert "the first 24 sentences of train" in shown
    best = json.loads(toy("studies", "show", "s", "--json").out)
    assert best["metric"]["higher_is_better"] is True
    values = [trial["shown"] for trial in best["best"]]
    assert values == sorted(values, reverse=True)
    assert values == [100 * (1 - trial["value"]) for trial in best["best"]]
    assert re.search(rf"best accuracy +{values[0]:.2f} ", shown)
    row = json.loads(toy("studies", "list", "--json").out)[0]
    assert (row["shown"], row["best"]) == (values[0], best["best"][0]["value"])
    assert toy("studies", "plot", "s", "-o", "s.svg").code == 0


def test_a_benchmark_speaks_of_accuracy(toy):
    pytest.importorskip("scipy")
    build = ["bench", "build", "--recipe", "training.toml", "--cells", "4", "--seeds", "1",
             "--epochs", "2", "--space", "enas", "--space-set", "nodes=2", "--no-baselines",
             "--executor", "in-process", "-o", "toy.bench"]  # fmt: skip
    done = toy(*build)
    assert done.code == 0, done.err
    assert "valid and test are accuracy, higher is better" in done.out
    first = load("toy.bench").architecture(0).runs[0]
    assert f"valid {accuracy(first.valid.min())}, test {accuracy(first.best_test)}" in done.out

    info = toy("bench", "info", "toy.bench").out
    assert f"{KIND}: accuracy, higher is better" in info
    assert re.search(r"best test +accuracy [\d.]+ \(1 − accuracy 0\.\d+\): ", info)
    facts = json.loads(toy("bench", "info", "toy.bench", "--json").out)
    assert (facts["kind"], facts["metric"]["name"]) == (KIND, "accuracy")
    assert facts["best_test"]["value"] == 100 * (1 - facts["best_test"]["loss"])

    heading, first_line, *_, note = toy("bench", "top", "toy.bench").out.splitlines()
    assert "accuracy ↑" in heading
    assert note == "losses are 1 − accuracy: the lower, the better"
    rows = json.loads(toy("bench", "top", "toy.bench", "--json").out)
    values = [row["value"] for row in rows]
    assert values == sorted(values, reverse=True)
    assert rows[0]["name"] in first_line

    query = toy("bench", "query", "toy.bench", rows[0]["name"])
    assert "losses (1 − accuracy), test accuracy and time up to" in query.out
    [found] = json.loads(toy("bench", "query", "toy.bench", rows[0]["name"], "--json").out)
    values = found["runs"][0]["values"]
    assert values["test"] == 100 * (1 - found["runs"][0]["losses"]["test"])

    compared = toy("bench", "compare", "toy.bench", "-m", "random", "-m", "rs-50e", "-n", "2",
                   "-w", "1", "--hours", "1", "--no-figures")  # fmt: skip
    assert compared.code == 0, compared.err
    assert compared.out.startswith("final regret in 1 − accuracy after ")
    page = Path("bench-comparison/toy/report.html").read_text()
    assert "Losses are 1 − accuracy: the lower, the better; of accuracy itself, the higher" in page
    assert "erplexity" not in page

    analysed = toy("bench", "analyze", "toy.bench", "--only", "measures", "--no-figures").out
    assert "Parameters, time and test accuracy (Figure 4)" in analysed

    assert toy("bench", "export", "toy.bench", "logs", "-o", "logs.zip").code == 0
    imported = toy("bench", "import", "logs.zip", "-o", "again.bench")
    assert imported.code == 0, imported.err
    again = load("again.bench")
    assert (again.kind, again.metric) == (KIND, ACCURACY)
    assert again.settings == load("toy.bench").settings
