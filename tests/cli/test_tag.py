"""`cellwright tag`, and `evaluate --errors` and `--against` for taggers."""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import cellwright as cw
from cellwright.api.results import TrainedRun
from cellwright.base.errors import UserError
from cellwright.tasks.tagging.use import TaggedSentence
from cli.terminal import Terminal

ROWS = (
    "Ann B-PER\nlives O\nin O\nNew B-LOC\nYork I-LOC\n. O\n\n"
    "Bob B-PER\nleft O\nOslo B-LOC\n\nNew B-LOC\nYork I-LOC\n\n"
)
RECIPE = """
[task]
kind = "tagging"
data = "{data}"
embeddings = [{{kind = "table", width = 8, least = 1}}, {{kind = "characters", dropout = 0.0}}]
[model]
hidden = 8
dropout_input = 0.0
dropout_output = 0.0
dropout_words = 0.0
[training]
optimizer = "adam"
learning_rate = 0.05
weight_decay = 0.0
batch = 3
epochs = 15
average_after = "none"
"""
TEXT = "Ann lives in New York.\n\nBob left Oslo\n"
SPANS = [("PER", 0, 1), ("LOC", 3, 5)]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger that has learned, one that has not, and a language model."""
    root: Path = tmp_path_factory.mktemp("taggers")
    data = root / "people"
    data.mkdir()
    for part in ("train", "valid", "test"):
        (data / f"{part}.txt").write_text(ROWS)
    (root / "ner.toml").write_text(RECIPE.format(data=data))
    for name, epochs in (("ner", 15), ("weak", 1)):
        cw.train("gru", recipe=root / "ner.toml", name=name, epochs=epochs, out=root / "runs",
                 progress=False)  # fmt: skip
    small = {"model.hidden": 4, "training.batch": 64, "task.bptt": 100}
    cw.train("rnn", "builtin", settings=small, epochs=1, name="words", out=root / "runs",
             progress=False)  # fmt: skip
    return root / "runs"


@pytest.fixture
def tag(run, runs: Path):
    return lambda *arguments, **more: run("tag", *arguments, "--runs", str(runs), **more)


def test_columns_are_what_a_pipe_gets(tag) -> None:
    done = tag("ner", stdin=TEXT)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "Ann S-PER\nlives O\nin O\nNew B-LOC\nYork E-LOC\n. O\n\n"
        "\nBob S-PER\nleft O\nOslo S-LOC\n\n"
    )


def test_json_lines(tag) -> None:
    Path("news.txt").write_text(TEXT)
    done = tag("ner", "news.txt", "--format", "json")
    first, empty, second = map(json.loads, done.out.splitlines())
    assert first["words"] == ["Ann", "lives", "in", "New", "York", "."]
    assert [(s["type"], s["start"], s["end"]) for s in first["spans"]] == SPANS
    assert len(first["probabilities"]) == 6
    assert all(0.5 < share <= 1 for share in first["probabilities"])
    assert empty == {"words": [], "tags": [], "spans": [], "probabilities": []}
    assert second["tags"] == ["S-PER", "O", "S-LOC"]


def test_text_and_files(tag) -> None:
    done = tag("ner", "--format", "text", stdin=TEXT)
    assert done.out == "[Ann]PER lives in [New York]LOC .\n\n[Bob]PER left [Oslo]LOC\n"
    done = tag("ner", "-", "--format", "text", "-o", "out.txt", stdin=TEXT.encode())
    assert done.out == "out.txt\n"
    assert Path("out.txt").read_text().startswith("[Ann]PER lives")
    assert [path.name for path in Path().iterdir()] == ["out.txt"]


def test_column_files_and_how_text_is_split(tag) -> None:
    Path("test.conll").write_text("x Ann\nx left\n\nx Oslo\n")
    done = tag("ner", "test.conll", "--input", "columns", "--word", "2")
    assert done.out == "Ann S-PER\nleft O\n\nOslo S-LOC\n\n"
    done = tag("ner", "--split", "spaces", stdin="Ann lives in New York.")
    assert [line.split(" ")[0] for line in done.out.splitlines()[:-1]] == [
        "Ann", "lives", "in", "New", "York.",
    ]  # fmt: skip


@pytest.mark.parametrize("way", [["text"], ["text", "--split", "spaces"], ["columns"]])
def test_rubbish_is_tagged(tag, way: list[str]) -> None:
    draw = random.Random(0)
    lines = [draw.randbytes(draw.randint(0, 60)).replace(b"\n", b"") for _ in range(300)]
    Path("rubbish").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([*lines, b"a " * 9000, b"\0"]))
    done = tag("ner", "rubbish", "--format", "json", "--input", *way)
    assert (done.code, done.err) == (0, "")
    found = [json.loads(line) for line in done.out.split("\n")[:-1]]
    assert way == ["columns"] or len(found) == 302
    assert all(len(one["words"]) == len(one["tags"]) for one in found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["words"], "words has learned the task 'language', and this is for taggers"),
        (["nobody"], "there is no run nobody"),
        (["ner", "no.txt"], "cannot read no.txt: no such file"),
        (["ner", "."], "cannot read .: is a directory"),
        (["ner", "--word", "2"], "--word is for --input columns"),
        (["ner", "--input", "columns", "--split", "words"], "--split is for --input text"),
        (["ner", "--input", "columns", "--word", "5"], "line 1 has no column 5"),
        (["ner", "-o", "no/such"], "there is no folder no"),
    ],
)
def test_errors_are_a_line(tag, arguments: list[str], message: str) -> None:
    done = tag(*arguments, stdin="Ann lives\n")
    assert done.code != 0
    assert done.out == ""
    assert message in done.err.splitlines()[0]


def test_nothing_is_left_of_a_file_that_cannot_be_read_to_its_end(tag) -> None:
    Path("old.txt").write_text("old")
    done = tag("ner", "--input", "columns", "--word", "2", "-o", "old.txt", stdin="a b\n\na\n")
    assert "line 3 has no column 2" in done.err
    assert Path("old.txt").read_text() == "old"
    assert [path.name for path in Path().iterdir()] == ["old.txt"]


def test_a_closed_pipe_ends_it_quietly(shell, runs: Path) -> None:
    Path("many.txt").write_text("Ann lives in New York .\n" * 5_000)
    done = shell(f"set +o pipefail; cellwright tag '{runs / 'ner'}' many.txt | head -n 1")
    assert (done.code, done.out, done.err) == (0, "Ann S-PER\n", "")


def test_a_terminal_shows_colours_and_no_control_characters(folder, runs: Path) -> None:
    Path("news.txt").write_text("Ann left\x1b[2J New York\n")
    with Terminal("tag", str(runs / "ner"), "news.txt") as screen:
        screen.read_until(r"LOC")
        assert "Ann PER left" in screen.seen
        assert r"\x1b" in screen.seen


def test_the_examples_of_the_help_run(run, runs: Path) -> None:
    Path("runs").symlink_to(runs)
    Path("news.txt").write_text(TEXT)
    Path("test.conll").write_text(ROWS)
    text = run("tag", "--help").out
    lines = [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("$ ")]
    assert len(lines) >= 3
    for line in lines:
        typed, _, command = line.rpartition(" | ")
        done = run(*shlex.split(command)[1:], stdin=typed)
        assert done.code == 0, done.err
    assert Path("tagged.conll").read_text().count("S-PER") == 2


def test_from_python(runs: Path) -> None:
    found = cw.tag("ner", ["Ann lives in New York.", ["Bob"]], runs=runs)
    assert [str(one) for one in found] == ["[Ann]PER lives in [New York]LOC .", "[Bob]PER"]
    assert isinstance(found[0], TaggedSentence)
    loaded = cw.load("ner", runs=runs)
    assert isinstance(loaded, TrainedRun)
    [one] = cw.tag(loaded, [["Ann"]], probabilities=True)
    assert one.probabilities is not None
    assert one.probabilities[0] > 0.5
    assert next(loaded.tagger.tag(iter(["Ann"]))).tags == ("S-PER",)
    with pytest.raises(UserError, match="sentences are a list"):
        cw.tag(loaded, "Ann")
    with pytest.raises(UserError, match="this is for taggers"):
        cw.tag("words", [["Ann"]], runs=runs)


# -- evaluate ----------------------------------------------------------------------------------


@pytest.fixture
def evaluate(run, runs: Path):
    return lambda *arguments: run("evaluate", *arguments, "--runs", str(runs))


def test_errors_of_a_tagger(evaluate) -> None:
    done = evaluate("weak", "--errors", "--top", "2", "--json", "e.json")
    assert done.code == 0, done.err
    document = json.loads(Path("e.json").read_text())
    errors, figures = document["errors"], document["run"]["figures"]
    assert sum(errors["kinds"].values()) == len(errors["errors"]) > 0
    assert sum(map(sum, errors["confusion"]["words"])) == 11
    for row in errors["by_type"]:
        assert row["f1"] == figures[f"F1 of {row['type']}"]
    for title in ("spans by type", "what is wrong", "words by their true type", "examples"):
        assert f"\n{title}" in done.out
    perfect = evaluate("ner", "--errors")
    assert "examples: nothing is wrong\nnone\n" in perfect.out
    assert re.search(r"^all +5 +5 +100.00 +100.00 +100.00 +0 +–$", perfect.out, re.MULTILINE)


def test_two_taggers_by_frequency(evaluate) -> None:
    done = evaluate("ner", "--against", "weak", "--json", "x.json")
    assert done.code == 0, done.err
    document = json.loads(Path("x.json").read_text())
    better = document["run"]["value"] - document["against"]["value"]
    assert better > 0
    assert f"the run is   {better:.2f} better" in done.out
    found = document["compared"]["found"]
    assert sum(found.values()) == 5
    assert found["only by the other"] == 0
    classes = document["compared"]["by_training_count"]
    assert sum(one["spans"]["true"] for one in classes) == 5
    assert re.search(r"^1 or more +11 +5 +100.00 ", done.out, re.MULTILINE)


def test_what_is_for_taggers_and_what_is_not(evaluate) -> None:
    for arguments, message in (
        (["words", "--errors"], "--errors is for taggers and models of sentences, and "),
        (["ner", "--words"], "--words is for language models, and "),
        (["ner", "--against", "words"], "words has learned the task 'language'"),
        (["words", "--against", "ner"], "ner has learned the task 'tagging'"),
    ):
        done = evaluate(*arguments)
        assert done.code != 0
        assert done.out == ""
        assert message in done.err
