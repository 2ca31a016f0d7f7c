"""`cellwright predict`, and `evaluate --errors` and `--against` for sentences."""

from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path

import pytest

import cellwright as cw
from cellwright.api.results import TrainedRun
from cellwright.base.errors import UserError
from cellwright.tasks.sentences.use import Prediction
from cli.terminal import Terminal
from tiny_sentences import all_runs

TEXT = "a good film\n\nso dull\n"
TABLE = "sentence\tprediction\na good film\tyes\n\t{empty}\nso dull\tno\n"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return all_runs(tmp_path_factory.mktemp("sentences"))


@pytest.fixture
def predict(run, runs: Path):
    return lambda *arguments, **more: run("predict", *arguments, "--runs", str(runs), **more)


def rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


def test_a_row_for_each_line_of_text(predict) -> None:
    done = predict("films", stdin=TEXT)
    assert (done.code, done.err) == (0, "")
    empty = rows(done.out)[2][1]
    assert empty in ("yes", "no")
    assert done.out == TABLE.format(empty=empty)
    Path("text.txt").write_text(TEXT)
    assert predict("films", "text.txt").out == done.out
    saved = predict("films", "text.txt", "--out", "out.tsv")
    assert saved.out == "out.tsv\n"
    assert Path("out.tsv").read_text() == done.out
    assert sorted(path.name for path in Path().iterdir()) == ["out.tsv", "text.txt"]


def test_json_lines_with_probabilities(predict) -> None:
    found = [json.loads(line) for line in
             predict("films", "--format", "json", stdin=TEXT).out.splitlines()]  # fmt: skip
    assert [one["sentence"] for one in found] == ["a good film", "", "so dull"]
    assert [found[0]["prediction"], found[2]["prediction"]] == ["yes", "no"]
    for one in found:
        shares = one["probabilities"]
        assert list(shares) == ["no", "yes"]
        assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
        assert one["prediction"] == max(shares, key=shares.get)
    [one] = map(
        json.loads, predict("pairs", "-", "--format", "json", stdin="a\tb").out.splitlines()
    )
    assert {**one, "prediction": 0} == {"sentence1": "a", "sentence2": "b", "prediction": 0}
    assert 1 <= one["prediction"] <= 5


@pytest.mark.parametrize(
    ("name", "text", "more"),
    [
        ("a.tsv", 'n\tSentence\tlabel\n1\ta good film\tno\n\n2\tso "dull\tx\n', []),
        ("a.csv", 'text,n\n"a good film",1\n"so ""dull",2\n', []),
        ("a.csv", 'n;text\n1;a good film\n2;so "dull\n'.replace('so "dull', '"so ""dull"'),
         ["--input", "semicolons"]),
        ("a.jsonl", '{"n": 1, "text": "a good film"}\n{"text": "so \\"dull", "n": null}\n', []),
        ("a.tsv", 'n\tcomment\n1\ta good film\n2\tso "dull\n', ["--first", "comment"]),
        ("a.tsv", 'a good film\t1\nso "dull\t2\n', ["--first", "1"]),
        ("a.txt", 'sentence1\tsentence2\na good film\tx\nso "dull\ty\n',
         ["--input", "tabs", "--second", "none"]),
        ("a.tsv", 'a good film\nso "dull\n', ["--input", "text"]),
        ("a.txt", '\ufeffa good film\r\nso "dull', []),
    ],
)  # fmt: skip
def test_tables_of_any_kind(predict, name: str, text: str, more: list[str]) -> None:
    Path(name).write_bytes(text.encode())
    done = predict("films", name, *more)
    assert (done.code, done.err) == (0, "")
    assert rows(done.out)[1:] == [["a good film", "yes"], ['so "dull', "no"]]
    if not {"tabs", "semicolons"} & {*more}:
        said = {".csv": "commas", ".jsonl": "json", ".txt": "text"}.get(Path(name).suffix, "tabs")
        given = more if "--input" in more else [*more, "--input", said]
        assert predict("films", *given, stdin=text.encode()).out == done.out


def test_pairs_with_the_columns_of_training(predict, runs: Path) -> None:
    done = predict("pairs", str(runs.parent / "two" / "test.csv"))
    found = rows(done.out)
    assert found[0] == ["sentence1", "sentence2", "prediction"]
    assert len(found) == 23
    text = "".join(f"{first}\t{second}\r\n" for first, second, _ in found[1:])
    assert predict("pairs", stdin=text).out == done.out
    Path("x.csv").write_text("x,other\na,b\n")
    assert rows(predict("pairs", "x.csv", "--first", "x").out)[1][:2] == ["a", "b"]


def test_a_row_stays_a_row(predict) -> None:
    Path("a.csv").write_text('text\n"good\nfilm\tx"\n"bad\u2028film"\n')
    found = predict("films", "a.csv").out.splitlines()
    assert [line.split("\t")[0] for line in found[1:]] == ["good film x", "bad film"]
    [first, _] = predict("films", "a.csv", "--format", "json").out.split("\n")[:-1]
    assert json.loads(first)["sentence"] == "good\nfilm\tx"


