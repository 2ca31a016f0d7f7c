"""Methods of the user's own in studies: their code is kept, and noticed to change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import cellwright as cw
import own_methods
from cellwright.api.watching import Watcher
from cellwright.base.errors import UserError
from cellwright.search.studies.start import prepare, run_prepared
from cellwright.trials.executors import InProcess
from cellwright.trials.store import find_study, list_trials
from cellwright.trials.study import StudyError, StudyStopped, TrialFinished

CODE = Path(own_methods.__file__).read_text()


@pytest.fixture
def own(recipe, tmp_path):
    """A recipe of a study whose method is a class of `mine.py`."""

    def own(name: str, *settings: str, code: str = CODE):
        (tmp_path / "mine.py").write_text(code)
        return recipe("studies-laptop", f"method.kind=mine.py:{name}", "method.epochs=2", *settings)

    return own


def trials_of(store, name):
    return [
        (t.number, t.cell_id, t.fidelity, t.seed, t.value)
        for t in list_trials(store, find_study(store, name))
    ]


def test_a_study_keeps_the_code_and_goes_on_from_anywhere(own, store, tmp_path, monkeypatch):
    chosen = own("Climb", "trials=7", "method.lag=2", "method.patience=2")
    run_prepared(prepare(chosen, 3, name="whole"), store, InProcess())

    def stop_at_4(event: object) -> None:
        if isinstance(event, TrialFinished) and event.number == 4:
            raise StudyStopped("cut")

    with pytest.raises(StudyStopped):
        run_prepared(prepare(chosen, 3, name="cut"), store, InProcess(), watch=stop_at_4)
    kept = find_study(store, "cut").search
    assert kept["method"] == "mine.py:Climb"
    assert kept["settings"]["patience"] == 2
    assert kept["source"]["file"] == str(tmp_path / "mine.py")
    (tmp_path / "elsewhere").mkdir()
    os.rename("mine.py", "elsewhere/mine.py")  # the same file, wherever it lies
    moved = chosen.model_copy(
        update={"method": chosen.method.model_copy(update={"kind": "elsewhere/mine.py:Climb"})}
    )
    run_prepared(prepare(moved, 3, name="cut"), store, InProcess())
    assert trials_of(store, "cut") == trials_of(store, "whole")
    assert len(trials_of(store, "cut")) == 7


def test_longer_trials_go_on_with_the_training(own, store):
    chosen = own("Halving", "trials=11", "method.epochs=3")
    run_prepared(prepare(chosen, 1, name="halving"), store, InProcess())
    trials = list_trials(store, find_study(store, "halving"))
    assert [t.fidelity for t in trials] == [1] * 9 + [3] * 2
    assert [t.measures["begun_at"] for t in trials[9:]] == [1, 1]
    assert not Path("checkpoints").exists()


class Said(Watcher):
    def __init__(self) -> None:
        self.said: list[str] = []

    def warn(self, text: str) -> None:
        self.said.append(text)


def search(recipe, trials: int) -> list[str]:
    said = Said()
    cw.search(
        recipe, trials=trials, name="s", store="studies.db", executor="in-process", watcher=said
    )
    return said.said


def test_code_that_asks_the_same_goes_on_and_other_code_does_not(own, store):
    chosen = own("Climb", "method.lag=1")
    assert search(chosen, 4) == []
    before = find_study(store, "s").search["source"]["sha256"]
    own("Climb", code=CODE + "\n# a remark\n")
    [said] = search(chosen, 5)
    assert "mine.py:Climb has another content than when study 's' was begun" in said
    after = find_study(store, "s").search["source"]["sha256"]
    assert after != before
    assert search(chosen, 5) == []
    own("Climb", code=CODE.replace("default_rng(seed)", "default_rng(seed + 1)"))
    with pytest.raises(StudyError, match=r"another content of mine.py .* the same trial 0; go on"):
        search(chosen, 6)
    own(
        "Climb",
        code=CODE.replace(
            "def tell(self, cell, value):", "def tell(self, cell, value):\n        oh"
        ),
    )
    with pytest.raises(
        StudyError, match=r"the same trial 1 \(mine.py:Climb: tell\(\) .* 'oh' is not"
    ):
        search(chosen, 6)
    assert find_study(store, "s").search["source"]["sha256"] == after
    assert len(trials_of(store, "s")) == 5


def test_a_method_that_raises_ends_the_study_and_loses_nothing(own, store):
    bad = CODE.replace("self.misses += 1", "self.misses += 1 / 0")
    chosen = own("Climb", "trials=8", "method.lag=1", code=bad)
    with pytest.raises(
        UserError, match=r"mine.py:Climb: tell\(\) for trial \d raised ZeroDivision"
    ):
        run_prepared(prepare(chosen, 3, name="mended"), store, InProcess())
    done = trials_of(store, "mended")
    assert done
    own("Climb", code=CODE)
    run_prepared(prepare(chosen, 3, name="mended"), store, InProcess())
    assert trials_of(store, "mended")[: len(done)] == done
    assert len(trials_of(store, "mended")) == 8


def test_a_class_is_enough_from_python(recipe, store):
    found = cw.search(
        "studies-laptop",
        settings={"method.kind": own_methods.Climb, "method.epochs": 1, "text.train": 500,
                  "child.model.hidden": 4},
        trials=2,
        name="class",
        executor="in-process",
        progress=False,
    )  # fmt: skip
    assert found.ledger.trials == 2
    assert find_study(store, "class").search["method"] == "own_methods:Climb"


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("method.kind=nowhere.py:Climb", "there is no file .*nowhere.py"),
        ("method.kind=mine.py:Clim", "has no attribute 'Clim'; did you mean 'Climb'"),
        ("method.patients=3", "has no setting 'patients'; did you mean 'patience'"),
        ("method.kind=mine.py:NoTell", "has no tell"),
    ],
)
def test_mistakes_are_named_with_the_setting(own, setting, says):
    with pytest.raises(UserError, match=says) as caught:
        own("Climb", setting)
    assert setting.partition("=")[2][:5] in str(caught.value) or "patience" in str(caught.value)


def test_a_recipe_finds_a_file_beside_it(recipe, tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "beside.py").write_text(CODE)
    (folder / "mine.toml").write_text(
        'extends = "studies-laptop"\n[method]\nkind = "beside.py:Climb"\nepochs = 1\n'
    )
    assert recipe(str(folder / "mine.toml")).method.kind == f"{folder}/beside.py:Climb"
