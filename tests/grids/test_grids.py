"""A grid from start to end: stages take what others gave, and a stopped one goes on to the same."""

from __future__ import annotations

import json
import os
import signal
from contextlib import nullcontext
from pathlib import Path

import pytest

import cellwright as cw
from cellwright.grids.recipes import load_grid_recipe
from cellwright.runs.recipes import load_recipe
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.trials.study import StudyStopped, TrialFinished
from runs.support import SETTINGS, write_corpus

pytest.importorskip("optuna")


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tune an LSTM, search like it, draw, tune what came of both, and train."""
    monkeypatch.chdir(tmp_path)
    corpus = write_corpus(tmp_path / "text")
    child = "\n".join(setting for setting in SETTINGS)
    (tmp_path / "small.toml").write_text(f'extends = "laptop"\ntask.data = "{corpus}"\n{child}\n')
    (tmp_path / "tune.toml").write_text(
        """
training = "small.toml"
trials = 3
method.epochs = 1
method.startup = 2

[tune.model]
hidden = [4, 6]

[tune.training]
learning_rate = {low = 1e-3, high = 1e-1, log = true}
"""
    )
    path = tmp_path / "whole.toml"
    path.write_text(
        f"""
description = "Everything, small"
seeds = 2
baseline = {{cell = "LSTM"}}

[stages.lstm]
kind = "tune"
recipe = "tune.toml"
cells = ["lstm"]
row = {{cell = "LSTM"}}
column = "text"

[stages.search]
kind = "search"
recipe = "enas-ptb-laptop"
like = "lstm"
cells = 3

[stages.search.settings]
"task.data" = "{corpus}"
"search.nodes" = 3
"search.epochs" = 1
"search.controller_steps" = 1
"search.evaluation_batch" = 4
"selection_cells" = 1

[stages.random]
kind = "draw"
cells = "enas:2,nodes=3"

[stages.evolution]
kind = "search"
recipe = "studies-laptop"
trials = 4
cells = 2
baseline = true

[stages.evolution.settings]
"task.data" = "{corpus}"
"child.model.hidden" = 4
"child.training.batch" = 8
"text.train" = 300
"text.valid" = 60
"method.population" = 2
"method.sample" = 1
"method.lag" = 2
"method.epochs" = 1

[stages.enas]
kind = "tune"
recipe = "tune.toml"
cells_of = ["search"]
row = {{cell = "ENAS"}}
column = "text"

[stages.others]
kind = "train"
like = "lstm"
cells = ["gru"]
cells_of = ["random", "evolution"]
row = {{cell = "others"}}
column = "text"

[stages.same-size]
kind = "train"
recipe = "small.toml"
cells_of = ["random"]
parameters = "lstm"
row = {{cell = "random, as large"}}
column = "text"
"""
    )
    return path


def test_everything_from_start_to_end(recipe: Path):
    found = cw.grid(recipe, executor="in-process", progress=False)
    folder = Path("grids/whole")
    assert (found.path, found.status) == (folder, "ok")
    best = found["lstm"].recipe
    assert best is not None
    # The search has the model and the batches of the best trial.
    search = SearchFolder.open(folder / "searches/search").info.recipe
    assert search.model.hidden == best.model.hidden
    assert search.search.batch == best.training.batch
    assert len(found["search"].cells) == 3
    assert len({cell.id for cell in found["search"].cells}) == 3
    # Cells are a choice of the tuning that takes them.
    trials = (folder / "studies/whole-enas/trials.csv").read_text()
    names = {cell.name for cell in found["search"].cells}
    assert any(name in trials for name in names)
    assert found["enas"].cells[0].id in {cell.id for cell in found["search"].cells}
    assert len(found["evolution"].cells) == 2
    assert found["evolution"].random is not None
    assert found["evolution"].random > 0
    assert found["lstm"].random is None
    # What stands in the table was trained with the best settings, from fresh seeds.
    [run] = (folder / "trained/lstm").glob("trial-*/runs/lstm-seed1/recipe.toml")
    assert (
        load_recipe(run).training.learning_rate == found["lstm"].settings["training.learning_rate"]
    )
    assert [len(found[name].test.values) for name in ("lstm", "enas", "others")] == [2, 2, 2]
    lstm = cw.train("lstm", recipe="small.toml", epochs=1, progress=False)
    assert (
        found["same-size"].parameters <= lstm.cost.parameters < 1.3 * found["same-size"].parameters
    )
    # Costs are those of what a row stands on.
    costs = found.figures.costs(found["enas"])
    assert costs.search == pytest.approx(found["search"].seconds)
    assert costs.tuning == pytest.approx(found["enas"].seconds + found["lstm"].seconds)
    rows = {row["cell"]: row for row in found.rows()}
    assert set(rows) == {"LSTM", "ENAS", "others", "random, as large"}
    page = (folder / "index.html").read_text()
    assert "All stages have ended." in page
    assert "Everything, small" in page
    for name in ("results", "costs", "settings", "trials"):
        for kind in ("csv", "md", "tex"):
            assert (folder / f"{name}.{kind}").read_text()
    document = json.loads((folder / "results.json").read_text())
    assert document["stages"]["lstm"]["trials"] == 3


def test_stopped_and_gone_on_with_is_the_same_grid(recipe: Path):
    class StopOften(cw.api.Watcher):
        def studying(self, prepared, store, executor, target):
            def watch(event: object) -> None:
                if isinstance(event, TrialFinished) and event.number == 1:
                    os.kill(os.getpid(), signal.SIGINT)

            return nullcontext(watch)

    whole = cw.grid(recipe, executor="in-process", name="a", progress=False)
    stops = 0
    while True:
        try:
            parts = cw.grid(recipe, executor="in-process", name="b", watcher=StopOften())
            break
        except StudyStopped:
            stops += 1
            assert stops < 10
    assert stops == 4  # two tunings, an evolution, and a random search beside it

    def figures(found: cw.api.GridFound) -> list[dict[str, object]]:
        rows = found.rows()
        return [{k: v for k, v in row.items() if "seconds" not in k} for row in rows]

    assert figures(parts) == figures(whole)


def test_more_trials_go_on(recipe: Path):
    first = load_grid_recipe(recipe)
    small = first.model_copy(update={"stages": {"lstm": first.stages["lstm"]}})
    assert cw.grid(small, executor="in-process", name="a", progress=False)["lstm"].trials == 3
    stage = first.stages["lstm"].model_copy(update={"trials": 5})
    more = first.model_copy(update={"stages": {"lstm": stage}})
    assert cw.grid(more, executor="in-process", name="a", progress=False)["lstm"].trials == 5
