"""Tuning: trials have the settings that they say, and the best ones train to the same value."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import cellwright as cw
from cellwright import zoo
from cellwright.base.errors import UserError
from cellwright.runs.recipes import load_recipe
from cellwright.search.blackbox.ask_tell import Method, run
from cellwright.search.blackbox.asynchronous_hyperband import AsynchronousHyperband
from cellwright.search.blackbox.hyperband import Hyperband
from cellwright.search.blackbox.random_search import RandomSearch
from cellwright.search.blackbox.tpe import Tpe
from cellwright.spaces import Interval, Tuned, Varied
from cellwright.trials.outcome import Outcome
from cellwright.trials.study import StudyStopped, TrialFinished
from cellwright.trials.trial import Trial
from runs.support import SETTINGS, write_corpus

SPACE = Tuned(
    (zoo["lstm"], zoo["gru"]),
    (
        Varied("rate", Interval(1e-4, 1e-1, log=True)),
        Varied("layers", (1, 2, 3)),
        Varied("between", Interval(0.0, 1.0), when={"layers": (2, 3)}),
        Varied("width", Interval(10, 300, whole=True)),
    ),
)


def loss(trial: Trial) -> float:
    """Lowest for a GRU with a rate of 3e-3, two layers, 0.3 between them, and a width of 200."""
    own = trial.info["settings"]
    found = abs(math.log10(own["rate"] / 3e-3)) + abs(own["width"] - 200) / 100
    found += {1: 0.6, 2: abs(own.get("between", 0) - 0.3), 3: 0.4}[own["layers"]]
    return found + 0.3 * (trial.cell.name == "lstm")


def evaluated(trial: Trial) -> Outcome:
    return Outcome(loss(trial) + 1 / trial.fidelity, cost=1.0)


def lowest(
    make: type[Method],
    seed: int,
    space: Tuned = SPACE,
    evaluate: Callable[[Trial], Outcome] = evaluated,
) -> float:
    """The best of 60 trials."""
    search = make(space, epochs=1, seed=seed)
    run(search, evaluate, 60)
    best = search.best()
    assert best is not None
    return best[1].value


def test_tpe_beats_random_search_on_a_known_function():
    stats = pytest.importorskip("scipy.stats")
    pytest.importorskip("optuna")
    tpe, random = ([lowest(make, seed) for seed in range(20)] for make in (Tpe, RandomSearch))
    assert stats.mannwhitneyu(tpe, random, alternative="less").pvalue < 0.05


RECORDED = Path(__file__).parent / "recorded_trials.csv"
"""Perplexities of 189 real trainings, all combinations of four settings, from

    cellwright tune tune-laptop gru --set method.kind=random --set method.epochs=2 \\
        --set text.train=8000 --set text.valid=4000 --set text.test=1000 \\
        --set 'tune.training.learning_rate=[0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064]' \\
        --set 'tune.training.batch=[8, 16, 32]' --set 'tune.model.hidden=[8, 16, 24]' \\
        --set 'tune.model.dropout_output=[0.0, 0.2, 0.5]' \\
        --set 'tune.model.dropout_embedding=[0.0]' --trials 400
