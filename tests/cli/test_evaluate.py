"""`cellwright evaluate`: the figures of training again, by word, and of two runs compared."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

from cellwright.runs.folder import RunFolder
from runs.support import write_corpus


def result(name: str):
    found = RunFolder.open(f"runs/{name}").result()
    assert found is not None
    return found


def figures(run, *arguments: str) -> dict:
    done = run("evaluate", *arguments, "--json", "-")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_the_figures_are_those_of_training(run, trained):
    trained("gru", "a")
    for part in ("valid", "test"):
        found = figures(run, "a", "--part", part)["run"]
        assert math.isclose(found["loss"], getattr(result("a"), part), rel_tol=1e-12)
        assert (found["cell"], found["data"], found["part"]) == ("gru", "text", part)
        assert found["epoch"] == result("a").best_epoch
    done = run("evaluate", "runs/a")
    assert re.search(rf"perplexity +{math.exp(result('a').valid):.1f} \(", done.out)
    assert "in training" not in done.out


def test_words_add_up(run, trained):
    trained("gru", "a")
    document = figures(run, "a", "--part", "train")
    words, whole = document["words"], document["run"]
    text = Path("text/train.txt").read_text().split()
    counts = {word["word"]: word["training_count"] for word in words}
    assert counts["w3"] == text.count("w3")
    assert sum(word["count"] for word in words) == whole["tokens"]
    assert math.isclose(sum(word["loss"] for word in words), whole["loss"] * whole["tokens"])
    classes = whole["by_training_count"]
    assert sum(group["tokens"] for group in classes) == whole["tokens"]
    assert math.isclose(sum(g["loss"] for g in classes), whole["loss"] * whole["tokens"])


def test_words_for_people(run, trained):
    trained("gru", "a")
    done = run("evaluate", "a", "--words", "--top", "3", width=80)
    assert max(map(len, done.out.splitlines())) <= 80
    table = done.out.partition("the words that cost most in all\n")[2].splitlines()
    assert table[0].split() == ["word", "in", "training", "here", "loss", "of", "loss"]
    assert len(table) == 4
    assert re.search(r"^10 or more +\d+ +\d+ +[\d.]+% +\d\.\d{4} +[\d.]+%", done.out, re.MULTILINE)


def test_two_runs_word_by_word(run, trained):
    trained("gru", "a")
    trained("rnn", "b", "--set", "training.learning_rate=0.05")
    done = run("evaluate", "a", "--against", "b", "--top", "4", "--least", "2", "--json", "x.json",
               width=80)  # fmt: skip
    assert done.code == 0, done.err
    assert done.out.endswith("\nx.json\n")
    assert max(map(len, done.out.splitlines())) <= 80
    document = json.loads(Path("x.json").read_text())
    change = document["run"]["loss"] - document["against"]["loss"]
    assert f"difference  {change:+.4f}  nats a word" in done.out
    for word in document["words"]:
        expected = (word["loss"] - word["loss_against"]) / word["count"]
        assert word["difference"] == expected
    improved = [
        w["word"]
        for w in sorted(document["words"], key=lambda w: w["difference"])
        if w["count"] >= 2 and w["difference"] < 0
    ][:4]
    shown = re.search(r"best improvements.*\n.*\n((?:.+\n)+)", done.out)
    assert shown is not None
    assert [line.split()[0] for line in shown[1].splitlines()] == improved
    frequent = done.out.partition("the most frequent words\n")[2].splitlines()[1:5]
    assert [line.split()[0] for line in frequent] == [w["word"] for w in document["words"][:4]]


def test_a_run_against_itself_is_no_better(run, trained):
    trained("gru", "a")
    out = run("evaluate", "a", "--against", "a").out
    assert "+0.0000" in out
    assert re.search(r"best improvements.*\nnone\n", out)


def test_runs_with_other_columns_are_measured_alike(run, trained):
    trained("gru", "a")
    trained("gru", "b", "--set", "training.evaluation_batch=6")
    out = run("evaluate", "a", "--against", "b").out
    assert "runs/b was measured in 6 columns in training, here in 4" in out


def test_another_text_in_the_words_of_the_model(run, trained):
    trained("gru", "a")
    write_corpus(Path("other"))
    Path("other/train.txt").write_text("w1 w2 w3 new words here w1\n" * 40)
    Path("other/valid.txt").write_text("w1 new w2 w19 w3\n" * 10)
    found = figures(run, "a", "--data", "other")
    # "new" is not in the model's vocabulary, and w19 not in the other corpus's.
    assert found["run"]["unknown"] == 20
    counts = {word["word"]: word["count"] for word in found["words"]}
    assert counts["<unk>"] >= 18
    assert "20 are not in the vocabulary" in run("evaluate", "a", "--data", "other").out


def test_a_text_that_has_moved_is_found_again(run, trained):
    trained("gru", "a")
    expected = figures(run, "a")["run"]["loss"]
    Path("text").rename("moved")
    gone = run("evaluate", "a")
    assert gone.code == 1
    assert "text: no such folder" in gone.err
    assert figures(run, "a", "--data", "moved")["run"]["loss"] == expected


def test_a_text_that_has_changed_is_refused(run, trained):
    trained("gru", "a")
    with open("text/train.txt", "a") as file:
        file.write("w1 w2\n")
    done = run("evaluate", "a")
    assert done.code == 1
    assert "runs/a was trained on other data than " in done.err
    assert "not measured on it" in done.err


def test_other_vocabularies_are_not_compared(run, trained, short):
    trained("gru", "a")
    write_corpus(Path("other"))
    Path("other/train.txt").write_text("w1 w2 w3 new words here w1\n" * 40)
    assert short("gru", "--data", "other", "--name", "b").code == 0
    done = run("evaluate", "a", "--against", "b")
    assert (done.code, done.out) == (1, "")
    assert "runs/a and runs/b have different vocabularies, of 2" in done.err


def test_errors_are_a_line(run, trained, short):
    path = trained("gru", "a")
    weights = (path / "best.safetensors").read_bytes()

    def error(*arguments: str) -> str:
        done = run("evaluate", *arguments)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("error: ")
        return done.err.splitlines()[0]

    assert "there is no run b" in error("b")
    assert "text is not a run" in error("text")
    assert "unknown corpus 'nothing'" in error("a", "--data", "nothing")
    assert "no/such/x.json: there is no folder no/such" in error("a", "--json", "no/such/x.json")
    (path / "best.safetensors").write_bytes(weights[:-50])
    assert "best.safetensors is damaged" in error("a")
    (path / "best.safetensors").unlink()
    assert "runs/a/best.safetensors is missing, the weights of epoch" in error("a")
    assert run("evaluate", "a", "--part", "dev").code == 2
    assert run("evaluate").code == 2


def test_weights_of_another_model_are_refused(run, trained):
    trained("gru", "a")
    trained("lstm", "b")
    Path("runs/a/best.safetensors").write_bytes(Path("runs/b/best.safetensors").read_bytes())
    done = run("evaluate", "a")
    assert done.code == 1
    assert "runs/a/best.safetensors belongs to another run" in done.err


def test_a_run_without_an_epoch(run, short):
    short("rnn", "--set", "training.optimizer=sgd", "--set", "training.learning_rate=1e6",
          "--name", "wild")  # fmt: skip
    assert "runs/wild has no weights yet" in run("evaluate", "wild").err


def test_the_awd_model_too(run, corpus):
    done = run(
        "train", "gru", "--data", "text", "--recipe", "nas-bench-nlp-ptb-laptop", "--name", "awd",
        *(word for setting in (
            "model.hidden=8", "model.embedding=6", "training.epochs=1", "training.batch=8",
            "training.evaluation_batch=4", "task.bptt=7",
        ) for word in ("--set", setting)), "--threads", "1",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = figures(run, "awd", "--part", "test")["run"]
    assert math.isclose(found["loss"], result("awd").test, rel_tol=1e-12)
