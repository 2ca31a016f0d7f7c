"""The whole system from Python: what comes back, what is kept, and what is said if it is wrong."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cellwright as cw
from cellwright.api import Watcher
from cellwright.api.progress import Lines, Screen
from cellwright.base.errors import UserError
from cellwright.runs.errors import Stopped
from cellwright.runs.texts import evaluate, text_for
from cellwright.runs.trained import load_trained
from cellwright.search.one_shot.searching import run_search
from cellwright.search.studies import start
from runs.support import write_corpus

SMALL = {"model.hidden": 6, "training.batch": 4, "training.evaluation_batch": 4, "task.bptt": 8}
SEARCH = {
    "model.hidden": 6, "search.nodes": 2, "search.rounds": 1, "search.batch": 4,
    "search.evaluation_batch": 4, "task.bptt": 8, "selection_cells": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_corpus(tmp_path_factory.mktemp("corpus") / "small"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def trained(text: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("runs")
    return cw.train("gru", text, settings=SMALL, epochs=2, name="a", out=out, progress=False)


def train(text: str, **more: Any) -> Any:
    settings = {**SMALL, **more.pop("settings", {})}
    return cw.train("gru", text, settings=settings, progress=False, **more)


# -- trainings -------------------------------------------------------------------------------------


def test_a_run_has_a_cell_a_curve_a_status_and_a_cost(trained: Any):
    assert trained.cell == cw.zoo["gru"]
    assert [record.epoch for record in trained.curve] == [1, 2]
    assert trained.status == "ok"
    assert trained.cost.parameters == sum(p.numel() for p in trained.model.parameters())
    assert trained.cost.seconds > 0
    assert trained.metric.name == "perplexity"
    best = min(trained.curve, key=lambda record: record.valid)
    assert trained.valid == trained.metric.value(best.valid)
    assert trained.test == trained.metric.value(best.test)


def test_a_run_is_loaded_by_its_folder(trained: Any):
    again = cw.load(trained.path)
    assert again.curve == trained.curve
    assert again.title == trained.title
    with pytest.raises(UserError, match="there is no run"):
        cw.load("nothing-here")


def test_evaluating_measures_what_training_measured(trained: Any):
    found = cw.evaluate(trained, "valid")
    assert found.value == trained.valid
    assert str(found).startswith("perplexity ")
    assert cw.evaluate(trained.path).value == trained.test


def test_another_text_is_read_in_the_words_of_the_model(trained: Any, tmp_path: Path):
    write_corpus(tmp_path)
    (tmp_path / "train.txt").write_text("other w9 words w3 first here w1\n" * 40)
    found = cw.evaluate(trained, "valid", data=str(tmp_path))
    own = load_trained(trained.path)
    text = text_for(own, "valid", str(tmp_path))
    assert text.unknown > 0
    assert found.loss == evaluate(own, text).words.mean


def test_a_run_shows_itself(trained: Any):
    page = trained._repr_html_()
    assert "<svg" in page
    assert "perplexity" in page
    assert "<table>" in page
    assert [row["epoch"] for row in trained.rows()] == [1, 2]
    assert "perplexity" in repr(trained)


def test_tables_are_those_of_pandas_where_it_is_there(trained: Any, monkeypatch):
    class Pandas:
        @staticmethod
        def DataFrame(rows: Any) -> Any:  # noqa: N802
            return ("a table", rows)

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert trained.table() == trained.rows()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "pandas", Pandas)
    assert trained.table() == ("a table", trained.rows())


def test_a_training_that_was_stopped_goes_on(text: str):
    class StopsOnce(Watcher):
        def training(self, folder: Any, resumed: bool) -> Any:
            from contextlib import nullcontext

            def press(event: Any) -> None:
                if not resumed and event.ends_epoch:
                    import os
                    import signal

                    os.kill(os.getpid(), signal.SIGINT)

            return nullcontext(press)

    with pytest.raises(Stopped):
        cw.train("gru", text, settings=SMALL, epochs=3, name="s", watcher=StopsOnce())
    there = cw.load("s")
    assert there.status == "stopped"
    assert len(there.curve) >= 1
    ended = cw.train(resume="s", progress=False)
    whole = train(text, epochs=3, name="whole")
    assert [r.valid for r in ended.curve] == [r.valid for r in whole.curve]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "a cell is missing"),
        ({"cell": "gruu"}, "there is no cell 'gruu'; did you mean 'gru'"),
        ({"cell": 7}, "a cell is a Cell, a name of the zoo or a file, not a int"),
        ({"cell": "gru", "settings": {"model.hiden": 4}}, "did you mean 'model.hidden'"),
        ({"cell": "gru", "settings": "model.hidden=4"}, "settings are a dictionary or a list"),
        ({"cell": "gru", "settings": {"model.hidden": object()}}, "a number, a word or a list"),
        ({"cell": "gru", "task": 7}, "a task is data by name, or a dictionary"),
        ({"cell": "gru", "task": "no-such-folder"}, "no-such-folder"),
        ({"cell": "gru", "recipe": "ess-ptb"}, "ess-ptb"),
        ({"cell": "gru", "resume": "x"}, "leave out the rest"),
        ({"resume": "x"}, "there is no run"),
    ],
)
def test_what_is_wrong_is_said(arguments: dict[str, Any], message: str):
    with pytest.raises(UserError, match=message):
        cw.train(**arguments, progress=False)
    assert not Path("runs").exists()


def test_a_cell_comes_from_the_zoo_or_a_file(tmp_path: Path):
    path = tmp_path / "mine.json"
    path.write_text(cw.zoo["rnn"].to_json())
    assert cw.as_cell(path) == cw.as_cell("rnn") == cw.as_cell(cw.zoo["rnn"])
    path.write_text("nonsense")
    with pytest.raises(UserError):
        cw.as_cell(path)


# -- searches and comparisons --------------------------------------------------------------------


def test_a_one_shot_search_gives_its_cell(text: str):
    found = cw.search("ess-laptop", text, settings=SEARCH, name="f", progress=False)
    assert found.status == "ok"
    assert found.cell == cw.as_cell("searches/f/found.json")
    assert found.cost.seconds > 0
    assert len(found.curve) == found.curve[-1]["epoch"]
    assert "<svg" in found._repr_html_()
    assert found.rows()[0]["cell"] == found.cell.id
    with pytest.raises(UserError, match="nothing to resume"):
        cw.search(resume="f", progress=False)


def test_a_study_gives_its_best_cell(text: str):
    settings = {"method.epochs": 1, "text.train": 200, "text.valid": 100}
    found = cw.search(
        "studies-laptop", text, settings=settings, trials=3, executor="in-process", progress=False
    )
    assert found.ledger.trials == 3
    assert len(found.rows()) == 3
    assert found.cell is not None
    assert found.cell.id == found.ledger.best.cell_id
    assert found.title.startswith("study studies-laptop-0: 3 trials, best perplexity ")
    assert Path(found.folder, "best.json").exists()
    assert "<svg" in found._repr_html_()


@pytest.mark.parametrize(
    ("evaluator", "status", "words"),
    [
        ("gone", "failed", "2 trials, no cell: failed: trial 0 and 1 more: RuntimeError: the data"),
        ("exploding", "diverged", "2 trials, no cell: diverged"),
    ],
)
def test_a_study_without_a_cell_says_why(
    text: str, monkeypatch: pytest.MonkeyPatch, evaluator: str, status: str, words: str
):
    monkeypatch.setattr(start, "EVALUATOR", f"trials.evaluators:{evaluator}")
    found = cw.search("studies-laptop", text, trials=2, executor="in-process", progress=False)
    assert (found.status, found.cell, found.folder) == (status, None, None)
    assert words in found.title
    assert bool(found.failures) == (status == "failed")
    assert "no cell" in found._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "a recipe is missing"),
        ({"recipe": "laptop"}, "laptop"),
        ({"recipe": "ess-laptop", "trials": 3}, "one-shot search: leave out trials"),
        ({"recipe": "studies-laptop", "seeds": 2}, "a study: leave out seeds"),
        ({"recipe": "ess-laptop", "resume": "x"}, "leave out the rest"),
        ({"recipe": "esss-laptop"}, "did you mean"),
    ],
)
def test_a_search_says_what_is_wrong(arguments: dict[str, Any], message: str):
    with pytest.raises(UserError, match=message):
        cw.search(**arguments, progress=False)


def test_a_comparison_has_words_and_a_table(text: str):
    found = cw.compare(
        ["gru", cw.zoo["rnn"]], text, recipe="laptop", settings=SMALL, epochs=1, seeds=2,
        executor="in-process", progress=False,
    )  # fmt: skip
    assert found.status == "ok"
    assert not found.failures
    rows = found.rows()
    assert {row["cell"] for row in rows} == {"gru", "rnn"}
    assert rows[0]["valid"] <= rows[1]["valid"]
    assert found.cell.name == rows[0]["cell"]
    assert "lowest mean validation perplexity" in found.words[0]
    assert "<svg" in found._repr_html_()
    assert found.report.exists()
    assert {len(curves) for curves in found.curve.values()} == {2}


def test_models_of_the_same_size(text: str):
    """Each as wide as fits into what the LSTM's model has at the recipe's width."""
    how = {"recipe": "laptop", "settings": {**SMALL, "model.hidden": 12}, "epochs": 1, "seeds": 1,
           "executor": "in-process", "progress": False}  # fmt: skip
    found = cw.compare(["rnn", "lstm", "gru"], text, parameters="lstm", **how)
    widths = {one.label: one.width for one in found.plan.contenders}
    assert widths["lstm"] == 12
    assert widths["rnn"] > widths["gru"] > 12
    sizes = {row["cell"]: row["parameters"] for row in found.rows()}
    assert all(0.9 * sizes["lstm"] < size <= sizes["lstm"] for size in sizes.values())
    again = cw.compare(["rnn", "lstm", "gru"], text, parameters=sizes["lstm"], **how)
    assert {one.label: one.width for one in again.plan.contenders} == widths
    for wrong in (0, True, "0", "lsdm"):
        with pytest.raises(UserError, match=r"parameters are a number from 1 on|did you mean"):
            cw.compare(["gru"], text, parameters=wrong, out="wrong", **how)


def test_a_comparison_without_a_result_has_no_best_cell(text: str, monkeypatch):
    def fail(**_: Any) -> None:
        raise RuntimeError("the data is gone")

    how = {"recipe": "laptop", "epochs": 1, "seeds": 1, "executor": "in-process", "progress": False}
    settings = {**SMALL, "training.learning_rate": 1e6}
    diverged = cw.compare(["gru"], text, settings=settings, out="wild", **how)
    assert (diverged.status, diverged.cell) == ("diverged", None)
    assert diverged.words[0] == "No cell has a result: every training diverged."
    assert "its mean" not in " ".join(diverged.words).lower()
    monkeypatch.setattr("cellwright.compare.job.train_run", fail)
    failed = cw.compare(["gru"], text, settings=SMALL, out="failed", **how)
    assert (failed.status, failed.cell) == ("failed", None)
    assert failed.words[0] == "No cell has a result: every training failed."
    assert "the data is gone" in failed.failures[0].why


# -- the package -----------------------------------------------------------------------------------


def test_the_front_door_is_where_folders_have_the_same_names():
    import cellwright.compare.plan as plan
    import cellwright.search.studies.recipes as recipes

    assert callable(cw.search)
    assert callable(cw.compare)
    assert recipes.load_study_recipe("studies-laptop").trials == 12
    assert plan.FILE == "comparison.json"
    assert "recipe" in inspect.signature(cw.search).parameters
    assert cw.search.studies.recipes is recipes


def test_looking_at_cells_needs_no_torch():
    code = (
        "import sys, cellwright as cw; cw.zoo['gru']; cw.__version__; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_all_that_is_promised_is_there():
    for name in cw.__all__:
        assert getattr(cw, name) is not None
    assert cw.__version__[0].isdigit()
    with pytest.raises(AttributeError, match="has no attribute 'tain'"):
        cw.tain  # noqa: B018


# -- progress --------------------------------------------------------------------------------------


class Kept(Screen):
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.changes: list[str] = []

    def keep(self, line: str) -> None:
        self.lines.append(line)

    def change(self, line: str) -> None:
        self.changes.append(line)


def test_progress_is_a_line_for_each_epoch_and_one_that_changes(text: str):
    screen = Kept()
    cw.train("rnn", text, settings=SMALL, epochs=2, name="p", watcher=Lines(screen))
    assert sum("epoch" in line and "valid" in line for line in screen.lines) == 2
    assert any("step 1 of" in line for line in screen.changes)
    assert screen.changes[-1] == ""


def test_nothing_is_shown_where_nobody_looks(text: str, capfd: pytest.CaptureFixture):
    cw.train("rnn", text, settings=SMALL, epochs=1, name="q")
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err == ""


# -- cells that cannot learn ---------------------------------------------------------------------

DEAD = cw.Cell(
    [cw.Node("a", "linear", ("x",)), cw.Node("h", "mul", ("a", "h0"))], ["h"], name="dull"
)
ZERO = "its output is zero at every step, whatever it reads"


class Warned(Watcher):
    def __init__(self) -> None:
        self.words: list[str] = []

    def warn(self, text: str) -> None:
        self.words.append(text)


def test_training_a_cell_that_cannot_learn_is_warned_of(text: str):
    told = Warned()
    cw.train(DEAD, text, settings=SMALL, epochs=1, watcher=told)
    assert told.words == [f"the cell dull cannot learn: {ZERO}"]
    told = Warned()
    cw.train("gru", text, settings=SMALL, epochs=1, watcher=told)
    assert not told.words


def test_comparing_a_cell_that_cannot_learn_is_warned_of_and_noted(text: str):
    told = Warned()
    found = cw.compare(
        ["gru", DEAD], text, recipe="laptop", settings=SMALL, epochs=1, seeds=1,
        executor="in-process", watcher=told,
    )  # fmt: skip
    assert told.words == [f"dull cannot learn: {ZERO}."]
    assert told.words[0] in found.words
    assert told.words[0] in found.report.read_text()


def test_a_search_that_derives_a_cell_that_cannot_learn_says_so(text: str, monkeypatch):
    def dead(folder: Any, *_: Any, **__: Any) -> list[Any]:
        found = run_search(folder)
        (folder.path / "found.json").write_text(DEAD.to_json())
        return found

    monkeypatch.setattr("cellwright.api.searching.run_search", dead)
    told = Warned()
    cw.search("ess-laptop", text, settings=SEARCH, name="f", watcher=told)
    assert told.words == [f"the cell that the search derived cannot learn: {ZERO}"]
