"""What is varied in a sensitivity analysis, and models of one size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cellwright.base.errors import UserError
from cellwright.cell.zoo import zoo
from cellwright.compare.sensitivity.folder import FILE, begin
from cellwright.compare.sensitivity.grid import make_grid, read_vary
from cellwright.compare.widths import fitting_width, size, width_of, with_width
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import LooseSettings, load_recipe
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.search.one_shot.space import searched_space, space_counts
from cellwright.tasks.registry import open_task
from runs.support import write_corpus


def test_each_setting_is_varied_alone_and_the_recipes_own_is_among_them():
    grid = make_grid(load_search_recipe("ess-laptop"), {"nodes": [8, 2], "m": [3, 1, 2]})
    assert grid.base.counts == (("nodes", 4), ("m", 2))
    along = {axis.setting: [p.label for _, p in grid.along(axis)] for axis in grid.axes}
    assert along == {
        "nodes": ["nodes2-m2", "nodes4-m2", "nodes8-m2"],
        "m": ["nodes4-m1", "nodes4-m2", "nodes4-m3"],
    }
    labels = [point.label for point in grid.points]
    assert labels == ["nodes4-m2", "nodes2-m2", "nodes8-m2", "nodes4-m1", "nodes4-m3"]
    by_label = {point.label: point.recipe for point in grid.points}
    assert (by_label["nodes8-m2"].search.nodes, by_label["nodes4-m3"].search.m) == (8, 3)
    assert by_label["nodes8-m2"].model == grid.recipe.model  # searches keep their width


@pytest.mark.parametrize(
    ("recipe", "vary", "words"),
    [
        ("ess-laptop", {}, "nothing is varied: this search has nodes, m"),
        ("ess-laptop", {"node": [2]}, "no number 'node'; did you mean 'nodes'"),
        ("ess-laptop", {"rounds": [2]}, "no number 'rounds'; what may vary is nodes, m"),
        ("ess-laptop", {"nodes": []}, "nodes needs a list of whole numbers"),
        ("ess-laptop", {"nodes": [2.5]}, "nodes is given whole numbers, not 2.5"),
        ("ess-laptop", {"nodes": [2, 2]}, "nodes has a value twice"),
        ("ess-laptop", {"nodes": [2], "search.nodes": [3]}, "nodes is varied twice"),
        ("ess-laptop", {"nodes": [0]}, "nodes=0: nodes: input should be greater"),
        ("ess-laptop", {"m": [65]}, "m=65: m, how many steps the gates look back, is 1 to 64"),
        ("ess-laptop", {"nodes": range(1, 200)}, "100 are the most"),
        ("darts-ptb-laptop", {"m": [2]}, "no number 'm'; what may vary is nodes"),
    ],
)
def test_what_cannot_be_varied_is_said(recipe: str, vary, words: str):
    with pytest.raises(UserError, match=words):
        make_grid(load_search_recipe(recipe), vary)


@pytest.mark.parametrize("text", ["nodes", "nodes=", "=2", "nodes=2,", "nodes=a", "nodes=2.5"])
def test_what_a_command_is_given_has_to_be_whole_numbers(text: str):
    with pytest.raises(UserError, match="as in nodes=2,4,8"):
        read_vary([text])
    with pytest.raises(UserError, match="m is varied twice"):
        read_vary(["m=1", "m=2"])


def test_random_cells_are_of_the_space_that_is_searched():
    recipes = {"ess-laptop": "ess", "darts-ptb": "darts", "i-darts-ptb": "darts",
               "enas-ptb": "enas", "random-sharing-ptb": "darts"}  # fmt: skip
    for name, space in recipes.items():
        settings = load_search_recipe(name).search
        found = searched_space(settings)
        assert found.name == space
        assert getattr(found, "nodes", None) == space_counts(settings)["nodes"]
        assert found.contains(found.sample_live(np.random.default_rng(0)))
    several = load_search_recipe("i-darts-ptb", ["search.top_edges=2"]).search
    assert searched_space(several).settings()["edges_per_node"] == 2
    inside = load_search_recipe("ess-laptop", ["search.scope=intra"]).search
    assert (searched_space(inside).name, space_counts(inside)) == ("darts", {"nodes": 4})
    for setting in ("search.scope=inter", "search.alpha=true", "search.top_edges=2"):
        with pytest.raises(UserError, match="no random cells can be drawn for this search"):
            searched_space(load_search_recipe("ess-laptop", [setting]).search)


@pytest.mark.parametrize("kind", ["one-layer", "awd"])
def test_the_width_is_the_largest_that_has_no_more_parameters(tmp_path: Path, kind: str):
    text = write_corpus(tmp_path / "text")
    settings = {"one-layer": [], "awd": ["model.kind=awd", "model.embedding=25"]}[kind]
    recipe = load_recipe("laptop", [*settings, "model.hidden=20"]).on(str(text))
    task = open_task(recipe.task)
    own = size(zoo["gru"], task, recipe)
    assert fitting_width(zoo["gru"], task, recipe, own) == width_of(recipe) == 20
    assert fitting_width(zoo["gru"], task, recipe, own - 1) == 19
    for cell in (zoo["lstm"], zoo["rnn"]):
        width = fitting_width(cell, task, recipe, own)
        assert size(cell, task, with_width(recipe, width)) <= own
        assert size(cell, task, with_width(recipe, width + 1)) > own
    with pytest.raises(RunError, match=r"at a width of 1, and should have 10 at most"):
        fitting_width(zoo["gru"], task, recipe, 10)
    with pytest.raises(RunError, match="have no more than 1,000,000,000,000,000 parameters"):
        fitting_width(zoo["gru"], task, recipe, 10**15)


def test_models_without_a_width_are_refused():
    recipe = load_recipe("laptop").model_copy(update={"model": LooseSettings()})
    with pytest.raises(RunError, match=r"laptop have no setting model\.hidden"):
        width_of(recipe)


def test_what_is_in_the_folder_is_looked_at(tmp_path: Path):
    grid = make_grid(load_search_recipe("ess-laptop"), {"nodes": [2]})
    begin(tmp_path / "s", grid, [0], None)
    written = (tmp_path / "s" / FILE).read_bytes()
    begin(tmp_path / "s", grid, [0], None)
    assert (tmp_path / "s" / FILE).read_bytes() == written
    more = make_grid(load_search_recipe("ess-laptop"), {"nodes": [2, 8], "m": [1]})
    begin(tmp_path / "s", more, [0], None)
    with pytest.raises(RunError, match="also has nodes=8; name all of its values again"):
        begin(tmp_path / "s", grid, [0], None)
    for damage in (b"", b"[]", b"{}", written[:100], written.replace(b"/1", b"/9", 1)):
        (tmp_path / "s" / FILE).write_bytes(damage)
        with pytest.raises(RunError, match=f"{FILE} is damaged, or of another version"):
            begin(tmp_path / "s", grid, [0], None)
        assert (tmp_path / "s" / FILE).read_bytes() == damage
    with pytest.raises(RunError, match="is a file; a comparison is a folder"):
        begin(tmp_path / "s" / FILE, grid, [0], None)
