"""Nothing that a run writes goes through a link out of its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright.base.errors import FileError
from cellwright.runs.folder import RunFolder
from cellwright.runs.run import resume
from cellwright.runs.runner import train
from runs.support import outcome, small_run
from runs.test_runner import Cut, cut_after


@pytest.fixture
def cut(text_folder: Path, tmp_path: Path) -> Path:
    """A run that was cut short in its second epoch."""
    run = small_run(text_folder, tmp_path / "cut")
    with pytest.raises(Cut):
        train(run.folder, run.training, watch=cut_after(16), checkpoint_steps=2)
    return run.folder.path


def test_files_that_lie_elsewhere_are_read_and_never_written(
    cut: Path, text_folder: Path, tmp_path: Path
):
    outside = tmp_path / "outside"
    outside.mkdir()
    for path in list(cut.iterdir()):
        if path.name != "lock":
            path.rename(outside / path.name)
            path.symlink_to(outside / path.name)
    (outside / "result.json").write_bytes(b"of the user")
    (cut / "result.json").symlink_to(outside / "result.json")
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    resume(cut)
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before
    whole = small_run(text_folder, tmp_path / "whole")
    train(whole.folder, whole.training)
    assert outcome(RunFolder.open(cut)) == outcome(whole.folder)


def test_a_folder_that_is_a_link_itself_is_a_run(cut: Path, tmp_path: Path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "linked").symlink_to(cut)
    assert resume("linked", runs=tmp_path / "runs").status == "ok"
    assert RunFolder.open(cut).ended


def test_a_lock_that_is_a_link_is_refused_and_nothing_is_touched(cut: Path, tmp_path: Path):
    precious = tmp_path / "precious"
    precious.write_bytes(b"of the user")
    (cut / "lock").unlink()
    (cut / "lock").symlink_to(precious)
    before = {path.name: path.read_bytes() for path in cut.iterdir()}
    with pytest.raises(FileError, match=r"lock: is a link to somewhere else"):
        resume(cut)
    assert {path.name: path.read_bytes() for path in cut.iterdir()} == before


def test_events_are_not_written_into_another_folder(cut: Path, tmp_path: Path):
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    (tmp_path / "elsewhere").mkdir()
    (cut / "tensorboard").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match=r"tensorboard: it is a link to somewhere else"):
        resume(cut, tensorboard=True)
    assert not list((tmp_path / "elsewhere").iterdir())
