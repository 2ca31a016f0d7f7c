"""Recipes: the papers' values, files and settings that go before them, and every mistake."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.models.settings import AwdSettings, OneLayerSettings
from cellwright.runs.errors import RecipeError
from cellwright.runs.recipe_files import with_places
from cellwright.runs.recipes import (
    Recipe,
    for_task,
    load_recipe,
    recipe_names,
    recipe_to_toml,
)
from cellwright.tasks.language.settings import LanguageSettings
from cellwright.tasks.registry import task_kind
from cellwright.training.settings import TrainingSettings

MODEL = '[model]\nkind = "one-layer"\n'


@pytest.fixture
def write(tmp_path: Path):
    """Write a recipe's file."""

    def write(text: str, name: str = "mine.toml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def wrong(source: str | Path, *settings: str) -> str:
    with pytest.raises(RecipeError) as caught:
        load_recipe(source, settings)
    return str(caught.value)


# -- the packaged ones ---------------------------------------------------------------------


def test_each_paper_has_its_recipe_and_a_small_one():
    names = recipe_names()
    papers = [
        "darts-ptb-training",
        "ess-ptb-training",
        "ess-wikitext-103-training",
        "fenas-ptb-training",
        "nas-bench-nlp-ptb",
        "nas-bench-nlp-wikitext-2",
    ]
    taggers = ["chunks-conll2000", "ner-conll2003", "ner-wnut17"]
    more = ["i-darts-conll2003-training"]
    words = [f"{name}-words" for name in (*taggers, *more)]
    glue = ["cola", "mnli", "mrpc", "qnli", "qqp", "rte", "sst-2", "sts-b", "wnli"]
    pairs = [f"blm-{data}" for data in ("mrpc", "sick-r", "sts-b")]
    esim = [f"esim-{data}" for data in ("mrpc", "sick-r", "sts-b")]
    bert = [f"{name}-bert" for name in (*pairs, *esim)]
    each = [f"{kind}-{data}" for kind in ("frozen", "glue") for data in glue]
    sentences = [*pairs, *esim, *each]
    released = [f"nas-bench-nlp-{data}-as-released" for data in ("ptb", "wikitext-2")]
    wanted = sorted([*papers, *released, *taggers, *more, *words, *sentences, *bert])
    assert [name for name in names if not name.endswith("laptop")] == wanted
    assert all(f"{name}-laptop" in names for name in (*papers, *taggers, *sentences))


@pytest.mark.parametrize("name", recipe_names())
def test_packaged_recipes(name: str):
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.description
    assert recipe.task.data in task_kind(recipe.task.kind).names
    assert recipe.training.epochs <= 30 or not name.endswith("laptop")


def test_darts():
    """I-DARTS, section 3.2, and what it takes from DARTS."""
    recipe = load_recipe("darts-ptb-training")
    assert recipe.task == LanguageSettings(
        data="ptb", bptt=35, bptt_spread=5, bptt_shortest=5, bptt_halve=0.05
    )
    assert recipe.model == OneLayerSettings(hidden=850, init_range_embedding=0.04)
    assert recipe.training == TrainingSettings(
        optimizer="sgd", learning_rate=20, weight_decay=8e-7, clip=0.25, epochs=3000, batch=64,
        evaluation_batch=10, average_after=5,
    )  # fmt: skip


def test_fenas():
    """FENAS, section 4.3, stage 2, and what it takes from ENAS."""
    recipe = load_recipe("fenas-ptb-training")
    assert recipe.model.hidden == 900
    training = recipe.training
    assert (training.optimizer, training.learning_rate, training.weight_decay) == ("sgd", 20, 1e-7)
    assert (training.rate(14), training.rate(15)) == (20, 20 * 0.96)
    assert (training.epochs, training.batch, recipe.task.bptt) == (150, 64, 35)


def test_ess():
    """ESS, section 5.1."""
    names = ("darts-ptb-training", "ess-ptb-training", "ess-wikitext-103-training")
    darts, ptb, large = map(load_recipe, names)
    assert (ptb.task, ptb.model, ptb.training) == (darts.task, darts.model, darts.training)
    assert large.model == OneLayerSettings(hidden=2500, init_range_embedding=0.04)
    assert (large.training.epochs, large.task.bptt) == (30, 70)
    assert large.task.data == "wikitext-103"


def test_nas_bench_nlp():
    """NAS-Bench-NLP, section 3, and its released logs."""
    ptb, larger = map(load_recipe, ("nas-bench-nlp-ptb", "nas-bench-nlp-wikitext-2"))
    assert ptb.model == larger.model == AwdSettings()
    assert ptb.training == larger.training
    assert ptb.training == TrainingSettings(
        optimizer="adam", learning_rate=1e-3, weight_decay=1.2e-6, clip=0.25, epochs=50, batch=20,
        evaluation_batch=50, average_after=None,
    )  # fmt: skip
    segments = {"bptt": 70, "bptt_spread": 5, "bptt_shortest": 5, "bptt_halve": 0.05}
    assert ptb.task == LanguageSettings(data="ptb", **segments)
    assert larger.task == LanguageSettings(data="wikitext-2", **segments)


# -- files ---------------------------------------------------------------------------------


def test_a_file_extends_a_packaged_recipe(write):
    path = write('extends = "darts-ptb-training"\n[training]\nepochs = 7\naverage_after = "none"\n')
    recipe, parent = load_recipe(path), load_recipe("darts-ptb-training")
    assert recipe.name == "mine"
    assert recipe.description == ""
    assert (recipe.task, recipe.model) == (parent.task, parent.model)
    changed = {"epochs": 7, "average_after": None}
    assert recipe.training == parent.training.model_copy(update=changed)


def test_a_file_extends_a_file_beside_it(write, tmp_path: Path, monkeypatch):
    (tmp_path / "below").mkdir()
    write('extends = "laptop"\n[model]\nhidden = 9\n', "below/base.toml")
    write('extends = "below/base.toml"\n[training]\nepochs = 2\n', "middle.toml")
    path = write('extends = "middle.toml"\n[training]\nbatch = 3\n')
    monkeypatch.chdir("/")
    recipe = load_recipe(path)
    assert (recipe.model.hidden, recipe.training.epochs, recipe.training.batch) == (9, 2, 3)


def test_another_kind_of_model_starts_from_its_own_defaults(write):
    path = write('extends = "darts-ptb-training"\n[model]\nkind = "awd"\nhidden = 5\n')
    assert load_recipe(path).model == AwdSettings(hidden=5)


def test_text_beside_the_file_is_found(write, tmp_path: Path, monkeypatch):
    (tmp_path / "text").mkdir()
    path = write(f'[task]\ndata = "text"\n{MODEL}')
    monkeypatch.chdir("/")
    assert Path(load_recipe(path).task.data) == (tmp_path / "text").resolve()
    (tmp_path / "ptb").mkdir()
    assert load_recipe(write(f'[task]\ndata = "ptb"\n{MODEL}')).task.data == "ptb"


def test_cells_of_layers_beside_the_file_are_found(tmp_path: Path):
    (tmp_path / "mine.json").write_text("{}")
    (tmp_path / "lstm").write_text("{}")
    said = ["*", "mine.json", "lstm", "nowhere.json", "{" + "x" * 9999, 3]
    found = with_places({"model": {"kind": "esim", "layer_cells": said}}, tmp_path)
    mine = os.path.realpath(tmp_path / "mine.json")
    assert found["model"] == {"kind": "esim", "layer_cells": ["*", mine, *said[2:]]}


def test_settings_go_before_the_recipe():
    settings = ["training.epochs=3", "training.optimizer = adam", "model.hidden=16"]
    settings += ["task.data=ptb", "training.clip=none", "training.learning_rate=1e-3"]
    settings += ['description="a = b"']
    recipe = load_recipe("darts-ptb-training", settings)
    assert recipe.training.epochs == 3
    assert recipe.training.optimizer == "adam"
    assert recipe.training.clip is None
    assert recipe.training.learning_rate == 1e-3
    assert recipe.model.hidden == 16
    assert (recipe.task.data, recipe.description) == ("ptb", "a = b")


# -- and back ------------------------------------------------------------------------------

RATES = st.floats(0, 0.999)
SIZES = st.integers(1, 10**6)
POSITIVE = st.floats(1e-30, 1e6)
RECIPES = st.builds(
    for_task(Recipe, task_kind("language")),
    name=st.text(),
    description=st.text(),
    task=st.builds(
        LanguageSettings,
        data=st.sampled_from(["ptb", "/a/folder"]),
        folder=st.none() | st.text(min_size=1).filter(lambda text: text != "none"),
        bptt=SIZES,
        bptt_halve=RATES,
    ),
    model=st.builds(OneLayerSettings, hidden=SIZES, dropout_x=RATES, init_range=POSITIVE)
    | st.builds(AwdSettings, layers=st.integers(1, 1000), weight_dropout=RATES, ar=POSITIVE),
    training=st.builds(
        TrainingSettings,
        optimizer=st.sampled_from(["sgd", "adam"]),
        learning_rate=POSITIVE,
        clip=st.none() | POSITIVE,
        patience=st.none() | SIZES,
        epochs=SIZES,
    ),
)


@given(RECIPES)
def test_a_recipe_as_toml_is_the_same_recipe(tmp_path_factory: pytest.TempPathFactory, recipe):
    path = tmp_path_factory.mktemp("r") / "recipe.toml"
    path.write_text(recipe_to_toml(recipe), encoding="utf-8", newline="")
    assert load_recipe(path) == recipe


# -- mistakes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{MODEL}hiden = 3", "mine.toml: unknown key 'model.hiden'; did you mean 'model.hidden'?"),
        (f"epochs = 3\n{MODEL}", "unknown key 'epochs'; did you mean 'training.epochs'?"),
        (f"{MODEL}[trainin]\n", "unknown key 'trainin'; did you mean 'training'?"),
        (f"{MODEL}[training]\nq9 = 1", "unknown key 'training.q9'; [training] has optimizer, "),
        (f"{MODEL}[training]\nepochs = 0", "training.epochs should be greater than or equal to 1"),
        (
            f"{MODEL}[training]\nepochs = true",
            "training.epochs should be a valid integer, not True",
        ),
        (f'{MODEL}[training]\nepochs = "3"', "training.epochs should be a valid integer, not '3'"),
        (f"{MODEL}[training]\nepochs = 2.5", "training.epochs should be a valid integer, not 2.5"),
        (f'{MODEL}[training]\nepochs = "none"', "training.epochs should be a valid integer"),
        (f'{MODEL}[training]\npatience = "x"', "should be a valid integer or \"none\", not 'x'"),
        (f'{MODEL}[training]\noptimizer = "adm"', "should be 'sgd' or 'adam', not 'adm'; did you"),
        (f"{MODEL}dropout_x = 1.0", "model.dropout_x should be less than 1, not 1.0"),
        (f"{MODEL}dropout_x = nan", "model.dropout_x should be"),
        (
            '[model]\nkind = "two-layer"',
            "model.kind should be 'one-layer' or 'awd', not 'two-layer'",
        ),
        ("[model]\nhidden = 3", "model.kind is missing; it should be 'one-layer' or 'awd'"),
        ('model = "awd"', "model should be a table, written [model], not 'awd'"),
        (f"training = 3\n{MODEL}", "training should be a table, written [training], not 3"),
        ("description = 'x'", "model is missing"),
        (f'[task]\ndata = ""\n{MODEL}', "task.data: string should have at least 1 character"),
        (f"[task]\ndata = 3\n{MODEL}", "task.data should be a valid string, not 3"),
        (f'data = "ptb"\n{MODEL}', "unknown key 'data'; did you mean 'task.data'?"),
        (f"{MODEL}[training]\nbptt = 7", "unknown key 'training.bptt'; did you mean 'task.bptt'?"),
        (f"extends = 3\n{MODEL}", "extends should name a recipe, not 3"),
        (
            'extends = "darts-ptb-trainig"',
            "extends: unknown recipe 'darts-ptb-trainig'; did you mean 'darts-ptb-training'?",
        ),
        ('extends = "other.toml"', "extends: there is no recipe"),
        ("[model]\nkind = ", "is not TOML"),
        (f"{MODEL}hidden = 3\nhidden = 4\nar = 0.0", "(at line 4, column"),
        (f"{MODEL}when = 2020-01-01", "unknown key 'model.when'"),
    ],
)
def test_what_is_wrong_is_named(write, text: str, says: str):
    path = write(text)
    message = wrong(path)
    assert says in message
    assert str(path) in message
    assert "\n" not in message


