"""Files are whole: the old one or the new one, and nothing beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cellwright.base import files
from cellwright.base.errors import FileError
from cellwright.base.files import make_inside, sweep, write_named, write_whole
from cellwright.base.half_made import whole_folder
from cellwright.base.locks import is_held, training_lock
from runs.support import largest_file


def test_a_file_is_replaced(tmp_path: Path):
    path = tmp_path / "file"
    write_whole(path, b"old")
    write_whole(path, iter([b"n", memoryview(b"e"), bytearray(b"w")]))
    assert path.read_bytes() == b"new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_the_old_file_stays_where_the_new_one_does_not_fit(tmp_path: Path):
    path = tmp_path / "file"
    write_whole(path, b"old")
    with largest_file(100), pytest.raises(FileError, match=r"cannot write .*file: file too large"):
        write_whole(path, [b"x" * 80, b"y" * 80])
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_the_old_file_stays_where_the_writing_is_cut_short(tmp_path: Path):
    path = tmp_path / "file"
    write_whole(path, b"old")

    def parts():
        yield b"n"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, parts())
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["missing/file", "a-file/file", "folder"])
def test_where_no_file_can_be(tmp_path: Path, name: str):
    (tmp_path / "a-file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "in it").write_bytes(b"")
    with pytest.raises(FileError, match="cannot write"):
        write_whole(tmp_path / name, b"x")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a-file", "folder"]


def test_leftovers_are_swept_and_nothing_else(tmp_path: Path):
    for name in (".last.safetensors.123.tmp", ".hidden", "kept.tmp"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / ".folder.9.tmp").mkdir()
    (tmp_path / ".folder.9.tmp" / "file").write_bytes(b"")
    sweep(tmp_path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [".hidden", "kept.tmp"]


def test_one_process_at_a_time(tmp_path: Path):
    assert not is_held(tmp_path)
    with training_lock(tmp_path):
        assert is_held(tmp_path)
        with pytest.raises(FileError, match=r"another process \(number \d+\) is training in"):
            training_lock(tmp_path).__enter__()
    assert not is_held(tmp_path)
    with training_lock(tmp_path):
        pass


def test_a_lock_that_cannot_be_made(tmp_path: Path):
    with pytest.raises(FileError, match="cannot write"):
        training_lock(tmp_path / "missing").__enter__()


# -- links and what else may lie in a folder -----------------------------------------------------


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file of the user's outside the folder."""
    path = tmp_path / "precious"
    path.write_bytes(b"of the user")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    return path


def test_a_link_is_replaced_and_what_it_leads_to_stays(folder: Path, precious: Path):
    (folder / "file").symlink_to(precious)
    write_whole(folder / "file", b"new")
    assert precious.read_bytes() == b"of the user"
    assert (folder / "file").read_bytes() == b"new"
    assert not (folder / "file").is_symlink()


def test_a_temporary_name_that_was_guessed_is_not_written_through(
    folder: Path, precious: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(files, "temporary_name", lambda path: folder / ".guessed.tmp")
    (folder / ".guessed.tmp").symlink_to(precious)
    with pytest.raises(FileError, match=r"cannot write .*file: file exists"):
        write_whole(folder / "file", b"new")
    assert precious.read_bytes() == b"of the user"


def test_what_a_killed_process_of_the_same_number_left_does_not_matter(folder: Path):
    path = folder / "file"
    for name in {files.temporary_name(path).name for _ in range(9)}:
        (folder / name).write_bytes(b"left")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_name_of_any_length_and_script_can_be_written(folder: Path):
    for name in ("x" * 255, "é" * 127, "词" * 85):
        write_whole(folder / name, b"new")
        assert (folder / name).read_bytes() == b"new"


def test_a_pipe_that_a_user_names_is_written_to_and_stays(folder: Path):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_named(pipe, [b"pa", b"rts"])
    assert os.read(reader, 100) == b"parts"
    os.close(reader)
    assert pipe.is_fifo()
    write_named(folder / "file", b"whole")
    assert (folder / "file").read_bytes() == b"whole"


def test_a_folder_inside_ours_is_made_once_and_is_no_link(folder: Path, tmp_path: Path):
    make_inside(folder / "cells")
    make_inside(folder / "cells")
    (tmp_path / "elsewhere").mkdir()
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="is a link to somewhere else"):
        make_inside(folder / "link")


@pytest.mark.parametrize("linked", [True, False])
def test_a_lock_that_is_a_link_is_refused(folder: Path, precious: Path, linked: bool):
    (folder / "lock").symlink_to(precious if linked else "nowhere")
    with pytest.raises(FileError, match=r"lock: is a link to somewhere else; remove it"):  # noqa: SIM117
        with training_lock(folder):
            pass
    assert not is_held(folder)
    assert precious.read_bytes() == b"of the user"
    assert not (folder / "nowhere").exists()


def test_a_lock_that_is_a_pipe_is_refused_at_once(folder: Path):
    os.mkfifo(folder / "lock")
    assert not is_held(folder)
    with pytest.raises(FileError, match="is a named pipe"):  # noqa: SIM117
        with training_lock(folder):
            pass


def test_a_lock_that_is_another_name_of_a_file_is_held_but_not_written(
    folder: Path, precious: Path
):
    (folder / "lock").hardlink_to(precious)
    with training_lock(folder):
        assert is_held(folder)
    assert precious.read_bytes() == b"of the user"


def test_a_lock_says_who_holds_it(folder: Path):
    for _ in range(2):
        with training_lock(folder):
            assert (folder / "lock").read_text() == f"{os.getpid()}\n"


def fill(target: Path, text: str, *, replace: bool = True, fail: bool = False) -> None:
    with whole_folder(target, replace=replace) as new:
        (new / "file").write_text(text)
        if fail:
            raise KeyboardInterrupt


def test_a_folder_is_there_whole_or_not_at_all(tmp_path: Path):
    target = tmp_path / "above" / "folder"
    with pytest.raises(KeyboardInterrupt):
        fill(target, "half", fail=True)
    assert not list(tmp_path.iterdir())
    fill(target, "first")
    fill(target, "second")
    with pytest.raises(KeyboardInterrupt):
        fill(target, "half", fail=True)
    assert (target / "file").read_text() == "second"
    assert [path.name for path in target.parent.iterdir()] == ["folder"]


def test_a_folder_takes_the_place_of_an_empty_one_only_if_it_may_replace_none(tmp_path: Path):
    target = tmp_path / "folder"
    target.mkdir()
    fill(target, "first", replace=False)
    with pytest.raises(OSError, match="not empty"):
        fill(target, "second", replace=False)
    assert (target / "file").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_the_old_folder_comes_back_if_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    target = tmp_path / "folder"
    fill(target, "first")
    rename = os.rename

    def refuse(source: Path, to: Path) -> None:
        if source.name == "new":
            raise OSError(5, "Input/output error")
        rename(source, to)

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(OSError, match="Input/output"):
        fill(target, "second")
    assert (target / "file").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
