"""The packaged search recipes, and mistakes that are named; tests/test_paper_numbers.py has the
papers' numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright.models import OneLayerSettings
from cellwright.runs.errors import RecipeError
from cellwright.runs.recipes import recipe_from_json, recipe_names, recipe_to_toml
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.one_shot.recipes import SearchRecipe, load_search_recipe, search_recipe_names
from cellwright.tasks.language.settings import LanguageSettings
from cellwright.tasks.registry import task_kind

PAPERS = [
    "darts-conll2003",
    "darts-ptb",
    "enas-mrpc",
    "enas-ptb",
    "enas-sick-r",
    "enas-sts-b",
    "ess-ptb",
    "ess-wikitext-103",
    "i-darts-conll2003",
    "i-darts-ptb",
    "random-sharing-ptb",
]


def defaults(**values: object) -> DifferentiableSettings:
    return DifferentiableSettings.model_validate(values)


def segments(**values: object) -> LanguageSettings:
    return LanguageSettings.model_validate(values)


def model_of(**values: object) -> OneLayerSettings:
    """The dropouts of DARTS, I-DARTS, ESS and ENAS."""
    dropped = {"dropout_output": 0.75, "dropout_x": 0.75, "dropout_hidden": 0.25}
    return OneLayerSettings.model_validate(
        {**dropped, "init_range": 0.04, "init_range_embedding": 0.04, **values}
    )


DARTS_MODEL = model_of(hidden=300, dropout_embedding=0.2, dropout_words=0.0, ar=0.0, tar=1e-3)


def test_each_paper_has_its_recipe_and_a_small_one():
    small = [f"{name}-laptop" for name in PAPERS]
    more = [f"{kind}-sick-r-laptop" for kind in ("darts", "i-darts", "random-sharing")]
    more += ["ess-laptop", "enas-conll2003-laptop"]
    more += [f"enas-esim-{data}-laptop" for data in ("mrpc", "sick-r")]
    assert search_recipe_names() == sorted([*PAPERS, *small, *more])


@pytest.mark.parametrize("name", search_recipe_names())
def test_packaged_recipes(name: str):
    recipe = load_search_recipe(name)
    assert recipe.name == name
    assert recipe.description
    assert recipe.task.data in task_kind(recipe.task.kind).names
    assert recipe.training in recipe_names()
    if name.endswith("laptop"):
        assert (64 if "esim" in name else 100) <= recipe.model.hidden <= 128
        assert recipe.training.endswith("laptop")
        assert recipe.search.batch <= 64


@pytest.mark.parametrize("kind", ["darts", "i-darts", "ess"])
def test_on_penn_treebank_they_are_the_defaults(kind: str):
    """In the model of DARTS' search, which I-DARTS (section 3.1) and ESS (section 5.1) take."""
    recipe = load_search_recipe(f"{kind}-ptb")
    assert recipe.search == defaults(kind=kind)
    assert recipe.task == segments(data="ptb", bptt=35, bptt_spread=0.0, bptt_halve=0.05)
    assert recipe.model == DARTS_MODEL


def test_on_wikitext():
    """ESS, section 5.1."""
    recipe = load_search_recipe("ess-wikitext-103")
    assert recipe.search == defaults(
        kind="ess", nodes=12, m=5, batch=128,
        architecture_rate_intra=1e-3, architecture_rate_inter=1e-4,
    )  # fmt: skip
    assert recipe.task == segments(data="wikitext-103", bptt=70, bptt_spread=0.0, bptt_halve=0.05)
    assert recipe.model == DARTS_MODEL


@pytest.mark.parametrize("name", search_recipe_names())
def test_a_recipe_as_toml_is_the_same_recipe(name: str, tmp_path: Path):
    recipe = load_search_recipe(name, ["search.operations=['tanh', 'relu']", "search.clip=none"])
    assert (recipe.search.operations, recipe.search.clip) == (("tanh", "relu"), None)
    path = tmp_path / "again.toml"
    path.write_text(recipe_to_toml(recipe), encoding="utf-8")
    assert load_search_recipe(path) == recipe


