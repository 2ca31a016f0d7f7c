"""Trained models of tasks on words, ready to be used on any text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cellwright.base.progress import Progress
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.trained import Trained, load_trained


def load_usable(
    path: Path | str, kind: str, called: str, *, runs: Path, progress: Progress | None = None
) -> Trained:
    """The model of a run with its best weights. The data that it was trained on need not be there;
    only features that are pooled remember it, if it is.

    Args:
        path: the run's folder, or its name in `runs`.
        kind: of the task that it should have learned; its tasks have `words` (`KnownWords`).
        called: what such models are, for the message.
        runs: where runs are.
        progress: called while vectors are read for the first time.

    Raises:
        RunError: it is not a run, has no weights yet, or has learned something else.
    """
    folder = RunFolder.open(path, runs)
    found = folder.info.recipe.task.kind
    if found != kind:
        raise RunError(f"{folder.path} has learned the task {found!r}, and this is for {called}")
    trained = load_trained(folder.path, alone=True, progress=progress)
    task: Any = trained.task
    return load_trained(folder.path, progress=progress) if task.words.pools else trained
