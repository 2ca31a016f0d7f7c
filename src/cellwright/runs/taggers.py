"""Trained taggers, ready to tag any text."""

from __future__ import annotations

from pathlib import Path

from cellwright.base.progress import Progress
from cellwright.models.tagger import Tagger
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RUNS, RunFolder
from cellwright.runs.trained import Trained, load_trained
from cellwright.tasks.tagging.task import TaggingTask
from cellwright.tasks.tagging.use import SentenceTagger


def load_tagger(
    path: Path | str, *, runs: Path = RUNS, progress: Progress | None = None
) -> SentenceTagger:
    """The tagger of a run with its best weights. The data that it was trained on need not be there;
    only features that are pooled remember it, if it is.

    Args:
        path: the run's folder, or its name in `runs`.
        runs: where runs are.
        progress: called while vectors are read for the first time.

    Raises:
        RunError: it is not a run, has no weights yet, or has learned something else.
    """
    folder = RunFolder.open(path, runs)
    kind = folder.info.recipe.task.kind
    if kind != "tagging":
        raise RunError(f"{folder.path} has learned the task {kind!r}, and this is for taggers")
    trained = load_trained(folder.path, alone=True, progress=progress)
    if _task(trained).pools:
        trained = load_trained(folder.path, progress=progress)
    assert isinstance(trained.model, Tagger)
    return SentenceTagger(_task(trained), trained.model, progress)


def _task(trained: Trained) -> TaggingTask:
    assert isinstance(trained.task, TaggingTask)
    return trained.task