"""


def simulated() -> Callable[[Trial], Outcome]:
    """A benchmark of settings: what was recorded, with straight lines in between."""
    interpolate = pytest.importorskip("scipy.interpolate")
    scales = {
        "model.hidden": float, "model.dropout_output": float,
        "training.learning_rate": math.log, "training.batch": math.log,
    }  # fmt: skip
    with open(RECORDED, newline="") as file:
        rows = list(csv.DictReader(file))
    known = {name: sorted({float(row[name]) for row in rows}) for name in scales}
    values = np.empty([len(each) for each in known.values()])
    for row in rows:
        place = tuple(each.index(float(row[name])) for name, each in known.items())
        values[place] = math.log(float(row["valid"]))
    points = [[scales[name](value) for value in each] for name, each in known.items()]
    between = interpolate.RegularGridInterpolator(points, values)

    def evaluate(trial: Trial) -> Outcome:
        own = [scale(trial.info["settings"][name]) for name, scale in scales.items()]
        clipped = [
            min(max(value, each[0]), each[-1]) for value, each in zip(own, points, strict=True)
        ]
        return Outcome(float(between(clipped)[0]), cost=1.0)

    return evaluate


def test_tpe_beats_random_search_on_a_simulated_benchmark():
    stats = pytest.importorskip("scipy.stats")
    pytest.importorskip("optuna")
    evaluate = simulated()
    space = Tuned(
        (zoo["gru"],),
        (
            Varied("model.hidden", Interval(8, 24, whole=True)),
            Varied("model.dropout_output", Interval(0.0, 0.5)),
            Varied("training.learning_rate", Interval(1e-3, 64e-3, log=True)),
            Varied("training.batch", Interval(8, 32, log=True, whole=True)),
        ),
    )
    tpe, random = (
        [lowest(make, seed, space, evaluate) for seed in range(20)] for make in (Tpe, RandomSearch)
    )
    assert stats.mannwhitneyu(tpe, random, alternative="less").pvalue < 0.05


@pytest.mark.parametrize("make", [Tpe, RandomSearch, Hyperband, AsynchronousHyperband])
def test_a_method_that_is_restored_asks_for_the_same(make: type[Method]):
    whole, again = (make(SPACE, epochs=9, seed=5) for _ in range(2))
    run(whole, evaluated, 30)
    for _ in range(30):
        trial = again.ask()
        assert trial is not None
        again = make.from_state(json.loads(json.dumps(again.state())), SPACE)
        again.tell(trial, evaluated(trial))
    assert [t.to_json() for t in again.trials] == [t.to_json() for t in whole.trials]
    assert all(t.info["settings"] for t in whole.trials)
    on = [t for t in whole.trials if "continues" in t.info]
    assert all(t.info["settings"] == whole.trials[t.info["continues"]].info["settings"] for t in on)


def test_no_two_random_trials_are_the_same():
    space = Tuned((zoo["lstm"],), (Varied("a", (1, 2)), Varied("b", (1, 2, 3))))
    search = RandomSearch(space, seed=1)
    run(search, lambda trial: Outcome(0.5), 100)
    assert len(search.trials) == 6
    assert search.finished


# -- for real --------------------------------------------------------------------------------------

SMALL = {
    "text.train": "none",
    "method.epochs": 2,
    "method.startup": 3,
    "tune.model.hidden": [4, 6],
    "tune.training.batch": [2, 4],
}


@pytest.fixture
def training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recipe for tuning a very small training on a very small text."""
    monkeypatch.chdir(tmp_path)
    corpus = write_corpus(tmp_path / "text")
    child = "\n".join(f"{key}={_quoted(value)}" for key, value in _settings())
    (tmp_path / "small.toml").write_text(f'extends = "laptop"\ntask.data = "{corpus}"\n{child}\n')
    path = tmp_path / "mine.toml"
    path.write_text(
        f"""
training = "small.toml"
trials = 6

[task]
data = "{corpus}"

[method]
kind = "tpe"
epochs = 2
startup = 3

[tune]
cells = ["lstm", "gru"]

[tune.model]
hidden = [4, 6]

[tune.training]
batch = [2, 4]
learning_rate = {{low = 1e-3, high = 1e-1, log = true}}
"""
    )
    return path


def _settings() -> list[tuple[str, str]]:
    pairs = [setting.split("=", 1) for setting in SETTINGS if not setting.startswith("task.data")]
    return [(key, value) for key, value in pairs]


def _quoted(value: str) -> str:
    try:
        float(value)
    except ValueError:
        return f'"{value}"'
    return value


