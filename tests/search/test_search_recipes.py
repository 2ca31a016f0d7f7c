"""The packaged search recipes have the papers' numbers, and mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright.data import KNOWN
from cellwright.runs.errors import RecipeError
from cellwright.runs.recipes import recipe_names, recipe_to_toml
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.one_shot.recipes import SearchRecipe, load_search_recipe, search_recipe_names
from cellwright.search.sharing.settings import SharingSettings

PAPERS = [
    "darts-ptb",
    "enas-ptb",
    "ess-ptb",
    "ess-wikitext-103",
    "i-darts-ptb",
    "random-sharing-ptb",
]


def defaults(**values: object) -> DifferentiableSettings:
    return DifferentiableSettings.model_validate(values)


def test_each_paper_has_its_recipe_and_a_small_one():
    small = [f"{name}-laptop" for name in PAPERS]
    assert search_recipe_names() == sorted([*PAPERS, *small, "laptop"])


@pytest.mark.parametrize("name", search_recipe_names())
def test_packaged_recipes(name: str):
    recipe = load_search_recipe(name)
    assert recipe.name == name
    assert recipe.description
    assert recipe.data in KNOWN
    assert recipe.training in recipe_names()
    if name.endswith("laptop"):
        assert 100 <= recipe.search.model.hidden <= 128
        assert recipe.training.endswith("laptop")
        assert recipe.search.batch <= 64


@pytest.mark.parametrize("kind", ["darts", "i-darts", "ess"])
def test_on_penn_treebank_they_are_the_defaults(kind: str):
    recipe = load_search_recipe(f"{kind}-ptb")
    assert recipe.data == "ptb"
    assert recipe.search == defaults(kind=kind)


def test_on_wikitext():
    """ESS, section 5.1."""
    recipe = load_search_recipe("ess-wikitext-103")
    assert recipe.data == "wikitext-103"
    assert recipe.search == defaults(
        kind="ess", nodes=12, m=5, batch=128, bptt=70,
        architecture_rate_intra=1e-3, architecture_rate_inter=1e-4,
    )  # fmt: skip


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
        'extends = "ess-ptb-laptop"\n[search]\nrounds = 2\n[search.model]\nhidden = 9\n'
    )
    recipe, parent = load_search_recipe(path), load_search_recipe("ess-ptb-laptop")
    model = parent.search.model.model_copy(update={"hidden": 9})
    assert recipe.search == parent.search.model_copy(update={"rounds": 2, "model": model})
    assert isinstance(recipe, SearchRecipe)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("search.model.hiden=3", "unknown key 'search.model.hiden'; did you mean 'search.model.hi"),
        ("search.hidden=3", "unknown key 'search.hidden'; did you mean 'search.model.hidden'?"),
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
        ("search.model.hidden=none", "search.model.hidden should be a valid integer, not None"),
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
        ("search.model.hiden=3", "unknown key 'search.model.hiden'; did you mean 'search.model.hi"),
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


def test_random_search_has_no_controller():
    with pytest.raises(RecipeError, match="random-sharing has no controller: controller_steps"):
        load_search_recipe("random-sharing-ptb", ["search.controller_steps=5"])


def test_enas_on_penn_treebank_has_the_defaults():
    assert load_search_recipe("enas-ptb").search == SharingSettings.model_validate({})


def test_a_search_without_a_kind_is_darts(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text("[search]\nepochs = 3\n")
    assert load_search_recipe(path).search == defaults(epochs=3)
    path.write_text('data = "ptb"\n')
    assert load_search_recipe(path).search == defaults()
    path.write_text("[search]\nepoch = 3\n")
    with pytest.raises(RecipeError, match=r"unknown key 'search\.epoch'; did you mean 'search\.ep"):
        load_search_recipe(path)


def test_several_mistakes_at_once():
    with pytest.raises(RecipeError) as caught:
        load_search_recipe("enas-ptb", ["search=3", "serch=3"])
    assert "search should be a table" in str(caught.value)
    assert "did you mean 'search'?" in str(caught.value)


def test_a_training_recipe_is_no_search_recipe():
    with pytest.raises(RecipeError, match="unknown recipe 'nas-bench-nlp-ptb'"):
        load_search_recipe("nas-bench-nlp-ptb")
