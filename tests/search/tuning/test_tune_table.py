"""The table `[tune]`: what it may say, and what is wrong with what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright import zoo
from cellwright.base.errors import UserError
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.runs.errors import RecipeError
from cellwright.search.tuning.recipes import TuneRecipe, load_tune_recipe, tune_recipe_names
from cellwright.spaces import Interval

NAME = "tune-sentences-laptop"


def refused(*settings: str, name: str = NAME) -> str:
    with pytest.raises(RecipeError) as caught:
        load_tune_recipe(name, settings)
    return str(caught.value)


@pytest.mark.parametrize("name", tune_recipe_names())
def test_a_packaged_recipe_can_be_read(name: str):
    recipe = load_tune_recipe(name)
    assert isinstance(recipe, TuneRecipe)
    assert recipe.tune.space().choices()


def test_what_a_file_says(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text(
        """
training = "sentences-laptop"
trials = 5

[task]
kind = "sentences"

[tune]
cells = ["gru", "lstm"]
seed = [3, 4]

[tune.model]
kind = ["blm", "bi-rnn"]
layers = {low = 1, high = 3}
hidden = [50, 100]
feed_forward = {tied = "model.hidden", times = 2}
dropout_classifier = {low = 0.0, high = 0.5, when = {"model.kind" = "bi-rnn"}}

[tune.training]
learning_rate = {low = 1e-4, high = 1e-2, log = true}
"""
    )
    recipe = load_tune_recipe(path)
    space = recipe.tune.space()
    assert recipe.method.kind == "tpe"
    assert recipe.epochs == 10  # of sentences-laptop
    assert space.choices() == {
        "cell": ("gru", "lstm"),
        "seed": (3, 4),
        "model.kind": ("blm", "bi-rnn"),
        "model.layers": Interval(1, 3, whole=True),
        "model.hidden": (50, 100),
        "model.dropout_classifier": Interval(0.0, 0.5),
        "training.learning_rate": Interval(1e-4, 1e-2, log=True),
    }
    found = space.drawn(
        {
            "cell": "lstm", "seed": 3, "model.kind": "bi-rnn", "model.layers": 2,
            "model.hidden": 50, "model.dropout_classifier": 0.25, "training.learning_rate": 1e-3,
        }
    )  # fmt: skip
    assert found.settings["model.feed_forward"] == 100
    assert found.cell.name == "lstm"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("tune.model.hiden=[3]", "unknown key 'model.hiden'; did you mean 'model.hidden'?"),
        ("tune.modle.hidden=[3]", "unknown key 'tune.modle'; did you mean 'tune.model'?"),
        ("tune.training.learning_rate={low=0.1, high=0.01}",
         "training.learning_rate: the range is the wrong way round, from 0.1 to 0.01"),
        ("tune.training.learning_rate={lo=0.1, high=1.0}", "'lo' is unknown; did you mean 'low'?"),
        ("tune.training.weight_decay={low=0.1}", "has low and no high"),
        ("tune.training.learning_rate={low=0.0, high=0.1, log=true}", "begins above 0"),
        ("tune.training.learning_rate={low=0.1, high=inf}", "finite numbers"),
        ("tune.training.learning_rate=0.1", "should be a list of values, or a range"),
        ("tune.training.batch=[]", "training.batch is a choice of no values"),
        ("tune.training.batch=[16, 16]", "training.batch has a value twice"),
        ("tune.training.batch=[16, 0]", "training.batch should be greater than or equal to 1"),
        ("tune.cells=[]", "a choice of no cells"),
        ("tune.cells=['lstmm']", "there is no cell 'lstmm'; did you mean 'lstm'?"),
        ("tune.seed=[]", "seed is a choice of no values"),
        ("tune.model.dropout_input={low=0.0, high=0.5, when={'model.layers'=2}}",
         "model.dropout_input has a condition on 'model.layers', which is not varied"),
        ("tune.model.dropout_input={low=0.0, high=0.5, when={'model.hidden'=7}}",
         "the condition model.hidden = 7, which is none of its values"),
        ("tune.model.feed_forward={tied='model.hiden'}", "did you mean 'model.hidden'?"),
        ("tune.model.feed_forward={tied='model.hidden', low=1, high=2}",
         "either values, or low and high, or tied; it has low and tied"),
        ("tune.model.dropout_input={low=0.0, high=0.5, when={'model.hidden'=[]}}",
         "a condition on model.hidden that no value meets"),
        ("tune.model.dropout_input={low=0.0, high=0.5, when={'model.dropout_output'=0.2}}",
         "conditions are on lists and whole numbers"),
        ("tune.model.dropout_input={tied='model.hidden', times=0.001}", "should be less than 1"),
        ("tune.training.epochs=[2, 5]", "is said with method.epochs"),
        ("tune.task.data=['sick-r', 'mrpc']", "values of different data do not compare"),
        ("tune.model.kind=['blm', 'bi-rnn']", "unknown key 'model.dropout_projection'"),
        ("method.kind=smac", "settings are tuned by tpe, random, hyperband"),
    ],
)  # fmt: skip
def test_a_bad_table_is_refused_with_the_key(setting: str, message: str):
    assert message in refused(setting)


def test_conditions_that_go_in_a_circle():
    assert "go in a circle: model.hidden, model.feed_forward, training.batch" in refused(
        "tune.model.hidden={values=[1, 2], when={'training.batch'=1}}",
        "tune.training.batch={values=[1, 2], when={'model.hidden'=1}}",
    )


def test_ranges_are_replaced_whole_and_taken_away_with_none():
    changes = [
        "tune.training.learning_rate={low=0.1, high=0.2}", "tune.model.dropout_input=none",
        "tune.model.dropout_output={values=[0.1, 0.2]}", "tune.training.clip=['none', 0.5]",
        "tune.training.decay={values=[0.5, 0.9], when={'training.clip'=['none']}}",
        "tune.model.dropout_projection={tied='model.dropout_output'}",
    ]  # fmt: skip
    found = load_tune_recipe(NAME, changes).tune.space()
    choices = found.choices()
    assert choices["training.learning_rate"] == Interval(0.1, 0.2)
    assert choices["model.dropout_output"] == (0.1, 0.2)
    assert "model.dropout_input" not in choices
    assert "model.dropout_projection" not in choices
    both = [each.when for each in found.varied if each.name == "training.decay"]
    assert both == [{"training.clip": (None,)}]


def test_the_same_cell_under_two_names_is_one_choice(tmp_path: Path):
    (tmp_path / "copy.json").write_text(zoo["gru"].renamed("copy").to_json())
    cells = f"tune.cells=['gru', '{tmp_path / 'copy.json'}', 'lstm']"
    assert load_tune_recipe(NAME, [cells]).tune.space().choices()["cell"] == ("gru", "lstm")


def test_a_supernet_cannot_be_tuned():
    supernet = darts_supernet(nodes=2).cell
    with pytest.raises(UserError, match="is a supernet"):
        load_tune_recipe(NAME).tune.with_cells((supernet,))


def test_a_recipe_of_another_kind_is_named_as_such():
    assert "for a training (cellwright train CELL --recipe laptop), not for tuning" in refused(
        name="laptop"
    )
    from cellwright.runs.recipes import load_recipe

    with pytest.raises(UserError, match=f"for tuning \\(cellwright tune {NAME}\\)"):
        load_recipe(NAME)
