"""A recipe's name means one recipe of one kind, and what is of another kind is not mixed up."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cellwright.grids.recipes import load_grid_recipe
from cellwright.runs.errors import RecipeError
from cellwright.runs.recipe_files import KINDS, names_in
from cellwright.runs.recipes import load_recipe
from cellwright.search.one_shot.recipes import SearchRecipe, load_search_recipe
from cellwright.search.studies.recipes import StudyRecipe, load_study_recipe
from cellwright.search.tuning.recipes import load_tune_recipe

LOADERS: dict[str, Any] = {
    "training": load_recipe,
    "search": load_search_recipe,
    "studies": load_study_recipe,
    "tuning": load_tune_recipe,
    "grids": load_grid_recipe,
}
FILES = {
    "training": '[model]\nkind = "one-layer"\n[training]\nepochs = 2\n',
    "search": 'training = "laptop"\n[model]\nkind = "one-layer"\n[search]\nkind = "darts"\n',
    "grids": '[stages.a]\nkind = "draw"\ncells = "enas:1"\n',
    "tuning": 'trials = 3\n[method]\nkind = "random"\n[tune.model]\nhidden = [3]\n',
    "studies": 'trials = 3\n[space]\nkind = "enas"\n[method]\nkind = "random"\n',
}
PAIRS = [(kind, other) for kind in LOADERS for other in LOADERS if kind != other]


def wrong(load: Any, *arguments: Any) -> str:
    with pytest.raises(RecipeError) as caught:
        load(*arguments)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_name_is_that_of_one_recipe():
    assert set(KINDS) == set(LOADERS)
    assert (SearchRecipe.folder, StudyRecipe.folder) == ("search", "studies")
    names = Counter(name for folder in KINDS for name in names_in(folder))
    assert len(names) > 40
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize(("kind", "other"), PAIRS)
def test_a_name_of_another_kind(kind: str, other: str):
    for name in names_in(other):
        message = wrong(LOADERS[kind], name)
        assert f"{name!r} is a recipe for {KINDS[other].noun} (" in message
        assert f"not for {KINDS[kind].noun}; " in message


def test_what_to_do_is_said():
    assert wrong(load_recipe, "ess-ptb") == (
        "'ess-ptb' is a recipe for a one-shot search (cellwright search ess-ptb), "
        "not for a training; did you mean 'ess-ptb-training'?"
    )
    assert "(cellwright train CELL --recipe laptop)" in wrong(load_search_recipe, "laptop")


def test_a_recipe_cannot_extend_one_of_another_kind(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text('extends = "ess-ptb"\n[training]\nepochs = 2\n')
    assert "mine.toml: extends: 'ess-ptb' is a recipe for a one-shot search" in wrong(
        load_recipe, path
    )


@pytest.mark.parametrize(("kind", "other"), PAIRS)
def test_a_file_of_another_kind(tmp_path: Path, kind: str, other: str):
    path = tmp_path / "mine.toml"
    path.write_text(FILES[other])
    LOADERS[other](path)
    assert wrong(LOADERS[kind], path) == (
        f"{path} is a recipe for {KINDS[other].noun} ({KINDS[other].command} {path}), "
        f"not for {KINDS[kind].noun}"
    )
    (tmp_path / "longer.toml").write_text('extends = "mine.toml"\n')
    assert f"is a recipe for {KINDS[other].noun}" in wrong(LOADERS[kind], tmp_path / "longer.toml")


def test_a_table_too_many_does_not_make_another_kind_of_it(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text(FILES["training"] + "[search]\nnodes = 3\n")
    assert "unknown key 'search'" in wrong(load_recipe, path)


# -- kinds of tasks ------------------------------------------------------------------------------


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that somebody else wrote."""
    module = ModuleType("somebody_elses")
    monkeypatch.setitem(sys.modules, "somebody_elses", module)
    return module


@pytest.mark.parametrize("kind", [kind for kind in LOADERS if kind != "grids"])
def test_unknown_tasks(kind: str):
    message = wrong(LOADERS[kind], names_in(kind)[0], ["task.kind=langage"])
    assert message == (
        "the setting 'task.kind=langage': task.kind: unknown task 'langage'; did you mean "
        "'language'? (one of your own is named file.py:NAME or module:NAME)"
    )


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("task.kind=3", "task.kind should name a task, not 3"),
        ("task.kind=[1]", "task.kind should name a task, not [1]"),
        ("task=3", "task should be a table, written [task], not 3"),
        ("task.kind=''", "unknown task ''"),
        ("task.kind='a:b:c'", "unknown task 'a:b:c'"),
        ("task.kind='..cellwright:x'", "unknown task '..cellwright:x'"),
        ("task.kind='no_such_module:task'", "ModuleNotFoundError: No module named 'no_such_"),
        ("task.kind='somebody_elses:gone'", "has no attribute 'gone'"),
        ("task.kind='somebody_elses:word'", "TypeError: 'str' object is not callable"),
        ("task.kind='somebody_elses:broken'", "ZeroDivisionError: "),
        ("task.kind='somebody_elses:other'", "gives 'a task', and should give a TaskKind"),
    ],
)
def test_tasks_that_cannot_be_had(plug_in: ModuleType, setting: str, says: str):
    plug_in.word, plug_in.broken, plug_in.other = "word", lambda: 1 // 0, lambda: "a task"  # type: ignore[attr-defined]
    message = wrong(load_recipe, "laptop", [setting])
    assert message.startswith("the setting ")
    assert says in message


def test_a_plug_in_that_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "half_written.py").write_text("def task(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "mine.toml"
    path.write_text('[task]\nkind = "half_written:task"\n')
    message = wrong(load_recipe, path)
    assert message.startswith(f"{path}: task.kind: the task 'half_written:task' cannot be had: ")
    assert "SyntaxError" in message
