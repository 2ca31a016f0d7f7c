"""Arguments and examples that several commands about runs share."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cellwright.runs.folder import RunFolder

RUN_HELP = "A run's folder, or its name in the folder of runs."

Runs = Annotated[
    Path, typer.Option("--runs", metavar="FOLDER", help="Where runs are looked for by name.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

TRAIN = (
    "a run to look at",
    "cellwright train gru --set model.hidden=32 --set training.epochs=1 --name gru",
)
"""The first example of a command that needs a run."""

SECOND = (
    "another cell, trained in the same way",
    "cellwright train rnn --recipe runs/gru/recipe.toml --name rnn",
)
"""The example before those that compare two runs."""


def command(words: str, path: Path, behind: str = "") -> str:
    """A command about a run, as a user would type it.

    >>> command("evaluate", Path("my runs/a"), "--words")
    "cellwright evaluate 'my runs/a' --words"
    """
    return f"cellwright {words} {shlex.quote(str(path))} {behind}".rstrip()


def evaluate_command(folder: RunFolder) -> str:
    """The command that looks closer at a run's model: word by word, if it is a language model, and
    at its errors, if it tells tags or labels."""
    closer = {"language": "--words", "tagging": "--errors", "sentences": "--errors"}
    return command("evaluate", folder.path, closer.get(folder.info.recipe.task.kind, ""))