def test_all_that_is_wrong_is_said():
    message = wrong("laptop", "training.epoch=3", "model.hidden=0")
    assert message.splitlines() == [
        "the setting 'model.hidden=0': model.hidden should be greater than or equal to 1, not 0",
        "the setting 'training.epoch=3': unknown key 'training.epoch'; did you mean "
        "'training.epochs'?",
    ]


def test_the_file_that_said_it_is_named(write):
    write(f"{MODEL}hidden = 0\n", "base.toml")
    path = write('extends = "base.toml"\n[training]\nepochs = 3\n')
    assert "base.toml: model.hidden should be" in wrong(path)


def test_recipes_that_extend_each_other(write):
    first = write('extends = "second.toml"\n', "first.toml")
    write('extends = "first.toml"\n', "second.toml")
    assert "first.toml extends itself: " in wrong(first)
    assert "extends itself" in wrong(write('extends = "./own.toml"', "own.toml"))


def test_unknown_recipes(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "unknown recipe 'dart-ptb'; did you mean 'darts-ptb-training'?" in wrong("dart-ptb")
    assert "there are bench-laptop, " in wrong("qqq")
    assert "there is no recipe" in wrong("mine.toml")
    assert "there is no recipe" in wrong("folder/mine")
    assert "is a directory" in wrong(tmp_path)
    assert "is not a file name" in wrong("a\0b.toml")
    assert "unknown recipe" in wrong("x" * 5000)


def test_files_that_hold_something_else(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_bytes(b"a = 1\nb = '\xff'\n")
    assert "mine.toml, line 2: not UTF-8 text" in wrong(path)
    path.write_bytes(b"#" * 2**21)
    assert "larger than" in wrong(path)
    path.write_bytes(b"a = " + b"9" * 5000)
    assert "a number has thousands of digits" in wrong(path)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a = " + "[" * 100 + "]" * 100,
        "a = " + "{a = " * 100 + "1" + "}" * 100,
        f"[{'.'.join('a' * 2_000)}]",
        f"{'.'.join('a' * 2_000)} = 1",
    ],
)
def test_files_that_are_nested_without_end(write, text: str):
    assert "mine.toml: more than 20 tables or lists within each other" in wrong(write(text))


def test_settings_of_endless_names_and_values():
    assert "has 20,000 parts; one has two" in wrong("laptop", f"{'.'.join('a' * 20_000)}=1")
    for value in ("9" * 5000, "[" * 100 + "]" * 100):
        said = wrong("laptop", f"training.epochs={value}")
        assert "training.epochs should be a valid integer" in said
        assert len(said) < 300


@pytest.mark.parametrize("setting", ["training.epochs", "=3", "training.=3", ".epochs=3", ""])
def test_settings_that_are_none(setting: str):
    assert "a setting looks like training.epochs=3, not" in wrong("laptop", setting)


@pytest.mark.parametrize("value", ["3\nname='x'", "[1,", "{a=1}", "'", "2020-01-01", "[[[["])
def test_values_of_settings_that_are_none(value: str):
    assert "training.epochs should be a valid integer" in wrong(
        "laptop", f"training.epochs={value}"
    )
