"""Trained taggers, ready to tag any text."""

from __future__ import annotations

from pathlib import Path

from cellwright.base.progress import Progress
from cellwright.models.tagger import Tagger
from cellwright.runs.folder import RUNS
from cellwright.runs.usable import load_usable
from cellwright.tasks.tagging.task import TaggingTask
from cellwright.tasks.tagging.use import SentenceTagger


def load_tagger(
    path: Path | str, *, runs: Path = RUNS, progress: Progress | None = None
) -> SentenceTagger:
    """The tagger of a run, as `load_usable` has it.

    Raises:
        RunError: it is not a run, has no weights yet, or has learned something else.
    """
    trained = load_usable(path, "tagging", "taggers", runs=runs, progress=progress)
    assert isinstance(trained.task, TaggingTask)
    assert isinstance(trained.model, Tagger)
    return SentenceTagger(trained.task, trained.model, progress)
