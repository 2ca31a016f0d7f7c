"""Running commands: in this process, or as a user's shell would."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellwright.cli import app
from runs.support import SETTINGS, write_corpus

SHORT = [word for setting in (*SETTINGS, "training.epochs=2") for word in ("--set", setting)]
"""Settings of a training that takes a moment."""


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


@pytest.fixture
def example(run, shell) -> Callable[[str], Outcome]:
    """Run a line of a help text; one that is a single command, in this process, which is faster."""

    def example(line: str) -> Outcome:
        program, *arguments = shlex.split(line)
        alone = program == "cellwright" and not any(sign in line for sign in "|<>&;$")
        outcome: Outcome = run(*arguments) if alone else shell(line)
        assert outcome.code == 0, f"{line}\n{outcome.out}{outcome.err}"
        return outcome

    return example


@pytest.fixture
def corpus(folder: Path) -> Path:
    """A corpus of a few hundred words, in the folder `text`."""
    return write_corpus(folder / "text")


@pytest.fixture
def short(run, corpus: Path) -> Iterator[Callable[..., Outcome]]:
    """Train for two short epochs."""
    import torch

    def train(cell: str, *arguments: str) -> Outcome:
        outcome: Outcome = run("train", cell, "--data", "text", *SHORT, *arguments)
        return outcome

    before = torch.get_num_threads()
    torch.set_num_threads(1)  # so little work is slower on more
    yield train
    torch.set_num_threads(before)


@pytest.fixture
def trained(short) -> Callable[..., Path]:
    """Train, and be sure that it went well; the run's folder."""

    def train(cell: str, name: str, *arguments: str) -> Path:
        outcome = short(cell, "--name", name, *arguments)
        assert outcome.code == 0, outcome.err
        return Path("runs", name)

    return train