def test_a_file_extends_a_packaged_recipe(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'extends = "ess-ptb-laptop"\n[search]\nrounds = 2\n[model]\nhidden = 9\n[task]\nbptt = 8\n'
    )
    recipe, parent = load_search_recipe(path), load_search_recipe("ess-ptb-laptop")
    assert recipe.search == parent.search.model_copy(update={"rounds": 2})
    assert recipe.model == parent.model.model_copy(update={"hidden": 9})
    assert recipe.task == parent.task.model_copy(update={"bptt": 8})
    assert isinstance(recipe, SearchRecipe)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("model.hiden=3", "unknown key 'model.hiden'; did you mean 'model.hidden'?"),
        ("search.hidden=3", "unknown key 'search.hidden'; did you mean 'model.hidden'?"),
        ("search.bptt=3", "unknown key 'search.bptt'; did you mean 'task.bptt'?"),
        ("task.bptt=0", "task.bptt should be greater than or equal to 1, not 0"),
        ("task.kind=langauge", "task.kind: unknown task 'langauge'; did you mean 'language'?"),
        ("model.kind=lstm", "model.kind should be 'one-layer' or 'awd', not 'lstm'"),
        ("rounds=3", "unknown key 'rounds'; did you mean 'search.rounds'?"),
        (
            "search.kind=drats",
            "search.kind should be 'darts', 'i-darts', 'ess', 'enas' or 'random-sharing', "
            "not 'drats'; did you mean 'darts'?",
        ),
        ("search.kind=3", "not '3'"),
        ("search.operations=tanh", "search.operations: should be a list such as ['tanh', 'relu']"),
        ("search.operations=['tan']", "did you mean 'tanh'"),
        ("search.scope=inter", "search: darts searches inside the cell alone"),
        ("search.top_edges=x", "search.top_edges should be a valid integer or \"none\", not 'x'"),
        ("model.hidden=none", "model.hidden should be a valid integer, not None"),
        ("search=3", "search should be a table, written [search], not 3"),
    ],
)
def test_mistakes(setting: str, says: str):
    with pytest.raises(RecipeError) as caught:
        load_search_recipe("darts-ptb", [setting])
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("model.hiden=3", "unknown key 'model.hiden'; did you mean 'model.hidden'?"),
        ("search.controler_steps=3", "did you mean 'search.controller_steps'?"),
        ("search.rounds=3", "unknown key 'search.rounds'; [search] has "),
        ("candidates=3", "unknown key 'candidates'; did you mean 'search.candidates'?"),
        ("search.operations=['none']", "operations has no 'none'; known are tanh"),
        ("search.nodes=0", "search.nodes should be greater than or equal to 1, not 0"),
        ("search.nodes=100000", "nodes must be a whole number from 1 to"),
        ("search.average_after=3", "search.average_after should be None"),
        ("search=3", "search should be a table, written [search], not 3"),
    ],
)
def test_mistakes_in_a_search_with_shared_weights(setting: str, says: str):
    with pytest.raises(RecipeError) as caught:
        load_search_recipe("enas-ptb", [setting])
    assert says in str(caught.value)


def test_of_a_whole_table_the_settings_that_the_words_name_are_blamed():
    settings = ["search.second_order=true", "search.optimizer=adam", "search.clip=1.0"]
    with pytest.raises(RecipeError) as caught:
        load_search_recipe("darts-ptb", settings)
    blamed, _, _ = str(caught.value).partition(": search: ")
    assert set(blamed.split(" and ")) == {f"the setting '{setting}'" for setting in settings[:2]}


def test_the_controller_samples_no_darts_cells():
    with pytest.raises(RecipeError, match="the controller samples ENAS' cells"):
        load_search_recipe("enas-ptb", ["search.cells=darts"])
    with pytest.raises(RecipeError, match="'none', which no derived cell has"):
        load_search_recipe("random-sharing-ptb", ["search.operations=['none', 'tanh']"])


def test_random_search_has_no_controller():
    with pytest.raises(RecipeError, match="random-sharing has no controller: controller_steps"):
        load_search_recipe("random-sharing-ptb", ["search.controller_steps=5"])


def test_a_search_without_a_kind_is_darts(tmp_path: Path):
    path = tmp_path / "mine.toml"
    model = '[model]\nkind = "one-layer"\n'
    path.write_text(f"{model}[search]\nepochs = 3\n")
    assert load_search_recipe(path).search == defaults(epochs=3)
    path.write_text(f'{model}[task]\ndata = "ptb"\n')
    assert load_search_recipe(path).search == defaults()
    path.write_text(f"{model}[search]\nepoch = 3\n")
    with pytest.raises(RecipeError, match=r"unknown key 'search\.epoch'; did you mean 'search\.ep"):
        load_search_recipe(path)


def test_a_search_needs_a_model(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text("[search]\nepochs = 3\n")
    with pytest.raises(RecipeError, match="model is missing"):
        load_search_recipe(path)


def test_a_training_that_is_not_to_be_had_is_said_where_it_is_named(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text('extends = "ess-laptop"\ntraining = "labtop"\n')
    with pytest.raises(RecipeError, match=r"mine.toml: training: unknown recipe 'labtop'"):
        load_search_recipe(path)


def test_a_training_beside_the_recipe_is_found_from_anywhere(tmp_path: Path, monkeypatch):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.toml").write_text('extends = "laptop"\n[training]\nepochs = 7\n')
    recipe = tmp_path / "own" / "search.toml"
    recipe.write_text('extends = "ess-laptop"\ntraining = "mine.toml"\n')
    for folder in (tmp_path, tmp_path / "own"):
        monkeypatch.chdir(folder)
        assert load_search_recipe(recipe).training == str(tmp_path / "own" / "mine.toml")
    given = load_search_recipe("ess-laptop", ["training=mine.toml"])
    monkeypatch.chdir(tmp_path)
    assert given.short_training().training.epochs == 3  # those of the choice; the file is found


def test_a_search_that_was_begun_is_read_without_its_training():
    values = load_search_recipe("ess-laptop").model_dump(mode="json")
    there = recipe_from_json(SearchRecipe, {**values, "training": "gone.toml"})
    assert there.training == "gone.toml"


def test_several_mistakes_at_once():
    with pytest.raises(RecipeError) as caught:
        load_search_recipe("enas-ptb", ["search=3", "serch=3"])
    assert "search should be a table" in str(caught.value)
    assert "did you mean 'search'?" in str(caught.value)


def test_a_training_recipe_is_no_search_recipe():
    with pytest.raises(RecipeError, match="'nas-bench-nlp-ptb' is a recipe for a training"):
        load_search_recipe("nas-bench-nlp-ptb")