def test_rubbish_is_answered(predict) -> None:
    draw = random.Random(0)
    lines = [draw.randbytes(draw.randint(0, 60)).replace(b"\n", b"") for _ in range(300)]
    Path("rubbish").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([*lines, b"a " * 9000, b"\0"]))
    for format in ("tsv", "json"):
        done = predict("films", "rubbish", "--format", format)
        assert (done.code, done.err) == (0, "")
        assert len(done.out.split("\n")) == 303 + (format == "tsv")


def test_nothing_in_nothing_out(predict) -> None:
    assert predict("films", stdin="").out == "sentence\tprediction\n"
    assert predict("films", "--format", "json", stdin="").out == ""
    Path("a.tsv").write_text("sentence\tlabel\n")
    assert predict("films", "a.tsv").out == "sentence\tprediction\n"


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        (["nobody"], "a", "there is no run nobody"),
        (["films", "no.txt"], "", "cannot read no.txt: no such file"),
        (["films", "."], "", "cannot read .: is a directory"),
        (["films", "-o", "no/such"], "a", "there is no folder no"),
        (["films", "--input", "text", "--first", "x"], "a", "--first is for tables"),
        (["films", "a.tsv"], "x\ty\n1\t2\n", "a.tsv: line 1 names no column with a sentence"),
        (["films", "a.tsv", "--first", "q"], "x\ty\n1\t2\n", "line 1 has no column 'q'; its"),
        (["films", "a.tsv", "--first", "3"], "x\ty\n1\t2\n", "has 2 columns, and no column 3"),
        (["films", "a.tsv"], "", "a.tsv is empty"),
        (["films", "a.tsv"], "text\tn\na\n", "a.tsv: line 2 has 1 column, and should have 2"),
        (["films", "a.tsv"], "sentence1\tsentence2\na\tb\n", "a.tsv has pairs of sentences a row"),
        (["films", "a.csv"], 'text\n"a"b\n', "a.csv: line 2: "),
        (["films", "a.jsonl"], "[1]\n", "a.jsonl: line 1 is no JSON object"),
        (["films", "a.jsonl"], '{"text": 3}\n', "a.jsonl: line 1: text is 3, and no sentence"),
        (["pairs", "a.csv"], "x,y\n1,2\n", "has no column 'one'"),
        (["pairs"], "a\tb\n\na\n", "standard input: line 3 has no tab"),
        (["pairs"], "a\tb\tc\n", "line 1 has 2 tabs; a pair is two sentences"),
    ],
)
def test_errors_are_a_line(predict, arguments: list[str], text: str, message: str) -> None:
    if arguments[1:] and arguments[1].startswith("a."):
        Path(arguments[1]).write_text(text)
    done = predict(*arguments, stdin=text)
    assert done.code != 0
    assert done.out == ""
    assert message in done.err.splitlines()[0]


def test_nothing_is_left_of_a_file_that_cannot_be_read_to_its_end(predict) -> None:
    Path("old.tsv").write_text("old")
    done = predict("pairs", "-o", "old.tsv", stdin="a\tb\n" * 3000 + "a\n")
    assert "line 3,001 has no tab" in done.err
    assert Path("old.tsv").read_text() == "old"
    assert [path.name for path in Path().iterdir()] == ["old.tsv"]


def test_who_types_is_answered_at_once(folder, runs: Path) -> None:
    with Terminal("predict", str(runs / "films"), typed=True) as screen:
        screen.type("a good film\n")
        screen.read_until(r"a good film\s+yes")
        screen.type("dull\x16\x1b[2J\n")
        screen.read_until(r"dull\\x1b\[2J\s+no")


def test_the_examples_of_the_help_run(run, runs: Path) -> None:
    Path("runs").symlink_to(runs)
    Path("reviews.txt").write_text(TEXT)
    Path("new.csv").write_text("id,comment\n1,a good film\n")
    text = run("predict", "--help").out
    lines = [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("$ ")]
    assert len(lines) >= 3
    for line in lines:
        typed, _, command = line.rpartition(" | ")
        done = run(*shlex.split(command)[1:], stdin=typed)
        assert done.code == 0, done.err
    assert Path("found.tsv").read_text() == "sentence\tprediction\na good film\tyes\n"


