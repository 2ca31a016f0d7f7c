"""The helps of `train`, `evaluate` and `runs` teach by examples that run, one after the other."""

from __future__ import annotations

import importlib.util
import re

import pytest

HELPS = [
    "train",
    "evaluate",
    "export",
    "compare",
    "tune",
    "grid",
    "runs",
    "runs list",
    "runs show",
    "runs plot",
]


def examples(text: str) -> list[str]:
    return [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("$ ")]


def test_the_examples_run(run, example):
    """In one folder, and each but once, since several begin with the same training."""
    import torch

    torch.set_num_threads(1)
    done: set[str] = set()
    for command in HELPS:
        lines = examples(run(*command.split(), "--help").out)
        assert len(lines) >= 3
        for line in lines:
            if line in done or (" plot " in line and not importlib.util.find_spec("matplotlib")):
                continue
            # Worker processes, which take seconds to begin, have tests of their own.
            alone = " --executor in-process" if line.split()[1] in ("compare", "tune") else ""
            example(line if "list-recipes" in line else line + alone)
            done.add(line)


@pytest.mark.parametrize("command", HELPS)
def test_the_help_fits_a_terminal(run, command: str):
    wide, narrow = (run(*command.split(), "--help", width=width).out for width in (200, 80))
    assert examples(wide) == examples(narrow)
    assert max(map(len, narrow.splitlines())) <= 80


@pytest.mark.parametrize("arguments", ["--help", "train --list-recipes", "runs list"])
def test_looking_does_not_import_torch(shell, folder, arguments: str):
    (folder / "runs").mkdir()
    outcome = shell(f"cellwright {arguments}", PYTHONPROFILEIMPORTTIME="1")
    imported = re.findall(r"\| +([\w.]+)$", outcome.err, re.MULTILINE)
    assert "cellwright.cli.train" in imported
    assert "torch" not in imported
