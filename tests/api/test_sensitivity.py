"""What a search finds as its space grows, in models of one size: ESS' Figure 5."""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import cellwright as cw
from cellwright.api import Watcher
from cellwright.compare.plan import read_plan
from cellwright.runs.errors import RunError, Stopped
from runs.support import write_corpus

SEARCH = {
    "model.hidden": 5, "search.nodes": 2, "search.m": 1, "search.rounds": 1, "search.batch": 4,
    "search.warmup_epochs": 0, "search.evaluation_batch": 4, "task.bptt": 8, "selection_cells": 1,
}  # fmt: skip
TRAINING = {"model.hidden": 6, "training.batch": 4, "training.evaluation_batch": 4, "task.bptt": 8}


def vary(text: str, vary: Any = {"nodes": [1], "m": [2]}, **more: Any) -> Any:  # noqa: B006
    arguments: dict[str, Any] = {
        "settings": SEARCH, "training_settings": TRAINING, "epochs": 1, "seeds": 2,
        "executor": "in-process", "progress": False, **more,
    }  # fmt: skip
    return cw.sensitivity("ess-laptop", vary, text, **arguments)


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(write_corpus(tmp_path / "text"))


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
        vary(text, out="s", watcher=StopsTheSecond())
    assert not Path("s/comparison.json").exists()
    found = vary(text, out="s")
    assert found.status == "ok"
    assert set(found.figures.points) == {"nodes2-m1", "nodes1-m1", "nodes2-m2"}
    assert found.best.keys() == {"nodes", "m"}
    assert found.best["nodes"] in (1, 2)

    # Every model has at most as many parameters as the recipe's own, whose width stays.
    widths = {one.label: one.width for one in found.figures.plan.contenders}
    assert widths["nodes2-m1"] == 6
    for one in found.comparison.standings:
        assert one.parameters <= found.parameters
        assert {run.folder.info.recipe.model.hidden for run in one.runs} == {one.contender.width}
    assert found.parameters == found.figures.points["nodes2-m1"].found.parameters

    values = json.loads(Path("s/points.json").read_text())
    assert [axis["points"] for axis in values["vary"]] == [
        ["nodes1-m1", "nodes2-m1"], ["nodes2-m1", "nodes2-m2"],
    ]  # fmt: skip
    assert all(len(point["found"]["valid"]["values"]) == 2 for point in values["points"])
    picture = Path("s/sensitivity.svg").read_text()
    assert "nodes inside the cell" in picture
    assert "As the space grows" in found.report.read_text()
    assert len(Path("s/points.csv").read_text().splitlines()) == 1 + 3

    # The same elsewhere in one go is the same to the byte; more is added to what is there.
    vary(text, out="again")
    assert Path("again/points.json").read_bytes() == Path("s/points.json").read_bytes()
    before = {path: path.stat().st_mtime_ns for path in Path("s").rglob("result.json")}
    grown = vary(text, {"nodes": [1, 3], "m": [2]}, out="s", against=["lstm"], random=1)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert [one.label for one in grown.figures.against] == ["lstm"]
    assert all(len(one.random) == 1 for one in grown.figures.points.values())
    assert all(one.parameters <= grown.parameters for one in grown.comparison.standings)
    assert grown.rows()[-1]["label"] == "lstm"
    assert "drawn at random (1 cell)" in Path("s/sensitivity.svg").read_text()
    assert {one.width for one in read_plan(Path("s")).contenders if one.label == "lstm"} != {None}

    # What does not belong there is refused, and nothing is lost.
    with pytest.raises(RunError, match="also has nodes=3; name all of its values again"):
        vary(text, out="s")
    with pytest.raises(RunError, match="seeds of the searches was"):
        vary(text, {"nodes": [1, 3], "m": [2]}, out="s", seed=1)
    with pytest.raises(RunError, match="parameters was None and is 5000"):
        vary(text, {"nodes": [1, 3], "m": [2]}, out="s", parameters=5000)
    with pytest.raises(RunError, match=r"search\.rounds was 1 and is 2"):
        vary(text, {"nodes": [1, 3], "m": [2]}, out="s", settings={**SEARCH, "search.rounds": 2})
    Path("s/comparison.json").unlink()
    with pytest.raises(RunError, match="is a sensitivity analysis, and no comparison"):
        cw.compare(["gru"], text, out="s", progress=False)
