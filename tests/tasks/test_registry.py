"""Tasks by name: the built-in ones, those of plug-ins, and what is said of all others."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from cellwright.base.errors import UserError
from cellwright.data import KNOWN
from cellwright.models import OneLayerSettings
from cellwright.runs.recipes import load_recipe
from cellwright.search.recipe_kinds import for_data
from cellwright.tasks.language.laptop import laptop_recipe
from cellwright.tasks.language.settings import LanguageSettings
from cellwright.tasks.language.task import LanguageTask
from cellwright.tasks.registry import (
    BUILT_IN,
    TaskError,
    file_hash,
    is_built_in,
    kind_of_data,
    open_task,
    placed,
    task_kind,
)
from cellwright.tasks.settings import TaskSettings

PLUGIN = """
from dataclasses import replace

from cellwright.tasks.registry import task_kind

def kind():
    return replace(task_kind("language"), name="plugged:kind", names=())

def of_something(something):
    return kind()

def words():
    return "a task"

def fails():
    raise ValueError("no such luck")

number = 3
"""


@pytest.fixture(scope="module", autouse=True)
def _plug_ins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plug-ins")
    (folder / "plugged.py").write_text(PLUGIN)
    (folder / "broken.py").write_text("def kind(:\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield


# -- those that are there ------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_tasks(name):
    kind = task_kind(name)
    assert kind.name == name
    assert issubclass(kind.settings, TaskSettings)
    assert kind.settings.model_validate({"kind": name}).kind == name
    assert is_built_in(name)


def test_language():
    kind = task_kind("language")
    assert kind.settings is LanguageSettings
    model = TypeAdapter(kind.model_settings).validate_python({"kind": "one-layer", "hidden": 9})
    assert model == OneLayerSettings(hidden=9)
    assert kind.metric.name == "perplexity"
    assert set(kind.names) == set(KNOWN)


def test_a_plug_in_is_found_by_module_and_function():
    kind = task_kind("plugged:kind")
    assert kind.name == "plugged:kind"
    assert kind is task_kind("plugged:kind")
    assert not is_built_in("plugged:kind")


def test_a_task_of_a_file(tmp_path):
    file = tmp_path / "of a file.py"
    file.write_text(PLUGIN)
    name = f"{file}:kind"
    kind = task_kind(name)
    assert kind.name == "plugged:kind"
    assert kind is task_kind(name)
    assert not is_built_in(name)
    before = file_hash(name)
    file.write_text(PLUGIN + "# other\n")
    assert task_kind(name) is not kind
    assert file_hash(name) != before
    assert file_hash("plugged:kind") is None is file_hash("language")
    with pytest.raises(
        TaskError, match=r"cannot be had: ValueError: no such luck \(of a file.py, l"
    ):
        task_kind(f"{file}:fails")
    with pytest.raises(TaskError, match="cannot be had: there is no file"):
        file_hash(f"{tmp_path}/nowhere.py:kind")


@pytest.mark.parametrize("kind", BUILT_IN)
def test_a_kind_is_known_without_torch(kind):
    code = (
        "import sys\nfrom cellwright.tasks.registry import task_kind\n"
        f"task_kind({kind!r})\nprint('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("tokens", [1, 89_000, 299_999, 300_000, 929_589, 2_088_628, 10**9])
def test_a_recipe_that_is_suggested_is_one_for_a_training(tokens, corpus):
    recipe = load_recipe(laptop_recipe(tokens))
    assert recipe.task.kind == "language"
    assert recipe.model.kind == "one-layer"  # so that figures are of the same model


def test_a_task_suggests_by_its_size(corpus):
    suggest = task_kind("language").suggest
    assert suggest is not None
    assert suggest(LanguageTask(corpus)) == "laptop"


# -- those that are not --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("langauge", "unknown task 'langauge'; did you mean 'language'?"),
        ("images", "unknown task 'images'; there are language"),
        ("", "unknown task ''"),
        ("plugged:", "unknown task 'plugged:'"),
        (":kind", "unknown task ':kind'"),
        ("plug in:kind", "unknown task 'plug in:kind'"),
        ("plugged:kind()", "unknown task"),
        ("plugged:words.upper", "unknown task"),
        (
            "nowhere_at_all:kind",
            "nowhere_at_all:kind' cannot be had: .*No module named 'nowhere_at",
        ),
        ("plugged:king", "'plugged:king' cannot be had: .*has no attribute 'king'"),
        ("plugged:number", "'plugged:number' cannot be had: .*not callable"),
        ("plugged:of_something", "cannot be had: .*missing 1 required positional argument"),
        ("plugged:fails", "'plugged:fails' cannot be had: .*no such luck"),
        ("broken:kind", "'broken:kind' cannot be had: .*invalid syntax"),
        ("plugged:words", "plugged:words gives 'a task', and should give a TaskKind"),
    ],
)
def test_what_is_no_task_is_named(name, says):
    with pytest.raises(TaskError, match=says) as caught:
        task_kind(name)
    assert "\n" not in str(caught.value)


def test_a_name_that_is_endless_is_shown_in_part():
    with pytest.raises(TaskError) as caught:
        task_kind("x" * 100_000)
    assert len(str(caught.value)) < 500


# -- opening -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    for part in ("train", "valid", "test"):
        (folder / f"{part}.txt").write_text("one two three\n" * 20)
    return folder


def test_a_task_is_opened_from_its_settings(folder):
    seen = []
    settings = LanguageSettings(data=str(folder), bptt=4)
    task = open_task(settings, lambda *what: seen.append(what))
    assert isinstance(task, LanguageTask)
    assert (len(task.corpus.train), task.settings) == (80, settings)
    assert seen


def test_settings_that_nobody_has_looked_at_yet(folder):
    loose = TaskSettings.model_validate({"kind": "language", "data": str(folder), "bptt": 4})
    task = open_task(loose)
    assert isinstance(task, LanguageTask)
    assert task.settings == LanguageSettings(data=str(folder), bptt=4)
    for wrong, says in (({"bptt": 0}, "language: bptt: "), ({"btpt": 4}, "language: btpt: ")):
        with pytest.raises(TaskError, match=says):
            open_task(loose.model_copy(update=wrong))


def test_data_that_is_not_there():
    with pytest.raises(UserError, match="nowhere"):
        open_task(LanguageSettings(data="nowhere"))


def test_a_folder_is_named_so_that_it_is_found_from_anywhere(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    (folder.parent / "ptb").mkdir()
    settings = LanguageSettings()
    assert placed(settings, folder.name) == str(folder)
    assert placed(settings, "ptb") == "ptb"  # a name goes before a folder
    assert placed(settings, "nowhere") == "nowhere"
    plugged = TaskSettings(kind="plugged:kind")
    assert placed(plugged, "ptb") == str(folder.parent / "ptb")
    assert placed(plugged, "letters") == "letters"


def test_data_says_of_which_kind_it_is(tmp_path: Path) -> None:
    for name, rows in {
        "tagged/train.conll": "Ann B-PER\n",
        "tagged/test.conll": "Ann B-PER\n",
        "labelled/train.tsv": "sentence\tlabel\nyes it is\t1\n",
        "columns/train.tsv": "Ann\tB-PER\nlives\tO\n",
        "columns/test.tsv": "Ann\tB-PER\n",
        "text/train.txt": "just words\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(rows)
    kinds = {"ptb": "language", "conll2003": "tagging", "sts-b": "sentences", "nobody": None}
    own = {"tagged": "tagging", "columns": "tagging", "labelled": "sentences", "text": None}
    for data, wanted in {**kinds, **{str(tmp_path / name): own[name] for name in own}}.items():
        kind = kind_of_data(data)
        assert (None if kind is None else kind.name) == wanted, data
    assert kind_of_data(None) is None
    assert for_data("auto", "conll2003") == "auto-tagging"
    assert for_data("auto", "ptb") == for_data("auto", None) == "auto"
    assert for_data("darts-ptb", "conll2003") == "darts-ptb"
