"""Values of a wrong kind in the files of a run are named, and edits are noticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.compare.contenders import contender
from cellwright.compare.failures import read_failures
from cellwright.compare.plan import make_plan, read_plan
from cellwright.runs.checkpoints import load_checkpoint, save_checkpoint
from cellwright.runs.curves import curve_of
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.listing import list_runs
from cellwright.runs.run import resume
from cellwright.runs.runner import train
from cellwright.search.one_shot.figures import SeedFigures, Selection, read_figures
from runs.support import small_recipe, small_run
from runs.test_lost_files import copied, cut_run


@pytest.fixture(scope="module")
def ended(text_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = small_run(text_folder, tmp_path_factory.mktemp("ended") / "run", "training.epochs=1")
    train(run.folder, run.training)
    return run.folder.path


@pytest.fixture(scope="module")
def cut(text_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cut_run(text_folder, tmp_path_factory.mktemp("cut") / "run", 1)


def edit(path: Path, keys: str, value: Any) -> None:
    """Put a value into a JSON file, by the keys that lead to it; remove it if it is `...`."""
    whole = json.loads(path.read_text())
    at = whole
    *before, last = [int(key) if key.isdigit() else key for key in keys.split(".")]
    for key in before:
        at = at[key]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    path.write_text(json.dumps(whole))


WRONG = {
    "valid": ("5.5", None, [1], True),
    "epoch": ("1", 1.5, 0, -3, True, 10**30),
    "seconds": ("Infinity", -1, "x", {}),
    "peak_memory": (1e9, -1, 2**70),
    "averaged": (0, "no"),
    "figures": ([], {"valid": 3}, {"valid": {"f1": "x"}}),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_metrics(ended: Path, tmp_path: Path, name: str):
    path = copied(ended, tmp_path / "runs" / "run")
    text = (path / "metrics.jsonl").read_text().splitlines()
    record = json.loads(text[-1])
    for value in WRONG[name]:
        (path / "metrics.jsonl").write_text(json.dumps({**record, name: value}) + "\n")
        with pytest.raises(RunError, match=rf"metrics\.jsonl is damaged, .* epoch's {name}"):
            curve_of(RunFolder.open(path))


@pytest.mark.parametrize("keys", ["valid", "seconds", "status", "best_epoch", "curve.0.train"])
@pytest.mark.parametrize("value", [..., "x", [], {}])
def test_the_result(ended: Path, tmp_path: Path, keys: str, value: Any):
    path = copied(ended, tmp_path / "run")
    edit(path / "result.json", keys, value)
    with pytest.raises(RunError, match=r"result\.json is damaged"):
        RunFolder.open(path).result()


def test_a_result_that_is_gone_is_missed(ended: Path, tmp_path: Path):
    path = copied(ended, tmp_path / "run")
    (path / "result.json").unlink()
    with pytest.raises(RunError, match=r"result\.json is missing, though the run has finished"):
        RunFolder.open(path).result()


@pytest.mark.parametrize(
    ("keys", "values"),
    [
        ("seed", ("5", True, -1, 1.0, None, ...)),
        ("threads", ("1", True, 0, 1.5)),
        ("created", ("yesterday", "2024-01-01T10:00:00", None)),
        ("status", ("gone", 1)),
        ("cell.id", (7, None, ...)),
        ("metric.form", ("odd", 3)),
        ("recipe.training", ([], "x", ...)),
    ],
)
def test_what_a_run_is(ended: Path, tmp_path: Path, keys: str, values: tuple[Any, ...]):
    for number, value in enumerate(values):
        path = copied(ended, tmp_path / "runs" / str(number))
        edit(path / "run.json", keys, value)
        with pytest.raises(RunError, match=r"run\.json is damaged, or of another version: "):
            RunFolder.open(path)
    listing = list_runs(tmp_path / "runs")
    assert (len(listing.runs), len(listing.damaged), listing.skipped) == (0, len(values), {})


def test_a_cell_may_have_the_name_of_a_number(text_folder: Path, tmp_path: Path):
    cell = cw.zoo["gru"].renamed("NaN")
    made = cw.train(
        cell, str(text_folder), recipe=small_recipe("training.epochs=1"), name="nan",
        out=tmp_path, progress=False,
    )  # fmt: skip
    assert cw.load(made.path).cell.name == "NaN"


def test_a_seed_is_a_whole_number(text_folder: Path, tmp_path: Path):
    for seed in (-1, True, "3", 1.0):
        with pytest.raises(UserError, match="a seed is a whole number from 0 on, not"):
            cw.train("gru", str(text_folder), seed=seed, out=tmp_path, progress=False)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


# -- edits that a checkpoint contradicts ---------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "value", "says"),
    [
        ("seed", 7, "seed was 0, and is 7 now"),
        ("recipe.training.learning_rate", 0.5, "training.learning_rate was"),
        ("recipe.model.hidden", 9, "model.hidden was 6, and is 9 now"),
        ("id", "0" * 16, "last.safetensors belongs to another run"),
    ],
)
def test_edits_are_noticed(cut: Path, tmp_path: Path, keys: str, value: Any, says: str):
    path = copied(cut, tmp_path / "run")
    edit(path / "run.json", keys, value)
    before = (path / "metrics.jsonl").read_bytes()
    with pytest.raises(RunError, match=says):
        resume(path)
    assert (path / "metrics.jsonl").read_bytes() == before


def test_more_epochs_contradict_nothing(cut: Path, tmp_path: Path):
    path = copied(cut, tmp_path / "run")
    edit(path / "run.json", "recipe.training.epochs", 2)
    assert len(resume(path).curve) == 2


def test_a_checkpoint_that_does_not_say_what_it_was_made_with_is_gone_on_with(
    cut: Path, tmp_path: Path
):
    path = copied(cut, tmp_path / "run")
    edit(path / "run.json", "recipe.training.epochs", 2)
    last = load_checkpoint(path / "last.safetensors")
    state = {key: value for key, value in last.state.items() if key != "made_with"}
    save_checkpoint(path / "last.safetensors", last.tensors, state)
    assert resume(path).status == "ok"


# -- searches and comparisons --------------------------------------------------------------------


def test_figures_of_a_search(tmp_path: Path):
    path = tmp_path / "result.json"
    good = {"status": "ok", "valid": "NaN", "epochs": 2, "seconds": 1.5, "parameters": 3,
            "peak_memory": 4, "listing": {}}  # fmt: skip
    path.write_text(json.dumps(good))
    assert read_figures(path, SeedFigures)["epochs"] == 2
    for name, value in (("epochs", "2"), ("valid", None), ("status", 1), ("seconds", -1)):
        path.write_text(json.dumps({**good, name: value}))
        with pytest.raises(RunError, match=f"damaged: {name}: "):
            read_figures(path, SeedFigures)
    path.write_text('{"chosen": 0, "candidates": [{"seed": 0}]}')
    with pytest.raises(RunError, match=r"damaged: candidates\.0\.cell_id: field required"):
        read_figures(path, Selection)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ("seeds", ["0"]),
        ("seeds", [True]),
        ("seeds", [-1]),
        ("seeds", []),
        ("threads", "1"),
        ("threads", 0),
        ("cells.0.label", "../../outside"),
        ("cells.0.label", 3),
        ("cells.0.id", None),
        ("cells", {}),
        ("data.fingerprint", 3),
        ("metric", "perplexity"),
        ("recipe", []),
    ],
)
def test_what_a_comparison_is(text_folder: Path, tmp_path: Path, keys: str, value: Any):
    gru = contender(cw.zoo["gru"])
    plan = make_plan(tmp_path / "c", [gru], small_recipe(), 1, data=str(text_folder))
    assert read_plan(plan.folder) == plan
    edit(plan.folder / "comparison.json", keys, value)
    with pytest.raises(RunError, match=r"comparison\.json is damaged, or of another version: "):
        read_plan(plan.folder)


def test_failures_of_a_comparison(text_folder: Path, tmp_path: Path):
    gru = contender(cw.zoo["gru"])
    plan = make_plan(tmp_path / "c", [gru], small_recipe(), 1, data=str(text_folder))
    good = {"label": "gru", "seed": 0, "ending": "error", "message": "", "attempts": 1}
    path = plan.folder / "failures.json"
    for bad in ([{**good, "seed": "0"}], [{**good, "message": 3}], [3], {"a": 1}, 7, [{}]):
        path.write_text(json.dumps(bad))
        with pytest.raises(RunError, match=r"failures\.json is damaged: .*; remove it"):
            read_failures(plan)
    path.write_text(json.dumps([good]))
    assert [failure.why for failure in read_failures(plan)] == ["error"]
