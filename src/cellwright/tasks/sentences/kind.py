"""The kind of task that sentences are. Needs no torch until a task is opened."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cellwright.base.progress import Progress
from cellwright.data.labelled_sets import LABELLED
from cellwright.models.sentences.settings import SentenceSettings
from cellwright.tasks.details import Details, Subject
from cellwright.tasks.registry import Kept, TaskKind
from cellwright.tasks.sentences.metrics import METRICS
from cellwright.tasks.sentences.settings import SentencesSettings

TARGET = "target.json"
"""What a run keeps of its data beside words: the labels, or the range of scores."""

LAPTOP = "sentences-laptop"
"""The recipe that needs nothing but the data."""

PAIRS = ("sick-r", "mrpc", "sts-b")
WITH_VECTORS = {
    **{name: f"glue-{name}-laptop" for name in LABELLED if not name.startswith("sick")},
    **{name: f"blm-{name}-laptop" for name in PAIRS},
}
"""Recipes with pretrained vectors, for the data that they were made for."""

if TYPE_CHECKING:
    from cellwright.data.labelled import Target
    from cellwright.tasks.sentences.task import SentencesTask


def sentences_kind() -> TaskKind:
    """For the registry."""
    return TaskKind(
        name="sentences",
        settings=SentencesSettings,
        model_settings=SentenceSettings,
        metric=METRICS["accuracy"],
        open=_open,
        names=LABELLED,
        looks=_looks,
        first=LAPTOP,
        suggest=_suggest,
        kept=Kept(_kept, _restored),
        errors=_errors,
        against=_against,
    )


def _looks(data: str) -> bool:
    from cellwright.data.labelled.files import looks_labelled

    return looks_labelled(data)


def _open(settings: SentencesSettings, progress: Progress | None) -> SentencesTask:
    from cellwright.data.labelled import load_with
    from cellwright.tasks.sentences.task import SentencesTask

    data = load_with(settings.data, settings.options, progress=progress)
    if data.mismatched is not None:
        data = dataclasses.replace(data, test=data.mismatched)
    return SentencesTask(data, settings, progress)


def _suggest(task: SentencesTask) -> str:
    """The recipe with pretrained vectors, where they are on this machine."""
    from cellwright.tasks.words.vectors_here import suggested

    return suggested(task.settings.data, WITH_VECTORS, LAPTOP)


def _kept(task: SentencesTask) -> dict[str, bytes]:
    from cellwright.tasks.words.kept import kept_words

    data = task.data
    target = {**dataclasses.asdict(data.target), "sentences": data.per_example}
    return {
        **kept_words(data.vocabulary, data.characters, task.words),
        TARGET: json.dumps(target, ensure_ascii=False).encode() + b"\n",
    }


def _restored(settings: SentencesSettings, files: Mapping[str, bytes]) -> SentencesTask:
    from cellwright.data.labelled import without_examples
    from cellwright.tasks.sentences.task import SentencesTask
    from cellwright.tasks.words.kept import check_models, restored_words

    target, sentences = _target(json.loads(files[TARGET]))
    words, characters = restored_words(files)
    name = Path(settings.data).name
    data = without_examples(name, words, characters, target, sentences, settings.options)
    task = SentencesTask(data, settings)
    check_models(task.words, files)
    return task


def _errors(subject: Subject, top: int) -> Details:
    from cellwright.tasks.sentences.looks import errors_of

    return errors_of(subject, top)


def _against(subject: Subject, other: Subject, top: int) -> Details:
    from cellwright.tasks.sentences.looks import compared

    return compared(subject, other, top)


def _target(kept: object) -> tuple[Target, int]:
    """What there is to tell, and how many sentences an example has."""
    from cellwright.data.labelled import Target

    if not isinstance(kept, dict) or kept.get("sentences") not in (1, 2):
        raise ValueError(f"{TARGET} has no number of sentences")
    labels, ends = kept.get("labels"), (kept.get("lowest"), kept.get("highest"))
    if not isinstance(labels, list) or not all(isinstance(one, str) for one in labels):
        raise ValueError(f"{TARGET} has no labels")
    lowest, highest = (one if isinstance(one, int | float) else math.nan for one in ends)
    if not labels and not -math.inf < lowest < highest < math.inf:
        raise ValueError(f"{TARGET} has neither labels nor a range of scores")
    return Target(tuple(labels), lowest, highest), kept["sentences"]
