"""What is read from folders is a regular file of a size that fits, or an error that says why."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from cellwright.base.errors import reason
from cellwright.base.regular_files import check_mapped, open_regular, read_named, read_regular


def why(path: Path, most: int = 100) -> str:
    with pytest.raises(OSError, match=r".") as raised:
        read_regular(path, most)
    with pytest.raises(OSError, match=r".") as mapped:
        check_mapped(path)
    assert reason(mapped.value) == reason(raised.value)
    return reason(raised.value)


def test_a_regular_file_is_read_whole_also_through_a_link(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"x" * 100)
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        assert read_regular(tmp_path / name, 100) == b"x" * 100
        with open_regular(tmp_path / name) as file:
            assert file.read(3) == b"xxx"


def test_what_is_something_else_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "nowhere").symlink_to("gone")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        assert "no such device" in why(tmp_path / "socket")
    assert why(tmp_path / "pipe") == "is a named pipe, and should be a regular file"
    assert why(tmp_path / "zero") == "is a device, and should be a regular file"
    assert why(tmp_path / "folder") == "is a directory, and should be a file"
    assert "symbolic links" in why(tmp_path / "loop")
    assert why(tmp_path / "nowhere") == "no such file or directory"


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 101)
    with pytest.raises(OSError, match="is larger than 0 MB, which no such file is"):
        read_regular(path, 100)
    os.truncate(path, 2**40)  # takes no room on the disk
    with pytest.raises(OSError, match="is larger than 67 MB"):
        read_regular(path)
    with pytest.raises(OSError, match=r"1\.1 TB, and this machine's memory"):
        check_mapped(path)


def test_a_pipe_or_a_device_that_a_user_names_is_read_as_far_as_is_sensible(tmp_path: Path):
    reader, writer = os.pipe()
    os.write(writer, b"text")
    os.close(writer)
    assert read_named(f"/dev/fd/{reader}", 100) == b"text"
    os.close(reader)
    with pytest.raises(OSError, match="is larger than"):
        read_named("/dev/zero", 100)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="is a named pipe"):
        read_named(tmp_path / "pipe", 100)