def test_the_best_settings_train_to_the_value_of_the_best_trial(training: Path):
    pytest.importorskip("optuna")
    found = cw.tune(training, executor="in-process", name="first", progress=False)
    assert (found.status, len(found.trials)) == ("ok", 6)
    best = found.best[0]
    assert best.loss == min(trial.loss for trial in found.trials)
    assert found.folder == Path("studies/first")
    recipe = load_recipe(found.folder / "best.toml")
    for name, value in best.settings.items():
        table, key = name.split(".")
        assert getattr(getattr(recipe, table), key) == value
    cell = found.folder / "best.json"
    trained = cw.train(cell, recipe=found.folder / "best.toml", seed=best.seed, progress=False)
    assert trained.valid == found.metric.value(best.loss)
    with open(found.folder / "trials.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["training.learning_rate"]) for row in rows] == [
        trial.settings["training.learning_rate"] for trial in found.trials
    ]
    for name in ("history.svg", "slices.svg", "parallel.svg"):
        assert b"<svg" in (found.folder / name).read_bytes()
    assert sum(found.importance.values()) == pytest.approx(1)
    assert "tuning first: 6 trials" in found.title


def test_stopped_and_gone_on_with_is_the_same_tuning(training: Path):
    pytest.importorskip("optuna")
    whole = cw.tune(training, executor="in-process", name="whole", progress=False)

    class StopAt(cw.api.Watcher):
        def studying(self, prepared, store, executor, target):
            from contextlib import nullcontext

            def watch(event: object) -> None:
                if isinstance(event, TrialFinished) and event.number in (1, 3):
                    os.kill(os.getpid(), signal.SIGINT)

            return nullcontext(watch)

    stops = 0
    while True:
        try:
            parts = cw.tune(training, executor="in-process", name="parts", watcher=StopAt())
            break
        except StudyStopped:
            stops += 1
    assert stops == 2
    assert parts.rows() == [
        {**row, "seconds": other["seconds"]}
        for row, other in zip(whole.rows(), parts.rows(), strict=True)
    ]


def test_a_comparison_tunes_every_cell_first(training: Path):
    pytest.importorskip("optuna")
    found = cw.compare(
        ["lstm", "gru"], recipe=training, tune=3, seeds=1, executor="in-process",
        progress=False, out="fair",
    )  # fmt: skip
    for one in found.plan.contenders:
        assert one.recipe is not None
        best = load_recipe(Path("fair/tuning") / one.label / "best.toml")
        assert one.recipe.training.learning_rate == best.training.learning_rate
        assert "tuned by 3 trials" in one.source
    rates = {one.recipe.training.learning_rate for one in found.plan.contenders if one.recipe}
    run = found.plan.run("gru", 0)
    assert run is not None
    assert run.info.recipe.training.learning_rate in rates


def test_a_comparison_is_refused_before_anything_is_tuned(training: Path):
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    common = {"recipe": training, "seeds": 1, "executor": "in-process", "progress": False}
    with pytest.raises(UserError, match="no comparison of cells"):
        cw.compare(["gru"], tune=2, out="mine", **common)
    assert [path.name for path in Path("mine").iterdir()] == ["notes.txt"]
    cw.compare(["gru"], tune=1, out="fair", **common)
    with pytest.raises(UserError, match="tuned with 1 trials each, not 2"):
        cw.compare(["gru"], tune=2, out="fair", **common)
    with pytest.raises(UserError, match="cannot make"):
        cw.compare(["gru"], tune=1, out="mine/notes.txt/x", **common)
    with pytest.raises(UserError, match=r"leave out tune.task"):
        cw.compare(["gru"], tune=1, out="b", settings={"tune.task.bptt": [5, 7]}, **common)


def test_without_optuna_random_settings_are_tuned_all_the_same(
    training: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "optuna", None)
    found = cw.tune(
        training, executor="in-process", name="random", progress=False,
        settings={"method": {"kind": "random", "epochs": 1}}, trials=4,
    )  # fmt: skip
    assert found.importance == {}
    assert (Path("studies/random") / "best.toml").exists()


def test_a_model_that_is_too_wide_for_memory_is_a_failed_trial_of_its_own(training: Path):
    pytest.importorskip("optuna")
    found = cw.tune(
        training, executor="in-process", name="wide", progress=False, trials=4,
        settings={"tune.model.hidden": [4, 900_000], "method.startup": 9, "retries.failures": 0},
    )  # fmt: skip
    wide = [t for t in found.trials if t.settings["model.hidden"] == 900_000]
    assert len(found.trials) == 4
    assert wide
    assert not any(np.isfinite(trial.loss) for trial in wide)
    assert found.best[0].settings["model.hidden"] == 4
