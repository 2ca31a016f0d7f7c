"""Recipes for studies: the papers' settings, and mistakes that are named."""

from __future__ import annotations

import re

import pytest

from cellwright.runs.errors import RecipeError
from cellwright.search.blackbox.methods import METHODS
from cellwright.search.studies.recipes import load_study_recipe, study_recipe_names

MISTAKES = {
    "space.node=3": "space 'fenas' has no setting 'node'; did you mean 'nodes'?",
    "space.nodes=-1": "nodes must be a whole number from 1",
    "method.populaton=3": "has no setting 'populaton'; did you mean 'population'?",
    "method.kind=randm": "there is no method 'randm'; did you mean 'random'?",
    "space.name=x": "space 'fenas' has no setting 'name'; it has nodes",
    "method.seed=4": "say it with --seed",
    "method.space=4": "the space has a table of its own",
    "method.self=4": "has no setting 'self'; it has epochs, lag",
    "method.kind=smac": "needs a table [pool]",
    "child.model.hiden=3": "unknown key 'model.hiden'; did you mean 'model.hidden'?",
    "child.training.epochs=3": "is said with method.epochs",
    "child.training.learning_rate=-1": "training.learning_rate should be greater than 0, not -1",
    "text.trian=3": "unknown key 'text.trian'; did you mean 'text.train'?",
    "trails=3": "unknown key 'trails'; did you mean 'trials'?",
    "limits.seconds=x": 'limits.seconds should be a valid number or "none"',
    "value=bst": "value should be 'best' or 'last', not 'bst'; did you mean 'best'?",
    "training=labtop": "the setting 'training=labtop': training: unknown recipe 'labtop'; did you",
}


@pytest.mark.parametrize("setting", MISTAKES)
def test_a_mistake_is_named_with_the_nearest_right_one(setting):
    with pytest.raises(RecipeError, match=re.escape(MISTAKES[setting])) as caught:
        load_study_recipe("studies-laptop", [setting])
    assert "\n" not in str(caught.value)


def test_what_may_be_none_is_so_said():
    assert load_study_recipe("auto").final is not None
    recipe = load_study_recipe("auto", ["final=none", "window=none", "budget.minutes=none"])
    assert (recipe.final, recipe.window, recipe.budget.minutes) == (None, None, None)
    assert load_study_recipe("auto", ["description=none"]).description == "none"


def test_every_method_has_a_recipe_for_a_laptop_and_one_as_in_its_paper():
    recipes = {name: load_study_recipe(name) for name in study_recipe_names()}
    laptop = {r.method.kind for name, r in recipes.items() if name.endswith("-laptop")}
    assert laptop | {"random", "auto"} == set(METHODS)
    papers = {r.method.kind for name, r in recipes.items() if not name.endswith("-laptop")}
    assert papers == set(METHODS)  # auto is of no paper, and its recipe is for any machine


def test_fenas_is_as_in_section_4_of_its_paper():
    recipe = load_study_recipe("fenas-ptb")
    assert recipe.space.settings == {"nodes": 9, "memory": True}
    method = recipe.method.settings
    assert (method["population"], method["sample"], method["epochs"]) == (100, 25, 20)
    assert method["initial"] == ["fenas-lstm"]
    assert recipe.trials == 100 + 5000
    child = recipe.child_recipe()
    assert (child.task.data, child.model.hidden) == ("ptb", 300)
    training = child.training
    assert (training.optimizer, training.learning_rate) == ("adam", 1e-3)
    assert (training.clip, training.weight_decay, training.rate(19)) == (0.25, 8e-6, 1e-3)


def test_another_method_is_one_setting_away():
    recipe = load_study_recipe("fenas-ptb-laptop", ["method.kind=random", "method.epochs=3"])
    assert (recipe.method.kind, recipe.method.settings) == ("random", {"epochs": 3})
    assert recipe.space == load_study_recipe("fenas-ptb-laptop").space
