"""How much memory there is, and being short of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from cellwright.base import memory
from cellwright.base.memory import NotEnoughMemoryError, memory_shortage, memory_there


@pytest.fixture
def groups(tmp_path: Path, monkeypatch):
    """Control groups with limits of one's own."""

    def make(said: str, limits: dict[str, str]) -> None:
        (tmp_path / "cgroup").write_text(said)
        monkeypatch.setattr(memory, "_GROUPS", tmp_path / "cgroup")
        monkeypatch.setattr(memory, "_CONTROL", tmp_path / "fs")
        for name, text in limits.items():
            file = tmp_path / "fs" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    return make


def test_a_container_has_less_than_its_machine(groups):
    groups("0::/a/b\n", {"a/b/memory.max": "max\n", "a/memory.max": "123456789\n"})
    assert memory_there() == 123_456_789


def test_control_groups_of_the_first_version(groups):
    groups("4:memory:/job\n1:cpu:/\n", {"memory/job/memory.limit_in_bytes": "99999999\n"})
    assert memory_there() == 99_999_999


def test_without_groups_it_is_the_machine(groups, monkeypatch):
    groups("0::/\n", {})
    there = memory_there()
    assert there is not None
    monkeypatch.setattr(memory, "_GROUPS", Path("/no/such/file"))
    assert memory_there() == there > 10**8


def test_what_torch_cannot_have_is_an_error_for_people():
    said = r"not enough memory for another 4,000,000.0 TB, and there are .* here in all"
    with pytest.raises(NotEnoughMemoryError, match=said), memory_shortage():
        torch.empty(10**18)


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="shape"), memory_shortage():
        torch.zeros(2, 3) @ torch.zeros(2, 3)
    with pytest.raises(NotEnoughMemoryError, match="not enough memory"), memory_shortage():
        raise MemoryError
