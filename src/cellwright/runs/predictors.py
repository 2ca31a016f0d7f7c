"""Trained models of sentences, ready for any sentences or pairs."""

from __future__ import annotations

from pathlib import Path

from cellwright.base.progress import Progress
from cellwright.models.sentences.sentence_model import SentenceModel
from cellwright.runs.folder import RUNS
from cellwright.runs.usable import load_usable
from cellwright.tasks.sentences.task import SentencesTask
from cellwright.tasks.sentences.use import Predictor

SENTENCES = "sentences"
"""The kind of task that they have learned."""


def load_predictor(
    path: Path | str, *, runs: Path = RUNS, progress: Progress | None = None
) -> Predictor:
    """The model of a run on sentences, as `load_usable` has it.

    Raises:
        RunError: it is not a run, has no weights yet, or has learned something else.
    """
    trained = load_usable(path, SENTENCES, "models of sentences", runs=runs, progress=progress)
    assert isinstance(trained.task, SentencesTask)
    assert isinstance(trained.model, SentenceModel)
    return Predictor(trained.task, trained.model, progress)
