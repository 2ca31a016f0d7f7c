"""What a search finds as its space grows, in models of one size: ESS' Figure 5."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import cellwright as cw
from cellwright.api import Watcher
from cellwright.base.threads import threads_for
from cellwright.runs.errors import RunError, Stopped
from runs.support import write_corpus

SEARCH = {
    "model.hidden": 5, "search.nodes": 2, "search.m": 1, "search.rounds": 1, "search.batch": 4,
    "search.warmup_epochs": 0, "search.evaluation_batch": 4, "task.bptt": 8, "selection_cells": 1,
}  # fmt: skip
TRAINING = {"model.hidden": 6, "training.batch": 4, "training.evaluation_batch": 4, "task.bptt": 8}


def vary(text: str, vary: Any, out: str, **more: Any) -> Any:
    arguments: dict[str, Any] = {
        "settings": SEARCH, "training_settings": TRAINING, "epochs": 1, "seeds": 1,
        "executor": "in-process", "progress": False, **more,
    }  # fmt: skip
    return cw.sensitivity("ess-laptop", vary, text, out=out, **arguments)


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.chdir(tmp_path)
    with threads_for(1):  # so little work is slower on more
        yield str(write_corpus(tmp_path / "text"))


class StopsTheSecond(Watcher):
    """Presses Ctrl-C in the second search."""

    searches = 0

    @contextmanager
    def searching(self, folder, resumed):
        self.searches += 1

        def watch(event: Any) -> None:
            if self.searches == 2:
                self.searches += 1  # once: a second Ctrl-C does not wait
                signal.raise_signal(signal.SIGINT)

        yield watch


def test_from_start_to_end_also_after_a_stop(text: str):
    with pytest.raises(Stopped, match="the same command"):
        vary(text, ["nodes=1"], "s", watcher=StopsTheSecond())
    assert not Path("s/comparison.json").exists()
    found = vary(text, {"nodes": [1]}, "s")
    assert found.status == "ok"
    assert list(found.figures.points) == ["nodes2-m1", "nodes1-m1"]
    assert found.best["nodes"] in (1, 2)

    # The same elsewhere, in one go, is the same to the byte.
    vary(text, {"nodes": [1]}, "again")
    assert Path("again/points.json").read_bytes() == Path("s/points.json").read_bytes()

    # More is added to what is there, which is not done again.
    before = {path: path.stat().st_mtime_ns for path in Path("s").rglob("result.json")}
    assert len(before) == 4  # of two searches and two trainings
    more = {"nodes": [1], "m": [2]}
    grown = vary(text, more, "s", against=["lstm"], random=1, seeds=2)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert [one.label for one in grown.figures.against] == ["lstm"]
    assert all(len(one.random) == 1 for one in grown.figures.points.values())
    values = json.loads(Path("s/points.json").read_text())
    assert [axis["points"] for axis in values["vary"]] == [
        ["nodes1-m1", "nodes2-m1"], ["nodes2-m1", "nodes2-m2"],
    ]  # fmt: skip
    assert all(len(point["found"]["valid"]["values"]) == 2 for point in values["points"])
    assert len(Path("s/points.csv").read_text().splitlines()) == 1 + 3 + 1
    assert grown.rows()[-1]["label"] == "lstm"
    picture = Path("s/sensitivity.svg").read_text()
    for words in ("nodes inside the cell", "drawn at random (1 cell)", "lstm", "m = 1"):
        assert words in picture
    assert "As the space grows" in grown.report.read_text()

    # Every model has at most as many parameters as the recipe's own, whose width is kept.
    own = grown.figures.points["nodes2-m1"].found
    assert (own.contender.width, own.parameters) == (6, grown.parameters)
    for one in grown.comparison.standings:
        assert one.parameters <= grown.parameters
        assert {run.folder.info.recipe.model.hidden for run in one.runs} == {one.contender.width}

    # What does not belong there is refused.
    for wrong, words in (
        ({"vary": {"m": [2]}}, "also has nodes=1, 2; name all of its values again"),
        ({"seed": 1}, r"seeds of the searches was \[0\] and is \[1\]"),
        ({"parameters": 5000}, "parameters was None and is 5000"),
        ({"settings": {**SEARCH, "search.rounds": 2}}, r"search\.rounds was 1 and is 2"),
        ({"against": ["lstm"], "training_settings": {**TRAINING, "model.hidden": 7}, "seeds": 2},
         "made with other settings: model.hidden was 6 and is 7"),
    ):  # fmt: skip
        with pytest.raises(RunError, match=words):
            vary(text, **{"vary": more, "out": "s", "random": 1, **wrong})
    Path("s/comparison.json").unlink()
    with pytest.raises(RunError, match="is a sensitivity analysis, and no comparison"):
        cw.compare(["gru"], text, out="s", progress=False)
