"""Cells on every task of a suite, from start to end."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import cellwright as cw
from cellwright.api import SuiteComparison, Watcher
from cellwright.base.errors import UserError
from cellwright.base.threads import threads_for
from cellwright.runs.errors import RunError, Stopped
from runs.support import write_corpus

TOY = """
[task]
kind = "toy_task:toy_kind"
sentences = {}
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

SUITE = """
title = "Letters"
[[tasks]]
label = "few"
recipe = "few.toml"
[[tasks]]
label = "ptb"
recipe = "laptop"
data = "ptb"
[[tasks]]
label = "many"
recipe = "many.toml"
figures = ["accuracy", "cross_entropy"]
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder with a suite of two tasks, and a third whose data is not there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(tmp_path / "cache"))
    Path("few.toml").write_text(TOY.format(48))
    Path("many.toml").write_text(TOY.format(64))
    Path("s.toml").write_text(SUITE)
    with threads_for(1):
        yield


def compare(suite: str = "s.toml", out: str = "out", **more: Any) -> SuiteComparison:
    usual = {"seeds": 2, "executor": "in-process", "progress": False}
    return cw.compare_suite(["gru", "rnn"], suite, out=out, **{**usual, **more})


def timeless(path: str) -> Any:
    """Results without what no two trainings have in common."""
    return json.loads(re.sub(r'"seconds": [\d.e-]+', '"seconds": 0', Path(path).read_text()))


class Hears(Watcher):
    """Remembers what is said, and presses Ctrl-C in the comparison on a task."""

    def __init__(self, stop_in: str = "") -> None:
        self.said: list[str] = []
        self.stop_in = stop_in

    def note(self, text: str) -> None:
        self.said.append(text)

    warn = note

    @contextmanager
    def comparing(self, plan: Any, workers: int) -> Iterator[Callable[[Any], None]]:
        def watch(event: Any) -> None:
            if plan.folder.name == self.stop_in and event is not None and event.kind == "ended":
                self.stop_in = ""  # once: a second Ctrl-C does not wait
                signal.raise_signal(signal.SIGINT)

        yield watch


def test_from_start_to_end_also_after_a_stop():
    hears = Hears("many")
    with pytest.raises(Stopped, match="the same command"):
        compare(watcher=hears)
    assert hears.said[0].startswith("ptb is missing: ptb is not on this machine")
    assert hears.said[1:] == ["task 1 of 2: few", "task 2 of 2: many"]
    assert not Path("out/index.html").exists()
    before = {path: path.stat().st_mtime_ns for path in Path("out").rglob("result.json")}
    assert 4 < len(before) < 8

    found = compare()
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert found.status == "ok"
    assert found.failures == ()
    assert list(found.comparisons) == ["few", "many"]
    assert list(found.missing) == ["ptb"]
    assert found.cell.name == found.figures.cells[0]
    values = json.loads(Path("out/results.json").read_text())
    assert values["average_over"] == 2
    for one in values["cells"]:
        tasks = [one["tasks"][label]["valid"]["mean"] for label in ("few", "many")]
        assert one["average"]["valid"]["mean"] == pytest.approx(sum(tasks) / 2)
        assert len(one["average"]["test"]["values"]) == 2
    few = {one.label: one.valid.mean for one in found.comparisons["few"].standings}
    assert found.rows()[0]["few_valid_mean"] == pytest.approx(few[found.figures.cells[0]])
    page = found.report.read_text()
    assert 'href="few/index.html"' in page
    assert "ptb is missing" in page
    assert "rows of letters: 48 train" in page
    for name in ("table.csv", "table.md", "table.tex", "table-valid.md", "few/index.html"):
        assert Path("out", name).is_file()

    # The same in one go elsewhere has the same figures.
    compare(out="again")
    assert timeless("again/results.json") == timeless("out/results.json")

    # Cells, tasks and data may come later.
    write_corpus(Path("data/ptb"))
    small = ["[model]", "hidden = 4", "[training]", "batch = 4", "epochs = 1", "[task]", "bptt = 9"]
    Path("words.toml").write_text("\n".join(['extends = "laptop"', *small]))
    Path("s.toml").write_text(SUITE.replace('"laptop"', '"words.toml"'))
    grown = compare(random=["ess:1,nodes=1,m=1"])
    assert list(grown.comparisons) == ["few", "ptb", "many"]
    assert not grown.missing
    assert grown.figures.metric is None  # perplexity is better the lower
    assert len(grown.rows()) == 3
    assert {path: path.stat().st_mtime_ns for path in before} == before

    with pytest.raises(UserError, match=r"few: .*other settings: training.epochs was 2 and is 3"):
        compare(epochs=3)
    with pytest.raises(RunError, match="is a comparison over a suite of tasks, and no comparison"):
        cw.compare(["gru"], out="out", progress=False)


def write(*tasks: str) -> None:
    Path("s.toml").write_text("\n".join(f"[[tasks]]\n{task}" for task in tasks))


FEW = 'label = "few"\nrecipe = "few.toml"'


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ('label = "b"\nrecipe = "fewer.toml"', "b: there is no recipe .*fewer.toml"),
        ('label = "b"\nrecipe = "laptp"', "b: unknown recipe 'laptp'; did you mean 'laptop'"),
        ('label = "b"\nrecipe = "ess-laptop"', "b: 'ess-laptop' is a recipe for a one-shot search"),
        ('label = "b"\nrecipe = "laptop"\ndata = "ptbb"', "b: unknown corpus 'ptbb'"),
        ('label = "b"\nrecipe = "laptop"\ndata = "empty"', "b: .*no file for the part"),
    ],
)
def test_a_task_that_is_wrong_is_said_before_anything_is_made(task: str, words: str):
    Path("empty").mkdir()
    write(FEW, task)
    with pytest.raises(UserError, match=words):
        compare()
    assert not Path("out").exists()


def test_with_all_tasks_missing_there_is_nothing_to_do():
    write('label = "a"\nrecipe = "laptop"\ndata = "ptb"', 'label = "b"\nrecipe = "ner-wnut17"')
    with pytest.raises(UserError, match=r"no task of the suite s has its data .* a and b"):
        compare()
    assert not Path("out").exists()


def test_vectors_that_are_not_here_are_a_reason_too():
    folder = Path("data/wnut17")
    folder.mkdir(parents=True)
    for part in ("train", "valid", "test"):
        (folder / f"{part}.conll").write_text("Ann B-person\nran O\n\n" * 8)
    write(FEW, 'label = "names"\nrecipe = "ner-wnut17-laptop"')
    found = compare(seeds=1)
    assert list(found.comparisons) == ["few"]
    assert "glove" in found.missing["names"]


def test_so_are_official_files_that_are_not_all_here():
    folder = Path("data/glue/RTE")
    folder.mkdir(parents=True)
    rows = "".join(f"{n}\ta dog\ta cat\tentailment\n" for n in range(9))
    (folder / "dev.tsv").write_text(f"index\tsentence1\tsentence2\tlabel\n{rows}")
    task = 'extends = "sentences-laptop"\n[task]\ndata = "rte"\nparts = "{}"\n'
    Path("rte.toml").write_text(task.format("dev-as-test"))
    write(FEW, 'label = "rte"\nrecipe = "rte.toml"')
    assert "the files of rte for the parts 'dev-as-test' are" in compare(seeds=1).missing["rte"]
    Path("rte.toml").write_text(task.format("official"))
    with pytest.raises(UserError, match="rte: rte has no public labels of test"):
        compare(out="other")


def test_the_same_cell_twice_is_no_matter_of_a_task():
    with pytest.raises(RunError, match=r"^gru and gru are the same cell"):
        cw.compare_suite(["gru", "gru"], "s.toml", out="out", progress=False)
    assert not Path("out").exists()
