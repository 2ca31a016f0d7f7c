"""Files are whole: the old one or the new one, and nothing beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright.base.errors import FileError
from cellwright.base.files import sweep, write_whole
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
