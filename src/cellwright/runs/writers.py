"""Trained language models, ready to write."""

from __future__ import annotations

from pathlib import Path

import torch

from cellwright.base.progress import Progress
from cellwright.models.language_model import LanguageModel
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RUNS, RunFolder
from cellwright.runs.texts import vocabulary_of
from cellwright.runs.trained import load_trained
from cellwright.tasks.language.writer import TextWriter
from cellwright.tasks.registry import is_built_in

_INSTEAD = {"tagging": "cellwright tag", "sentences": "cellwright predict"}
"""What models of other tasks are used with."""


def load_writer(
    path: Path | str, *, runs: Path = RUNS, progress: Progress | None = None
) -> TextWriter:
    """The language model of a run with its best weights; its text need not be there.

    Raises:
        RunError: it is not a run, has no weights yet, or has learned something else; or an earlier
            version made it, which did not keep its words, and the text that has them is gone.
    """
    folder = RunFolder.open(path, runs)
    kind = folder.info.recipe.task.kind
    if kind != "language" and is_built_in(kind):  # before anything is read
        raise _other(folder, kind)
    with torch.random.fork_rng(devices=()):  # first weights, which are replaced at once
        trained = load_trained(folder.path, alone=True, progress=progress)
    if not isinstance(trained.model, LanguageModel):
        raise _other(folder, kind)
    return TextWriter(trained.model, vocabulary_of(trained))


def _other(folder: RunFolder, kind: str) -> RunError:
    instead = f"; {_INSTEAD[kind]} uses this one" if kind in _INSTEAD else ""
    return RunError(
        f"{folder.path} has learned the task {kind!r}, and only language models (the task "
        f"'language') write text{instead}"
    )
