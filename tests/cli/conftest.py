"""Running commands: in this process, or as a user's shell would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellwright.cli import app


class Outcome:
    """What a command did."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Callable[..., Outcome]:
    """Run a command in this process; anything but an exit code is a test failure."""

    def run(*arguments: str, stdin: str | bytes = b"", width: int = 200) -> Outcome:
        result = CliRunner().invoke(
            app,
            list(arguments),
            input=stdin,
            env={"COLUMNS": str(width), "NO_COLOR": "1"},
            catch_exceptions=False,
            prog_name="cellwright",
        )
        assert "Traceback" not in result.output
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def shell(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Outcome]:
    """Run a line in bash, with `cellwright` on the path."""
    programs = tmp_path_factory.mktemp("bin")
    script = programs / "cellwright"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cellwright "$@"\n')
    script.chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    environment["COLUMNS"] = "200"

    def shell(line: str, **extra: str) -> Outcome:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=folder,
            env={**environment, **extra},
            capture_output=True,
            timeout=120,
            check=False,
        )
        err = done.stderr.decode("utf-8", "replace")
        assert "Traceback" not in err
        return Outcome(done.returncode, done.stdout.decode("utf-8", "replace"), err)

    return shell