def test_from_python(runs: Path) -> None:
    found = cw.predict("films", ["a good film", ("so dull",)], runs=runs)
    assert [str(one) for one in found] == ["yes", "no"]
    assert isinstance(found[0], Prediction)
    assert found[0].probabilities["yes"] > 0.5
    loaded = cw.load("pairs", runs=runs)
    assert isinstance(loaded, TrainedRun)
    [one] = cw.predict(loaded, [("a", "b")])
    assert one.label is None
    assert one.score == next(loaded.predictor.predict(iter([["a", "b"]]))).score
    with pytest.raises(UserError, match="examples are a list"):
        cw.predict(loaded, "a")
    for wrong in ("a", ("a",), ("a", "b", "c"), ("a", 3), None, 3):
        with pytest.raises(UserError, match="an example is a pair of sentences"):
            cw.predict(loaded, [wrong])  # type: ignore[list-item]


def test_runs_of_other_tasks(run, runs: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"learned the task 'sentences', and this is for taggers"):
        cw.tag("films", [["a"]], runs=runs)
    small = {"model.hidden": 4, "training.batch": 64, "task.bptt": 100}
    cw.train("rnn", "builtin", settings=small, epochs=1, name="words", out=tmp_path, progress=False)
    done = run("predict", str(tmp_path / "words"), stdin="a")
    assert "has learned the task 'language', and this is for models of sentences" in done.err


# -- evaluate ----------------------------------------------------------------------------------


@pytest.fixture
def evaluate(run, runs: Path):
    return lambda *arguments: run("evaluate", *arguments, "--runs", str(runs))


def test_errors_of_labels(evaluate) -> None:
    done = evaluate("weak", "--errors", "--top", "2", "--json", "e.json")
    assert done.code == 0, done.err
    document = json.loads(Path("e.json").read_text())
    errors, worth = document["errors"], document["run"]
    counts = errors["confusion"]["examples"]
    right = sum(counts[n][n] for n in range(2))
    assert sum(map(sum, counts)) == 30
    assert worth["value"] == pytest.approx(100 * right / 30)
    assert len(errors["errors"]) == 30 - right
    assert [row["label"] for row in errors["by_label"]] == ["no", "yes"]
    assert errors["by_label"][1]["f1"] == pytest.approx(worth["figures"]["F1"])
    sure = [one["probability"] for one in errors["errors"]]
    assert sure == sorted(sure, reverse=True)
    assert all(one["true"] != one["said"] for one in errors["errors"])
    for title in ("labels", "examples by their true label", "most surely wrong"):
        assert f"\n{title}" in done.out
    assert done.out.count(errors["errors"][0]["sentences"][0]) == 1
    perfect = evaluate("films", "--errors")
    assert "most surely wrong: nothing is\nnone\n" in perfect.out


def test_errors_of_scores(evaluate) -> None:
    done = evaluate("pairs", "--errors", "--part", "test", "--top", "3", "--json", "e.json")
    assert done.code == 0, done.err
    errors = json.loads(Path("e.json").read_text())["errors"]
    labels = [row["label"] for row in errors["by_score"]]
    assert labels == ["1 to below 2", "2 to below 3", "3 to below 4", "4 to 5"]
    assert sum(row["examples"] for row in errors["by_score"]) == len(errors["errors"]) == 22
    assert errors["by_score"][1]["mean_error"] is None
    worst = errors["errors"][0]
    assert worst["error"] == pytest.approx(worst["said"] - worst["true"])
    assert abs(worst["error"]) == max(abs(one["error"]) for one in errors["errors"])
    assert len(worst["sentences"]) == 2
    assert re.search(r"^2 to below 3 +0 +– +– +– +–$", done.out, re.MULTILINE)
    assert f"{worst['error']:+.3f}" in done.out


def test_two_models_of_labels(evaluate) -> None:
    done = evaluate("films", "--against", "weak", "--json", "x.json")
    assert done.code == 0, done.err
    document = json.loads(Path("x.json").read_text())
    compared, found = document["compared"], document["compared"]["found"]
    assert sum(found.values()) == 30
    mine = found["by both"] + found["only by the run"]
    assert document["run"]["value"] == pytest.approx(100 * mine / 30)
    for classes in (compared["by_length"], compared["by_unseen"]):
        assert sum(one["examples"] for one in classes) == 30
        total = sum(one["examples"] * one["accuracy"] for one in classes)
        assert total == pytest.approx(mine)
    assert f"by both {found['by both']:,}, only by the run" in done.out
    assert [one["label"] for one in compared["by_length"]] == ["1 to 9", "10 to 19"]


def test_two_models_of_scores(evaluate) -> None:
    done = evaluate("pairs", "--against", "other", "--json", "x.json")
    assert done.code == 0, done.err
    compared = json.loads(Path("x.json").read_text())["compared"]
    assert sum(compared["closer"].values()) == 22
    total = sum(one["examples"] * one["mean_absolute_error"] for one in compared["by_length"])
    assert total / 22 == pytest.approx(compared["mean_absolute_error"]["run"])
    assert "mean absolute error  " in done.out


def test_only_models_of_the_same_examples_are_compared(evaluate) -> None:
    done = evaluate("films", "--against", "pairs")
    assert done.code != 0
    assert "only those of the same data can be compared" in done.err
