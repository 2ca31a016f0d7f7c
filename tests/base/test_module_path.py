"""Nothing in the working directory goes before what is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cellwright.base.module_path import working_folder_last


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return os.getcwd()


@pytest.mark.parametrize("first", ["", ".", "HERE"])
def test_the_working_directory_goes_behind_everything_else(here: str, first: str):
    path = working_folder_last([first.replace("HERE", here), "/lib", "/packages"])
    assert path == ["/lib", "/packages", here]


def test_relative_places_become_absolute_and_go_behind(here: str):
    assert working_folder_last(["plugins", "/lib"]) == ["/lib", os.path.join(here, "plugins")]


def test_a_link_to_the_working_directory_is_it_too(here: str, tmp_path_factory):
    link = tmp_path_factory.mktemp("elsewhere") / "link"
    link.symlink_to(here)
    assert working_folder_last([str(link), "/lib"]) == ["/lib", str(link)]


def test_a_path_without_it_stays_as_it_is(here: str):
    assert working_folder_last(["/b", "/a"]) == ["/b", "/a"]


def test_standard_modules_are_found_first_also_by_who_stands_among_them(
    monkeypatch: pytest.MonkeyPatch,
):
    standard = os.path.dirname(os.__file__)
    monkeypatch.chdir(standard)
    assert working_folder_last([standard, "/packages"]) == [standard, "/packages"]


def test_a_working_directory_that_is_gone_has_no_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert working_folder_last(["", "plugins", "/lib"]) == ["/lib"]


def test_the_module_as_a_command_runs_nothing_that_lies_in_the_working_directory(tmp_path: Path):
    for name in ("json", "typer"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('was run')")
    command = [sys.executable, "-m", "cellwright", "cells", "list", "rnn"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "rnn" in done.stdout
