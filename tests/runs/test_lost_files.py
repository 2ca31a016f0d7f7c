"""A file that is gone is missed before anything goes on without it."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cellwright as cw
from cellwright.cli import app
from cellwright.compare.contenders import contender
from cellwright.compare.job import train_run
from cellwright.compare.plan import make_plan
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.lost_files import LostFileError
from cellwright.runs.run import resume
from cellwright.runs.runner import train
from cellwright.runs.trained import load_trained
from cellwright.training.results import EpochDone
from runs.support import outcome, small_recipe, small_run
from runs.test_runner import Cut


def ends_after(epochs: int):
    def watch(event: object) -> None:
        if isinstance(event, EpochDone) and event.epoch == epochs:
            raise Cut

    return watch


def cut_run(text: Path, path: Path, epochs: int) -> Path:
    """A run that was cut short after some epochs."""
    run = small_run(text, path)
    with pytest.raises(Cut):
        train(run.folder, run.training, watch=ends_after(epochs), metrics_steps=3)
    return path


@pytest.fixture(scope="module")
def cut(text_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cut_run(text_folder, tmp_path_factory.mktemp("cut") / "run", 2)


@pytest.fixture(scope="module")
def whole(text_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    run = small_run(text_folder, tmp_path_factory.mktemp("whole") / "run")
    train(run.folder, run.training, metrics_steps=3)
    return run.folder


def copied(path: Path, to: Path) -> Path:
    return Path(shutil.copytree(path, to))


def contents(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", ["last", "best"])
@pytest.mark.parametrize("how", ["removed", "dangling"])
def test_resuming_without_it_is_refused_and_touches_nothing(
    cut: Path, tmp_path: Path, name: str, how: str
):
    path = copied(cut, tmp_path / "run")
    file = path / f"{name}.safetensors"
    file.unlink()
    if how == "dangling":
        file.symlink_to("gone")
    before = contents(path)
    with pytest.raises(RunError, match=rf"{name}\.safetensors") as caught:
        resume(path)
    assert contents(path) == before
    if how == "removed":
        assert f"{file} is missing" in str(caught.value)
        assert "put it back, or train anew, to the same weights bit for bit:" in str(caught.value)


def test_the_metrics_alone_show_that_epochs_have_ended(cut: Path, tmp_path: Path):
    path = copied(cut, tmp_path / "run")
    for name in ("last", "best"):
        (path / f"{name}.safetensors").unlink()
    with (path / "metrics.jsonl").open("a") as file:
        file.write('{"kind": "step", "epoch": 3}\n')
    before = contents(path)
    with pytest.raises(LostFileError, match=r"last\.safetensors is missing, though .* 2 epochs"):
        resume(path)
    assert contents(path) == before


def test_the_command_that_is_given_makes_the_same_run(cut: Path, whole: RunFolder, tmp_path: Path):
    path = copied(cut, tmp_path / "my runs" / "run")
    (path / "last.safetensors").unlink()
    with pytest.raises(LostFileError) as caught:
        resume(path)
    program, *words = shlex.split(str(caught.value).splitlines()[-1])
    assert program == "cellwright"
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    again, before = outcome(RunFolder.open(path.with_name("run-again"))), outcome(whole)
    for each in (again, before):
        each["metrics"] = [record for record in each["metrics"] if record["kind"] == "epoch"]
    assert again == before


def test_best_weights_that_are_gone_are_called_missing(whole: RunFolder, cut: Path, tmp_path: Path):
    for name, source in (("whole", whole.path), ("cut", cut)):
        path = copied(source, tmp_path / name)
        (path / "best.safetensors").unlink()
        missing = r"best\.safetensors is missing, the weights of epoch \d; put it back, or train"
        with pytest.raises(LostFileError, match=missing):
            load_trained(path)
        (path / "last.safetensors").unlink()  # now only the metrics know
        if name == "whole":
            with pytest.raises(LostFileError, match=missing):
                _ = cw.load(path).model


def test_best_weights_of_another_run_are_refused(cut: Path, text_folder: Path, tmp_path: Path):
    other = cut_run(text_folder, tmp_path / "other", 2)
    path = copied(cut, tmp_path / "run")
    shutil.copyfile(other / "best.safetensors", path / "best.safetensors")
    with pytest.raises(RunError, match=r"best\.safetensors belongs to another run"):
        load_trained(path)
    with pytest.raises(LostFileError, match=r"best\.safetensors does not have the best weights"):
        resume(path)


# -- what kills leave is not damage --------------------------------------------------------------


def test_killed_before_its_first_epoch_ended(text_folder: Path, whole: RunFolder, tmp_path: Path):
    path = cut_run(text_folder, tmp_path / "run", 1)
    (path / "last.safetensors").unlink()
    (path / "best.safetensors").rename(path / "best.next.safetensors")
    with pytest.raises(RunError, match="no weights yet, since no epoch has ended"):
        load_trained(path)
    resume(path, metrics_steps=3)
    assert outcome(RunFolder.open(path)) == outcome(whole)


def test_killed_before_its_best_weights_took_their_place(
    cut: Path, whole: RunFolder, tmp_path: Path
):
    path = copied(cut, tmp_path / "run")
    (path / "best.safetensors").rename(path / "best.next.safetensors")
    with pytest.raises(RunError, match="killed while its best weights took their place"):
        load_trained(path)
    resume(path, metrics_steps=3)
    assert outcome(RunFolder.open(path)) == outcome(whole)


# -- inside comparisons --------------------------------------------------------------------------


def test_a_training_of_a_comparison_says_how_it_is_done_anew(
    text_folder: Path, whole: RunFolder, tmp_path: Path
):
    gru = contender(cw.zoo["gru"])
    plan = make_plan(tmp_path / "c", [gru], small_recipe(), 1, data=str(text_folder))
    path = cut_run(text_folder, plan.run_path("gru", 0), 2)
    (path / "last.safetensors").unlink()
    before = contents(path)
    with pytest.raises(LostFileError, match=f"put it back, or move {path} away: the same command"):
        train_run(str(plan.folder), "gru", 0)
    assert contents(path) == before
    path.rename(tmp_path / "away")
    assert train_run(str(plan.folder), "gru", 0) == "ok"
    again, expected = outcome(RunFolder.open(path)), outcome(whole)
    assert (again["last"], again["best"]) == (expected["last"], expected["best"])
