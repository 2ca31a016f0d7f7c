"""Recipes for grids: what stages may say, and what is wrong with what they may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright import zoo
from cellwright.base.statistics import Spread
from cellwright.grids.folder import open_grid
from cellwright.grids.recipes import (
    GridRecipe,
    SearchStage,
    TrainStage,
    TuneStage,
    grid_recipe_names,
    load_grid_recipe,
)
from cellwright.grids.results import GridFigures, StageResult
from cellwright.grids.time_left import time_left
from cellwright.runs.errors import RecipeError, RunError
from cellwright.search.tuning.recipes import load_tune_recipe


@pytest.mark.parametrize("name", grid_recipe_names())
def test_a_packaged_grid_can_be_read(name: str):
    recipe = load_grid_recipe(name)
    shown = [s for s in recipe.stages.values() if isinstance(s, TuneStage | TrainStage) and s.row]
    assert shown
    assert recipe.description


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("stages.lstm.trails=3", "unknown key 'stages.lstm.trails'; did you mean 'trials'?"),
        ("stages.lstm.kind=tunee", "stages.lstm.kind should be one of tune, search, draw, train"),
        ("stages.lstm.recipe=tune-lptop", "stages.lstm: unknown recipe 'tune-lptop'; did you mean"),
        ("stages.lstm.trials=0", "stages.lstm.trials should be greater than or equal to 1, not 0"),
        ("stages.others.cells_of=['rnd']", "no stage 'rnd' before it; did you mean 'random'?"),
        ("stages.others.cells_of=['lstm']", "lstm is of the kind tune, and should be of search or"),
        ("stages.random.cells='enass:2'", "there is no space 'enass'; did you mean 'enas'?"),
        ("stages.lstm.settings={'tune.model.hiden'=[3]}", "did you mean 'model.hidden'?"),
        ("stages.lstm.cells=[]", "stages.lstm: it has no cells: say cells, or cells_of"),
        ("stages.lstm.column=''", "row and column go together"),
        (
            "stages.new={kind='train', cells=['gru'], row={cell='x'}, column='y'}",
            "by a recipe, or like a stage that tunes",
        ),
        ("stages.new={kind='train', cells=['gru'], recipe='laptop'}", "say row and column"),
        (
            "stages.new={kind='train', cells=['gru'], recipe='laptop', row={cell='LSTM'}, "
            "column='builtin'}",
            "stages.new has the same row and column as lstm",
        ),
        ("stages.new={kind='search', recipe='ess-ptb', trials=3}", "trials is for studies"),
        (
            "stages.lstm-random={kind='draw', cells='enas:1'}",
            "so would a random search beside lstm",
        ),
        ("stages.new={kind='search', recipe='ess-ptb', like='random'}", "should be of tune"),
        ("baseline={cell='x'}", "baseline: no stage has the row"),
        ("sead=3", "unknown key 'sead'; did you mean 'seeds'?"),
    ],
)
def test_a_bad_grid_is_refused_with_the_key(setting: str, message: str):
    with pytest.raises(RecipeError) as caught:
        load_grid_recipe("grid-first", [setting])
    assert message in str(caught.value)


# -- ENAS-pairs, typed in from the paper: sections 3.2 to 3.4 and Tables 1 and 2 ------------------


def stages(recipe: GridRecipe, kind: type) -> dict[str, TuneStage]:
    return {name: stage for name, stage in recipe.stages.items() if isinstance(stage, kind)}


def test_enas_pairs_has_the_papers_experiments():
    recipe = load_grid_recipe("enas-pairs")
    tuned = stages(recipe, TuneStage)
    rows = {tuple(stage.row.values()) for stage in tuned.values()}
    table_1 = {
        ("BERT", "ESIM", "L / L", "–"), ("BERT", "ESIM", "E / E", "the same data"),
        ("BERT", "ESIM", "E / L", "the same data"), ("BERT", "ESIM", "L / E", "the same data"),
        ("BERT", "BLM", "L", "–"), ("BERT", "BLM", "E", "the same data"),
        ("GloVe", "ESIM", "L / L", "–"), ("GloVe", "ESIM", "E / E", "the same data"),
        ("GloVe", "ESIM", "E / L", "the same data"), ("GloVe", "ESIM", "L / E", "the same data"),
        ("GloVe", "BLM", "L", "–"), ("GloVe", "BLM", "E", "the same data"),
    }  # fmt: skip
    table_2 = {
        ("BERT", "ESIM", "E / L", "SICK-R"), ("BERT", "ESIM", "E / L", "MRPC"),
        ("BERT", "ESIM", "RND / L", "random"),
        ("GloVe", "BLM", "E", "SICK-R"), ("GloVe", "BLM", "E", "MRPC"),
        ("GloVe", "BLM", "RND", "random"),
    }  # fmt: skip
    assert rows == table_1 | table_2
    for name, stage in tuned.items():
        lstm = stage.row["RNN"] in ("L", "L / L")
        assert stage.trials == (500 if lstm else 200), name
        assert bool(stage.cells) == lstm
        assert stage.column in ("SICK-R", "MRPC", "STS-B")
    assert len([s for s in tuned.values() if tuple(s.row.values()) in table_1]) == 12 * 3
    searches = stages(recipe, SearchStage)
    assert len(searches) == 12  # each data set, embedding and model
    assert {stage.cells for stage in searches.values()} == {10}
    assert all(stage.like in tuned for stage in searches.values())
    assert recipe.stages["random"].cells == "enas:10,nodes=6"


def test_the_small_one_has_the_trials_that_are_asked_for():
    recipe = load_grid_recipe("enas-pairs-laptop")
    for stage in stages(recipe, TuneStage).values():
        assert stage.trials == (30 if stage.row["RNN"] == "L" else 15)
    assert recipe.seeds == 3


# -- folders and times -----------------------------------------------------------------------------


def test_a_grid_goes_on_with_more_of_the_same_alone(tmp_path: Path):
    open_grid(tmp_path / "a", load_grid_recipe("grid-first"))
    more = ["stages.others.trials=5", "seeds=3", "stages.more={kind='draw', cells='enas:1'}"]
    open_grid(tmp_path / "a", load_grid_recipe("grid-first", more))
    for setting, message in (
        ("stages.others.trials=4", "stage others was begun with more trials"),
        ("seeds=2", "begun with 3 seeds, and cannot have fewer"),
        ("stages.random.seed=1", "stage random was begun with another seed"),
    ):
        with pytest.raises(RunError, match=message):
            open_grid(tmp_path / "a", load_grid_recipe("grid-first", [*more, setting]))
    with pytest.raises(RunError, match=r"has its studies in store.db, not in other.db"):
        open_grid(tmp_path / "a", load_grid_recipe("grid-first", more), "other.db")
    whole = [*more, "stages.others.trials=none"]  # the recipe's own number, which is larger
    open_grid(tmp_path / "a", load_grid_recipe("grid-first", whole))
    with pytest.raises(RunError, match="begun with other stages"):
        open_grid(tmp_path / "a", load_grid_recipe("fenas-glue-laptop"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other/notes.txt").write_text("mine")
    with pytest.raises(RunError, match="no grid; choose another name"):
        open_grid(tmp_path / "other", load_grid_recipe("grid-first"))


def test_a_stage_that_others_stand_on_gets_no_more_trials(tmp_path: Path):
    search = "stages.new={kind='search', recipe='enas-ptb-laptop', like='lstm'}"
    open_grid(tmp_path / "a", load_grid_recipe("grid-first", [search]))
    more = load_grid_recipe("grid-first", [search, "stages.lstm.trials=9"])
    with pytest.raises(RunError, match="other stages stand on lstm"):
        open_grid(tmp_path / "a", more)


def test_files_are_looked_for_beside_the_grid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "mine.json").write_text(zoo["gru"].to_json())
    (beside / "tune.toml").write_text(
        'training = "laptop"\ntrials = 2\n[tune]\ncells = ["mine.json"]\nmodel.hidden = [4]\n'
    )
    (beside / "grid.toml").write_text(
        '[stages.a]\nkind = "tune"\nrecipe = "tune.toml"\ncells = ["mine.json"]\n'
    )
    monkeypatch.chdir(tmp_path)
    recipe = load_grid_recipe("beside/grid.toml")
    stage = recipe.stages["a"]
    assert isinstance(stage, TuneStage)
    assert stage.recipe == str(beside / "tune.toml")
    assert stage.cells == (zoo["gru"].to_json(indent=None),)
    assert load_tune_recipe("beside/tune.toml").tune.space().cells[0].id == zoo["gru"].id


def figures(baseline: dict[str, str]) -> GridFigures:
    recipe = load_grid_recipe("grid-first").model_copy(update={"baseline": baseline})
    one, other = recipe.stages["lstm"], recipe.stages["others"]
    first = one.model_copy(update={"row": {"a": "x", "b": "1"}})
    second = other.model_copy(update={"row": {"b": "2", "a": "x"}})
    stages = {**recipe.stages, "lstm": first, "others": second}
    results = {
        "lstm": StageResult("lstm", first, test=Spread.of([1.0, 1.1])),
        "others": StageResult("others", second, test=Spread.of([5.0, 5.1])),
    }
    return GridFigures(recipe.model_copy(update={"stages": stages}), results)


def test_rows_are_the_same_in_whatever_order_they_are_written():
    found = figures({"b": "1", "a": "x"})
    assert found.headings == ["a", "b"]
    assert found.rows == [(("a", "x"), ("b", "1")), (("a", "x"), ("b", "2"))]
    assert found.against_baseline(found.rows[1], "builtin") == "higher"
    assert found.against_baseline(found.rows[0], "builtin") is None


@pytest.mark.parametrize("text", ["", "{", '{"format": "cellwright-grid/1"}', "[1]"])
def test_a_damaged_grid_is_said_to_be_one(tmp_path: Path, text: str):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/grid.json").write_text(text)
    with pytest.raises(RunError, match=r"grid.json is damaged"):
        open_grid(tmp_path / "a", load_grid_recipe("grid-first"))


def test_the_time_that_is_left_follows_from_stages_of_the_same_kind():
    recipe = load_grid_recipe("grid-first")  # 4 trials and 2 trainings for each of two
    trials = {"lstm": 4, "others": 4}
    assert time_left(recipe, {}, trials, set()) is None
    assert time_left(recipe, {"lstm": 60.0}, trials, {"lstm"}) == 90.0  # other cells: 1.5 times
    everything = {"lstm", "random", "others"}
    assert time_left(recipe, {"lstm": 60.0, "others": 80.0}, trials, everything) == 0
    assert time_left(recipe, {"lstm": 60.0, "others": 30.0}, trials, {"lstm"}) == 60.0  # half done
