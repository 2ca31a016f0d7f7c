"""Every help text teaches by example, and the examples run."""

from __future__ import annotations

import re

import pytest

HELPS = ["", "cells", "cells list", "cells show", "cells draw", "cells convert", "cells check"]


def examples(text: str) -> list[str]:
    return [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("$ ")]


@pytest.mark.parametrize("command", HELPS)
def test_the_examples_run(run, example, command: str):
    lines = examples(run(*command.split(), "--help").out)
    assert len(lines) >= 3
    for line in lines:
        example(line)


@pytest.mark.parametrize("command", HELPS)
def test_the_help_fits_a_terminal(run, command: str):
    wide, narrow = (run(*command.split(), "--help", width=width).out for width in (200, 80))
    assert examples(wide) == examples(narrow)
    assert max(map(len, narrow.splitlines())) <= 80


@pytest.mark.parametrize("arguments", ["--help", "cells list", "cells show gru"])
def test_cells_do_not_import_torch(shell, arguments: str):
    outcome = shell(f"cellwright {arguments}", PYTHONPROFILEIMPORTTIME="1")
    imported = re.findall(r"\| +([\w.]+)$", outcome.err, re.MULTILINE)
    assert "cellwright.cli" in imported
    assert "torch" not in imported


def test_version(run):
    assert run("--version").out.startswith("cellwright ")


@pytest.mark.parametrize(
    "command", ["studies plot", "studies export", "runs plot", "similarity", "encoders", "export"]
)
def test_a_help_names_the_extra_that_a_command_needs(run, command: str):
    """An unescaped bracket is markup, and vanishes."""
    text = " ".join(run(*command.split(), "--help").out.split())
    assert re.search(r"pip install 'cellwright\[\w+\]'", text)
