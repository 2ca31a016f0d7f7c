"""Run folders: made whole, never over another, and known from what is none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import cellwright as cw
from cellwright.base.errors import FileError
from cellwright.base.locks import training_lock
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.listing import list_runs
from cellwright.runs.recipes import load_recipe
from cellwright.runs.run import fresh_run, reopen
from cellwright.runs.runner import train
from runs.support import largest_file, small_recipe, small_run


@pytest.fixture
def run(text_folder: Path, tmp_path: Path):
    """A run that has not started."""
    return small_run(text_folder, tmp_path / "runs" / "mine", seed=5)


def test_what_is_in_it(run, text_folder: Path):
    path = run.folder.path
    names = {"run.json", "cell.json", "recipe.toml", "vocabulary.txt", "metrics.jsonl", "lock"}
    assert {entry.name for entry in path.iterdir()} == names
    info = json.loads((path / "run.json").read_text())
    assert info["cell"] == {"name": "gru", "id": cw.zoo["gru"].id}
    assert info["data"]["name"] == str(text_folder)
    assert "small: 22 types" in info["data"]["description"]
    assert (info["seed"], info["status"], info["backend"]) == (5, "running", "auto")
    assert set(info["versions"]) == {"cellwright", "torch", "python", "machine"}
    assert info["recipe"]["training"]["epochs"] == 3
    assert RunFolder.open(path).info == run.folder.info
    assert RunFolder.open(path).cell() == cw.zoo["gru"]


def test_its_recipe_can_be_used_again(run, text_folder: Path):
    path = run.folder.path / "recipe.toml"
    again = load_recipe(path)
    assert again == run.folder.info.recipe
    assert again.task.data == str(text_folder)
    assert 'patience = "none"' in path.read_text()


def test_names_say_what_a_run_is(text_folder: Path, tmp_path: Path):
    runs = tmp_path / "runs"
    cell = cw.zoo["gru"].renamed("../my cell")
    made = [fresh_run(cell, small_recipe(), data=str(text_folder), runs=runs) for _ in range(3)]
    names = [run.folder.path.name for run in made]
    stamp = f"{made[0].folder.info.created:%Y%m%d}"
    assert all(name.startswith(f"my-cell-small-laptop-{stamp}-") for name in names)
    assert len(set(names)) == 3
    assert [run.path for run in list_runs(runs).runs] == sorted(run.folder.path for run in made)


def test_a_cell_without_a_name_is_named_by_its_id(text_folder: Path, tmp_path: Path):
    cell = cw.zoo["gru"].renamed("")
    run = fresh_run(cell, small_recipe(), data=str(text_folder), runs=tmp_path)
    assert run.folder.path.name.startswith(f"{cell.id}-small-laptop-")


def test_nothing_is_overwritten(run, text_folder: Path):
    before = (run.folder.path / "run.json").read_bytes()
    with pytest.raises(RunError, match=r"mine is there already; choose another name"):
        small_run(text_folder, run.folder.path)
    assert (run.folder.path / "run.json").read_bytes() == before
    file = run.folder.path.parent / "file"
    file.write_text("mine")
    with pytest.raises(RunError, match=r"file is there already"):
        small_run(text_folder, file)
    assert file.read_text() == "mine"
    assert [p.name for p in sorted(file.parent.iterdir())] == ["file", "mine"]


def test_a_mistake_leaves_no_folder(text_folder: Path, tmp_path: Path):
    runs = tmp_path / "runs"
    with pytest.raises(ValueError, match="unknown corpus 'pbt'; did you mean 'ptb'"):
        fresh_run(cw.zoo["gru"], small_recipe(), data="pbt", runs=runs)
    with pytest.raises(ValueError, match="tokens are too few"):
        fresh_run(
            cw.zoo["gru"], small_recipe("training.batch=999"), data=str(text_folder), runs=runs
        )
    with largest_file(300), pytest.raises(FileError, match="cannot write"):
        fresh_run(cw.zoo["gru"], small_recipe(), data=str(text_folder), runs=runs)
    assert list(runs.iterdir() if runs.exists() else ()) == []
    with pytest.raises(FileError, match="cannot make"):
        small_run(text_folder, text_folder / "train.txt" / "run")


def test_folders_that_are_no_runs(run, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "other").mkdir()
    (tmp_path / "runs" / "file").write_text("")
    for name, says in [
        ("runs/mime", r"there is no run runs/mime; did you mean 'mine'\?"),
        ("elsewhere", "there is no run elsewhere; 'cellwright runs list' shows"),
        ("runs/other", r"runs/other is not a run: it has no run.json"),
        ("other", r"runs/other is not a run: it has no run.json"),
        ("runs/file", "is a file; a run is a folder"),
    ]:
        with pytest.raises(RunError, match=says):
            RunFolder.open(name)
    assert RunFolder.open("mine").info == run.folder.info


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "damaged, or of another version"),
        ("[]", "its format is None"),
        ('{"format": "cellwright-run/9"}', "its format is 'cellwright-run/9'"),
        ('{"format": "cellwright-run/2"}', "metric: field required"),
        ('{"format": "cellwright-run/1"}', "data: field required"),
        ('{"format": "cellwright-run/1", "data": 3, "recipe": []}', "data: input should be"),
        ('{"format": "cellwright-run/1", "data": {}, "recipe": {}}', "data.name: field required"),
        ("\x00" * 50, "damaged"),
        ("[" * 100_000, "damaged"),
    ],
)
def test_a_damaged_run_json(run, text: str, says: str):
    (run.folder.path / "run.json").write_text(text)
    with pytest.raises(RunError, match=says) as caught:
        RunFolder.open(run.folder.path)
    assert str(run.folder.path / "run.json") in str(caught.value)


def test_every_cut_of_run_json_is_noticed(run):
    path = run.folder.path / "run.json"
    whole = path.read_bytes()
    for length in range(0, len(whole.rstrip()), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(RunError, match="damaged"):
            RunFolder.open(run.folder.path)


def test_a_cell_that_is_not_the_runs_own(run):
    path = run.folder.path / "cell.json"
    path.write_text(cw.zoo["lstm"].to_json())
    with pytest.raises(RunError, match=r"cell\.json is not the cell that this run was made with"):
        reopen(run.folder.path)
    path.write_text("{")
    with pytest.raises(RunError, match=r"cell\.json: "):
        reopen(run.folder.path)
    path.unlink()
    with pytest.raises(FileError, match=r"cannot read .*cell\.json: no such file"):
        reopen(run.folder.path)


def test_listing_skips_and_says_why(run, text_folder: Path, tmp_path: Path):
    runs = run.folder.path.parent
    (runs / "notes.txt").write_text("")
    (runs / "other").mkdir()
    (runs / "half").mkdir()
    (runs / "half" / "run.json").write_text('{"format"')
    killed, making = runs / ".gone.1.tmp", runs / ".making.2.tmp"
    killed.mkdir()
    os.utime(killed, (0, 0))
    making.mkdir()
    listing = list_runs(runs)
    assert [found.path for found in listing.runs] == [run.folder.path]
    assert set(listing.skipped) == {runs / "other", killed}
    assert "run.json is damaged" in listing.damaged[runs / "half"]
    assert "left half-made" in listing.skipped[killed]
    assert "it has no run.json" in listing.skipped[runs / "other"]
    assert list_runs(tmp_path / "missing").runs == []
    with pytest.raises(FileError, match="cannot read"):
        list_runs(runs / "notes.txt")

    small_run(text_folder, runs / "new")
    assert not killed.exists()
    assert making.exists()
    assert (runs / "other").exists()


def test_a_folder_that_another_process_is_making_is_left_alone(text_folder: Path, tmp_path: Path):
    making = tmp_path / ".made.2.tmp"
    making.mkdir()
    with training_lock(making):
        os.utime(making, (0, 0))
        assert list_runs(tmp_path).skipped == {}
        small_run(text_folder, tmp_path / "new")
        assert making.exists()


def test_what_has_become_of_it(run):
    folder = RunFolder.open(run.folder.path)
    assert folder.state == "killed"
    with training_lock(folder.path):
        assert folder.state == "running"
    assert folder.result() is None
    assert folder.last() is None
    assert folder.best() is None
    result = train(run.folder, run.training)
    folder.refresh()
    assert folder.state == "finished"
    assert folder.result() == result
    (folder.path / "result.json").write_text('{"status": "ok"}')
    with pytest.raises(RunError, match=r"result\.json is damaged"):
        folder.result()


def test_two_processes_cannot_train_in_one_folder(run):
    with (
        training_lock(run.folder.path),
        pytest.raises(FileError, match=r"another process \(number \d+\) is training in .*mine"),
    ):
        train(run.folder, run.training)
    assert not (run.folder.path / "last.safetensors").exists()


def test_versions_that_differ_are_said(run):
    assert run.folder.info.differences() == []
    then = run.folder.info.model_copy(update={"versions": {"torch": "1.0"}})
    (difference,) = then.differences()
    assert difference.startswith("torch was 1.0 and is ")
